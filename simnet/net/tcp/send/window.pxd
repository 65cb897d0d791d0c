from simnet.net.tcp.send.timer cimport SendTimer

cdef class SendWindow(SendTimer):
    cdef bint _limited(self, long long flight) except? -1
    cdef int _note_limit(self, long long prior_nxt) except -1
    cdef int _application_limited(self, long long now_jiffy) except -1
    cdef int _restart(self, long long now_jiffy) except -1
