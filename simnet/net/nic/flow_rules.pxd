from simnet.net.link.skb cimport Header

cpdef object flow_of(Header header)

cdef class FlowRules:
    cdef readonly tuple rules
    cdef dict asked
    cdef readonly dict steered
    cdef readonly long long frames
    cdef public long long added
    cdef public long long updated
    cdef public long long expired
    cpdef int queue(self, Header header) except? -2
    cdef int take(self, Header header) except? -2
    cdef int _ruled(self, object flow, Header header) except? -2
