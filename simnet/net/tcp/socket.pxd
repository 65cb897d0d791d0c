from simnet.host.costs cimport Costs, Spread
from simnet.host.cpu cimport Cpu, Occupation
from simnet.host.ledger cimport Ledger
from simnet.host.buffers cimport Buffers
from simnet.host.memory cimport Memory, SharedLines
from simnet.host.scheduler cimport Task
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.prefetch cimport prefetch
from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.epoll cimport EpollItem
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue, new_skb
from simnet.net.steering.steering cimport SocketFlowTable
from simnet.net.tcp.connection cimport COMPRESSED, RTO, TcpConnection
from simnet.net.tcp.receive.coalescing cimport joins
from simnet.net.tcp.receive.costs cimport ReceiveCosts
from simnet.net.tcp.receive.receiver cimport TcpReceiver
from simnet.net.tcp.receive.ucopy cimport Ucopy
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.tcp.send.costs cimport SendCosts
from simnet.net.tcp.send.sender cimport TcpSender
from simnet.net.tcp.send.small_queue cimport SmallQueue
from simnet.net.tcp.socket_settings cimport SocketSettings
from simnet.net.tcp.tsq cimport TsqTasklet
from simnet.net.tcp.wakeups cimport Wakeups
from simnet.net.link.wire cimport Port

# 512 bytes with what the collector needs: Python's own allocator takes no larger object
cdef class TcpSocket(TcpConnection):
    cdef readonly Port nic
    cdef readonly SharedLines lines
    cdef readonly SkbQueue backlog
    cdef readonly Ucopy ucopy
    cdef public EpollItem poll
    cdef public object follower
    cdef readonly ReceiveCosts rx_costs
    cdef readonly SendCosts tx_costs
    cdef Spread spread
    cdef Wakeups wakeups
    cdef public bint owned
    cdef bint deferred
    cdef public bint writer_waiting
    cdef bint coalesces
    cdef Costs costs
    cdef Ledger ledger
    cdef bint low_latency
    cdef bint tsq_deferred
    cdef public SocketFlowTable flows
    cdef readonly long long rxhash
    cdef SmallQueue small_queue
    cdef TsqTasklet tasklet
    cdef Cpu timer_cpu
    cdef readonly LogHistogram latency
    cdef readonly long long softirq_processed
    cdef public Task reader
    cdef public Task writer
    cdef public bint reader_waiting
    cdef Occupation timer_work
    cdef readonly long long backlogged

    cdef int init(
        self, SocketSettings settings, str path, TcpSender sender, TcpReceiver receiver,
        Cpu timer_cpu, Spread spread
    ) except -1
    cpdef int leave_by(self, Port nic) except -1
    cdef int expect(self, int kind) except -1
    cdef int fetch_to_send(self) except -1
    cdef int _fetch_socket(self) except -1
    cdef int _fetch_answer(self) except -1
    cdef int _save_rxhash(self, Skb skb) except -1
    cpdef long long process_cost_ps(self, Skb skb, Cpu cpu, bint copying) except? -1
    cpdef long long process(self, Skb skb, Cpu cpu, bint direct) except? -1
    cdef long long _acknowledged(self, Skb skb, Cpu cpu) except? -1
    cpdef long long queued_copy_cost_ps(self, Cpu cpu, long long length) except? -1
    cpdef long long read_queue(self, long long count) except? -1
    cpdef long long after_copy(self, Cpu cpu, long long copied) except? -1
    cpdef bint can_copy_directly(self, Skb skb) except? -1
    cpdef long long send_ack(self, Cpu cpu) except? -1
    cpdef long long output(self, Cpu cpu) except? -1
    cpdef long long push(self, Cpu cpu) except? -1
    cpdef long long lock(self, Cpu cpu) except? -1
    cpdef long long unlock(self, Cpu cpu) except? -1
    cdef long long _drain_prequeue(self, Cpu cpu) except? -1
    cdef int _timer_works(self, long long work_ps) except -1
    cdef int _retransmission_timer(self) except -1
    cdef int _compressed_timer(self) except -1
    cdef int _delack_timer(self) except -1
    cpdef long long stage(self, Cpu cpu) except? -1
    cpdef int send_staged(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
