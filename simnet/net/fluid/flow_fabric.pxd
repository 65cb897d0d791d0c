from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport NIC, WIRE
from simnet.kernel.sentinel cimport NEVER
from simnet.net.fluid.flow cimport FinishTimes, Flow, FlowLink, Message
from simnet.net.fluid.flow_group cimport FlowGroup

cdef class FlowFabric(Component):
    cdef readonly list groups
    cdef readonly list flows
    cdef FinishTimes finish
    cdef bint dirty
    cdef long long small_bytes
    cdef bint pause
    cdef long long xoff_bytes
    cdef long long event
    cdef long long event_ps
    cdef readonly long long shares
    cpdef int send(self, Flow flow, Message message) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef int _hand_over(self, Flow flow) except -1
    cpdef int taken(self, Flow flow) except -1
    cdef int _reopen(self, Flow flow) except -1
    cdef int _wait(self, Flow flow) except -1
    cdef int _resume(self, Flow flow) except -1
    cdef int _finish(self) except -1
    cdef int _through(self, Flow flow, Message message) except -1
    cdef int _join(self, Flow flow) except -1
    cdef int _leave(self, Flow flow) except -1
    cdef int _switch(self, Flow flow) except -1
    cdef int _reallocate(self) except -1
