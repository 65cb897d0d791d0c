from simnet.host.accounting cimport SOFT_LEVEL
from simnet.host.buffers cimport Buffers
from simnet.host.costs cimport Costs, Spread
from simnet.host.cpu cimport Cpu
from simnet.host.interrupt cimport IrqLine
from simnet.host.ledger cimport Ledger
from simnet.host.softirq.softirq cimport SoftirqNetRx
from simnet.host.softirq.verdict cimport POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.priority cimport NIC
from simnet.kernel.sentinel cimport NEVER
from simnet.net.link.ethernet cimport UNCOUNTED_BYTES
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue
from simnet.net.nic.device_access cimport DeviceAccess
from simnet.net.nic.transmit_ring cimport TransmitRing
from simnet.net.qdisc.egress cimport Egress
from simnet.net.steering.steering cimport Steering
from simnet.net.link.wire cimport Path, Port

cdef class Nic(Port):
    cdef readonly object name
    cdef public IrqLine line
    cdef Costs costs
    cdef Ledger ledger
    cdef readonly DeviceAccess access
    cdef DeviceAccess sending
    cdef public Path path_out
    cdef SkbQueue ring
    cdef readonly SkbQueue qdisc
    cdef int qdisc_limit
    cdef int posted
    cdef int buffer_node
    cdef long long arrived
    cdef long long consumed
    cdef long long announced
    cdef readonly TransmitRing tx
    cdef Buffers buffers
    cdef bint unmasked
    cdef bint asserted
    cdef long long timer
    cdef long long armed_ps
    cdef bint armed_by_count
    cdef bint finishing
    cdef int batch
    cdef int limit
    cdef int done
    cdef int returned
    cdef long long debt_ps
    cdef long long near_frame_ps
    cdef public bint per_frame
    cdef public Steering steering
    cdef public Egress egress
    cdef public object capture
    cdef public Skb followed
    cdef public Spread spread
    cdef readonly long long drops
    cdef readonly long long rx_packets
    cdef readonly long long rx_bytes
    cdef public long long qdisc_drops

    cpdef int advance(self, long long now) except -1
    cpdef long long next_update(self) except? -1
    cpdef int acknowledge(self, long long now) except -1
    cpdef int unmask(self, long long now) except -1
    cpdef bint has_work(self) except? -1
    cpdef int arm(self) except -1
    cpdef int raise_line(self) except -1
    cdef bint _landed(self, Skb skb, long long counted_bytes) except? -1
    cdef int _place_event(self, long long when) except -1
    cdef int _to_stack(self, Skb skb, Cpu cpu) except -1
    cdef int _hand_back(self, Cpu cpu) except? -1
    cdef int _send_waiting(self) except -1
    cdef int _read_status(self, Cpu cpu, long long work_ps) except -1
    cdef Cpu _asserted_to(self)
    cdef int _send_message(self) except -1
    cdef Skb _taken(self, Cpu cpu)
    cdef long long _closing_ps(self) except? -1
    cdef int _next_frames(self, Cpu cpu, SoftirqNetRx softirq) except? -1
    cdef int _send_now(self, Skb skb) except -1
    cdef int _packet_begins(self) except -1
    cdef int _reclaim(self, Cpu cpu) except -1
    cpdef void step(self, Cpu cpu) except *
    cpdef void on_event(self, int kind, long long arg) except *
