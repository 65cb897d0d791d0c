from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport CPU
from simnet.kernel.target cimport Target
from simnet.net.link.skb cimport Skb, SkbQueue

cdef class MessageNumbers:
    cdef readonly long long count
    cpdef int number(self, Skb skb) except -1

cdef class ReorderWindow(Component):
    cdef readonly long long window
    cdef readonly bint drain_after_slide
    cdef readonly long long flush_timeout_ps
    cdef Target owner
    cdef int kind
    cdef readonly SkbQueue ready
    cdef readonly long long held
    cdef readonly long long in_order
    cdef readonly long long late
    cdef readonly long long arrived
    cdef readonly long long buffered
    cdef readonly long long waited_ps
    cdef readonly long long slid_over
    cdef readonly long long flushed
    cdef readonly long long duplicates
    cdef readonly long long out_of_order_before
    cdef readonly long long out_of_order_after
    cdef readonly long long left
    cdef long long expected_before
    cdef long long expected_after
    cdef list slots
    cdef long long[::1] since_ps
    cdef long long mask
    cdef long long timer
    cdef long long deadline_ps
    cpdef int arrive(self, Skb skb) except -1
    cpdef int flush(self) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _watch(self, bint moved) except -1
    cdef int _deliver(self, Skb skb, long long position) except -1
    cdef int _buffer(self, Skb skb, long long position) except -1
    cdef bint _take_left(self) except? -1
    cdef int _drain(self) except -1
    cdef int _skip(self) except -1
    cdef int _slide(self, long long left) except -1
