from simnet.kernel.simulator cimport Simulator
from simnet.kernel.target cimport Target


cdef class Component(Target):
    cdef readonly Simulator sim

    cdef int _register(self, object sim, str path) except -1
