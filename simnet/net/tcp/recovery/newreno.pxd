from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.recovery.recovery cimport CWR, LOSS, OPEN, RECOVERY
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.recovery.states cimport States

cdef class NewReno(States):
    cdef long long newly_lost

    cpdef bint alert(self, bint duplicate, long long acked) except? -1
    cdef int _change_state(self, bint duplicate) except -1
    cdef bint _leave(self) except? -1
    cdef int _count_duplicate(self, bint duplicate) except -1
    cdef int _eat_duplicates(self, long long acked) except -1
    cdef bint _time_to_recover(self) except? -1
    cdef int _mark_lost(self) except -1
    cdef bint _prevents_reopening(self) except? -1
    cdef bint _undo_recovery(self) except? -1
    cdef bint _undo_partial(self) except? -1
    cdef int _process_loss(self, bint duplicate) except -1
