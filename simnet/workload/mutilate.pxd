from simnet.kernel.priority cimport CPU

cimport cython

from simnet.kernel.component cimport Component
from simnet.kernel.histogram cimport LogHistogram
from simnet.kernel.random cimport RandomStream, high_product
from simnet.net.tcp.endpoint cimport Application, TcpEndpoint

cdef class MutilateThread

cdef class Gaps:
    cdef RandomStream stream
    cdef readonly long long mean_ps
    cdef bint fixed
    cdef long long ratio
    cdef long long tail
    cdef long long[::1] powers
    cpdef long long draw_ps(self) except? -1

cdef class MutilateConnection(Application):
    cdef readonly MutilateThread thread
    cdef public TcpEndpoint endpoint
    cdef MutilateConnection following
    cdef readonly long long number
    cdef int state
    cdef long long due_ps
    cdef long long issued_ps
    cdef readonly long long request_bytes
    cdef readonly long long response_bytes
    cdef readonly long long asked
    cdef long long unread

cdef class Requests:
    cdef RandomStream stream
    cdef long long update_permille
    cdef long long[::1] keys
    cdef long long[::1] values
    cdef readonly long long offered
    cdef readonly long long delivered
    cdef readonly long long delivered_bytes
    cdef readonly LogHistogram latency
    cpdef int draw(self, MutilateConnection connection) except -1

cdef class MutilateThread(Component):
    cdef readonly Requests requests
    cdef Gaps gaps
    cdef long long wake_ps
    cdef long long read_ps
    cdef long long write_ps
    cdef readonly list connections
    cdef MutilateConnection first
    cdef MutilateConnection last
    cdef MutilateConnection current
    cpdef int start(self, MutilateConnection connection, long long time_ps) except -1
    cdef int _await(self, MutilateConnection connection) except -1
    cdef int wake(self, MutilateConnection connection) except -1
    cdef int add(self, MutilateConnection connection) except -1
    cdef int _serve_next(self) except -1
    cdef int _issue(self, MutilateConnection connection) except -1
    cdef int _has_read(self, MutilateConnection connection) except -1
    cpdef void on_event(self, int kind, long long arg) except *
