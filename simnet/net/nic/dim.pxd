cdef class Dim:
    cdef readonly int state
    cdef readonly int tune_state
    cdef readonly int profile_ix
    cdef long long stale_ps
    cdef int steps_right
    cdef int steps_left
    cdef int tired
    cdef long long prev_bpms
    cdef long long prev_ppms
    cdef long long prev_epms
    cdef long long start_ps
    cdef long long start_events
    cdef long long start_packets
    cdef long long start_bytes
    cpdef bint sample(self, long long now, long long events, long long packets, long long size) except -1
    cpdef int applied(self) except -1
    cdef bint _decide(self, long long bpms, long long ppms, long long epms) except -1
    cdef int _compared(self, long long bpms, long long ppms, long long epms) except -1
    cdef int _exit_parking(self) except -1
    cdef int _turn(self) except -1
    cdef bint _on_top(self) except -1
    cdef int _park(self, int where) except -1
    cdef int _step(self) except -1
