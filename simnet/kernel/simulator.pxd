cimport cython
from simnet.kernel.queue cimport (
    ARG, KIND, MOST_SLOTS, PRIORITIES, PRIORITY_BITS, TARGET, WORDS, EventQueue
)
from simnet.kernel.prefetch cimport prefetch, prefetch_item
from simnet.kernel.target cimport CallbackEvent, Target


cdef enum:
    OBJECT = 0
    OCCURRENCE = -1


cdef extern from *:
    """
    #define SIMNET_LATEST_PS ((1LL << 62) - 1)
    #define SIMNET_NO_LIMIT ((long long) ((1ULL << 63) - 1))
    """
    const long long LATEST_PS "SIMNET_LATEST_PS"
    const long long NO_LIMIT "SIMNET_NO_LIMIT"


@cython.final
cdef class Simulator:
    cdef readonly long long now
    cdef readonly long long events
    cdef public object tracer
    cdef public object fire_python_event
    cdef EventQueue _queue
    cdef list _targets
    cdef list _objects
    cdef dict _numbers
    cdef bint _running
    cdef bint _stopped
    cdef long long _current

    cpdef int register(self, Target target, str path) except -1
    cpdef long long at(
        self, long long time_ps, Target target, int kind, long long arg, int priority
    ) except 0
    cpdef long long after(
        self, long long delay_ps, Target target, int kind, long long arg, int priority
    ) except 0
    cpdef bint cancel(self, long long handle) except -1
    cpdef int dispatch(self, long long limit_ps, long long most) except -1
    cdef int _loop(self, long long limit_ps, long long most) except -1
    cdef int _look_ahead(self) except -1
    cdef long long post(
        self, long long time_ps, object item, long long number, int priority
    ) except 0
