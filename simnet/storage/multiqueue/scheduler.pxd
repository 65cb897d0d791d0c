from simnet.storage.block.elevator cimport Elevator
from simnet.storage.multiqueue.request cimport MqRequest

cdef class MqScheduler(Elevator):
    cdef public object mq
    cpdef int insert(self, MqRequest request) except -1
    cpdef MqRequest next_request(self, object hardware)
    cpdef bint has_work(self, object hardware) except -1
    cpdef int done(self, MqRequest request) except -1
