from simnet.storage.block.elevator cimport Elevator
from simnet.storage.block.request cimport Bio, Request

cdef class Noop(Elevator):
    cdef public list waiting
