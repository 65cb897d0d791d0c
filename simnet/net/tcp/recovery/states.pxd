cimport cython

from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.ecn cimport Ecn
from simnet.net.tcp.recovery.recovery cimport CWR, DISORDER, OPEN, RECOVERY, Recovery

# declared here, too, or the classes upon it are tracked after all
@cython.no_gc
cdef class States(Recovery):
    cdef public Ecn ecn

    cdef bint _any_retransmitted(self) except? -1
    cdef int _forget_retransmissions(self) except -1
    cdef int _mark_undo(self) except -1
    cdef bint _delayed(self) except? -1
    cdef int _begin_reduction(self) except -1
    cdef int _enter_recovery(self) except -1
    cdef int _enter_cwr(self) except -1
    cdef int _end_reduction(self) except -1
    cdef int _reduce(self, long long delivered, long long lost) except -1
    cdef int _try_to_open(self) except -1
    cdef int _keep_open(self) except -1
    cdef int _undo_window(self, bint unmark) except -1
