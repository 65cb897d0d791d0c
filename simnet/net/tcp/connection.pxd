from simnet.kernel.prefetch cimport prefetch
from simnet.kernel.priority cimport CPU
from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.jiffy_timer cimport keep_timer
from simnet.net.tcp.receive.delayed_ack cimport DelayedAck
from simnet.net.tcp.receive.queue cimport ReceiveQueue
from simnet.net.tcp.receive.sequence cimport ReceiveSequence
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.link.skb cimport Endpoint, Header, Skb, SkbQueue
from simnet.net.tcp.receive.reassembly cimport Reassembly
from simnet.net.tcp.receive.receiver cimport TcpReceiver
from simnet.net.tcp.recovery.recovery cimport Recovery
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.output cimport SendOutput
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.send.sender cimport TcpSender
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.send.timer cimport SendTimer
from simnet.net.tcp.send.validation cimport WindowValidation

cdef enum:
    DELACK = 0
    RTO
    COMPRESSED
    SERVED

cdef class TcpConnection(Endpoint):
    cdef readonly TcpSender sender
    cdef readonly TcpReceiver receiver
    cdef SendSequence seq
    cdef Scoreboard board
    cdef SendTimer timer
    cdef RttEstimator rtt
    cdef Congestion congestion
    cdef Recovery recovery
    cdef WindowValidation validation
    cdef SendOutput sending
    cdef ReceiveSequence received
    cdef readonly DelayedAck delack
    cdef ReceiveWindow window
    cdef Reassembly held
    cdef ReceiveQueue queue
    cdef readonly SkbQueue staged
    cdef readonly Endpoint remote
    cdef public Header header
    cdef long long jiffy_ps
    cdef long long rto_event
    cdef long long rto_at
    cdef long long delack_event
    cdef long long delack_at
    cdef long long ts_recent
    cdef readonly long long delivered
    cdef readonly long long acks_sent
    cdef long long compressed_ps

    cdef int _start(
        self, object sim, str path, TcpSender sender, TcpReceiver receiver, long long jiffy_ps,
        int overhead_bytes
    ) except -1
    cpdef int connect(self, Endpoint remote) except -1
    cpdef int disconnect(self) except -1
    cdef int fetch_sender(self) except -1
    cdef int fetch_receiver(self) except -1
    cdef int acknowledge_with(self, Skb skb, long long jiffy) except -1
    cdef int set_delack(self, long long jiffy) except -1
    cdef int arm_rto(self, long long jiffy) except -1
    cdef int hold_back(self) except -1
