from simnet.host.cpu cimport Cpu
from simnet.net.link.skb cimport Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.send.acks cimport SendAcks

cdef class TcpSender(SendAcks):
    cpdef long long packets_out(self) except? -1
    cpdef long long wmem_queued(self) except? -1
    cpdef long long room(self) except? -1
    cpdef bint write_space(self) except? -1
    cpdef int write(self, long long count, bint end_of_send) except -1
    cpdef long long next_segment(self, long long now_jiffy) except? -1
    cpdef bint holds_back(self) except? -1
    cdef bint _defers(self, long long free, long long window, long long now_jiffy) except? -1
    cdef bint _acks_late(self) except? -1
    cpdef bint may_send_now(self) except? -1
    cpdef bint last_pushed(self) except? -1
    cpdef int sent(self, long long length, long long now_jiffy) except -1
    cpdef long long stage(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cdef int _append(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long seq,
        long long end_seq, bint push, long long now_jiffy
    ) except -1
    cdef long long _stage_again(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cdef long long _start_of(self, long long number) except? -1
    cdef int _stamp(self, long long number) except -1
    cdef long long _sent_with_sack(
        self, long long prior_nxt, bint alone, SkbQueue queue, Endpoint remote, int overhead_bytes,
        Cpu cpu, long long now_jiffy
    ) except? -1
    cdef long long _stage_loss_probe(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu, long long now_jiffy
    ) except? -1
    cpdef bint stage_probe(
        self, SkbQueue queue, Endpoint remote, int overhead_bytes, Cpu cpu
    ) except? -1
    cpdef long long acknowledge(
        self, long long ack, long long window, long long now_jiffy, list blocks=*, long long echo=*,
        bint with_data=*
    ) except? -1
    cdef int _timed(self, long long acked, long long now_jiffy, long long echo) except -1
    cpdef bint awaits_window(self, long long now_jiffy) except? -1
    cpdef long long timer_due(self, long long now_jiffy) except? -1
    cpdef bint overdue(self, long long now_jiffy) except? -1
    cpdef bint timer_expired(self, long long now_jiffy) except? -1
