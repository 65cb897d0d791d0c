from simnet.host.cpu cimport Cpu
from simnet.kernel.prefetch cimport prefetch
from simnet.net.congestion cimport Congestion
from simnet.net.jiffy_timer cimport JiffyTimer
from simnet.net.receive_queue cimport ReceiveQueue
from simnet.net.receive_window cimport ReceiveWindow
from simnet.net.skb cimport Endpoint, Header, Skb, SkbQueue, Uplink, new_skb
from simnet.net.tcp_reassembly cimport Reassembly
from simnet.net.tcp_receiver cimport TcpReceiver
from simnet.net.tcp_recovery cimport Recovery
from simnet.net.tcp_scoreboard cimport Scoreboard
from simnet.net.tcp_sender cimport TcpSender

cdef class TcpEndpoint

cdef class Application:
    cpdef int readable(self, TcpEndpoint socket) except -1
    cpdef int writable(self, TcpEndpoint socket) except -1

cdef class BulkSource(Application):
    cdef readonly long long total_bytes
    cdef readonly long long written

cdef class Sink(Application):
    pass

cdef class TcpEndpoint(Endpoint):
    cdef readonly TcpSender sender
    cdef readonly TcpReceiver receiver
    cdef Scoreboard board
    cdef Congestion congestion
    cdef Recovery recovery
    cdef ReceiveWindow window
    cdef Reassembly held
    cdef ReceiveQueue queue
    cdef JiffyTimer rto
    cdef JiffyTimer delack
    cdef SkbQueue staged
    cdef readonly Application application
    cdef public Endpoint peer
    cdef public Header header
    cdef readonly Uplink path_out
    cdef long long jiffy_ps
    cdef int overhead_bytes
    cdef long long service_ps
    cdef long long free_ps
    cdef SkbQueue waiting
    cdef bint full
    cdef long long compressed_ps
    cdef long long ts_recent
    cdef readonly long long acks_sent
    cdef readonly long long delayed_acks
    cdef readonly long long segments_received
    cdef readonly long long delivered

    cdef int expect(self, int kind) except -1
    cdef int fetch_to_send(self) except -1
    cdef int _fetch_sender(self) except -1
    cdef int _fetch_receiver(self) except -1
    cpdef long long write(self, long long count) except? -1
    cpdef long long read(self, long long count) except? -1
    cdef int _process(self, Skb skb) except -1
    cdef int _hold_back(self) except -1
    cdef int _output(self) except -1
    cdef int _transmit(self, long long jiffy) except -1
    cdef int _acknowledge_with(self, Skb skb, long long jiffy) except -1
    cdef int _send_ack(self) except -1
    cdef int _delack_timer(self, long long jiffy) except -1
    cpdef void on_event(self, int kind, long long arg) except *
