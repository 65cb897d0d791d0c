from simnet.host.accounting cimport SOFTIRQ, SOFT_LEVEL
from simnet.host.cpu cimport Cpu, Occupation
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.priority cimport NIC
from simnet.kernel.random cimport RandomStream
from simnet.kernel.sentinel cimport NEVER
from simnet.net.nic.port cimport Nic
from simnet.net.infiniband.reorder_window cimport MessageNumbers, ReorderWindow
from simnet.net.link.skb cimport Endpoint, Skb

cdef class Ipoib(Nic):
    cdef readonly bint connected
    cdef int ib_mtu
    cdef long long rx_usecs_ps
    cdef int rx_frames
    cdef int page_bytes
    cdef long long jiffy_ps
    cdef long long loss_ppm
    cdef RandomStream luck
    cdef readonly long long lost
    cdef readonly bint stopped
    cdef long long drain_timer
    cdef int completions
    cdef long long deadline_ps
    cdef int pending
    cdef bint leaving
    cdef public MessageNumbers numbers
    cdef public ReorderWindow window
    cdef Occupation drain
    cdef readonly long long rearms
    cdef readonly long long missed_events

    cdef long long _next_sent_ps(self) except? -1
    cdef int _receive(self, Skb skb) except -1
    cdef int _completed(self, long long at) except -1
    cdef int _next_completion(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef long long _deliver(self, Skb skb, Cpu cpu) except? -1
    cdef long long _deliver_ready(self, Cpu cpu) except? -1
    cdef int _finish(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef long long _taken_debt(self) except? -1
    cdef int _completed_count(self, int asked) except? -1
    cdef bint _sent_first(self) except? -1
    cdef long long _packet_ps(self, Cpu cpu, Skb skb) except? -1
    cdef int _overhead_bytes(self, int length) except? -1
    cdef int _ip_bytes(self, int wire_bytes) except? -1
    cdef int _send_now(self, Skb skb) except -1
    cdef int _await_send(self) except -1
    cdef long long _poll_tx(self, Cpu cpu) except? -1
    cdef int _reclaim_one(self, Cpu cpu) except -1
    cpdef void on_event(self, int kind, long long arg) except *
