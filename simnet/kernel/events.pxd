from simnet.kernel.simulator cimport LATEST_PS, OBJECT, OCCURRENCE, Simulator
from simnet.kernel.target cimport CallbackEvent


cdef class EnvironmentCore:
    cdef readonly Simulator sim
    cdef readonly long long unit_ps
    cdef public object _active_proc
    cdef readonly dict _alive
    cdef readonly long long _scheduled
    cdef readonly list _unfinished

    cdef int post(self, object event, int priority, long long delay_ps) except -1
    cdef long long delay_ps(self, object delay) except? 0
    cpdef int dispatch(self, long long most) except -1


cdef class EventCore(CallbackEvent):
    cdef public EnvironmentCore env
    cdef public object _value
    cdef public bint _ok
    cdef public bint _defused
    cdef bint _processed
    cdef list _callbacks
    cdef EventCore _waiter

    cdef int prepare(self, EnvironmentCore env, object value, bint ok) except -1
    cdef int forget(self, EventCore process) except -1
    cdef int resume(self, object event) except -1
    cdef int crash(self) except -1


cdef class TimeoutCore(EventCore):
    cdef public object _delay
