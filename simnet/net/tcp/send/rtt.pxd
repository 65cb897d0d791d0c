from simnet.kernel.sentinel cimport NONE
cdef class RttEstimator:
    cdef readonly long long srtt
    cdef long long mdev
    cdef long long mdev_max
    cdef long long rttvar
    cdef long long rtt_seq
    cdef readonly long long rto_min
    cdef readonly long long rto_max
    cdef readonly long long jiffy
    cdef readonly bint fine
    cdef readonly long long least_us
    cdef long long least_at_us
    cdef long long second_us
    cdef long long second_at_us
    cdef long long third_us
    cdef long long third_at_us

    cdef int init(
        self, long long jiffy_ps, long long rto_min_ps, long long rto_max_ps, bint fine
    ) except -1
    cpdef long long jiffies(self, long long time) except? -1
    cpdef long long of_echo(self, long long echo_ms, long long now_us) except? -1
    cpdef long long sample(self, long long rtt, long long snd_una, long long snd_nxt) except? -1
    cpdef int bound(self, long long rtt_us, long long now_us) except -1
    cdef int _restart(self, long long rtt_us, long long now_us) except -1
    cdef int _age(self, long long rtt_us, long long now_us) except -1
    cdef int _step(self, long long rtt_us, long long now_us) except -1
