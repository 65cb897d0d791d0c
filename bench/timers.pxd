cimport cython

from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport NIC


@cython.final
cdef class Ticker(Component):
    cdef readonly long long period_ps


@cython.final
cdef class Holder(Component):
    cdef unsigned long long state


@cython.final
cdef class Restarter(Component):
    cdef long long timer
