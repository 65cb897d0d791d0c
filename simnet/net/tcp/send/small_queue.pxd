from simnet.net.tcp.rules.sender_version cimport SenderRules

cdef class SmallQueue:
    cdef readonly long long overhead_bytes
    cdef long long limit_output_bytes
    cdef readonly long long tso_rtt_log
    cdef readonly long long min_tso_segs
    cdef bint autocorking
    cdef readonly long long pacing_ss_ratio
    cdef readonly long long pacing_ca_ratio
    cdef long long single_passes
    cdef public long long wmem_alloc
    cdef public long long staged
    cdef public bint throttled
    cdef public bint pushing
    cdef readonly long long pacing
    cdef readonly long long rate
    cdef public bint paces
    cdef readonly long long depart_ps
    cdef long long wstamp_ps
    cdef long long credit_ps
    cdef long long large_bytes
    cdef readonly long long corked

    cpdef long long truesize(self, long long length, long long mss) except? -1
    cpdef int update_pacing(
        self, long long mss, long long segments, long long srtt, bint starting
    ) except -1
    cpdef long long departs(
        self, long long length, long long now_ps, bint begins, long long segments
    ) except? -1
    cpdef long long goal_bytes(self, long long mss, long long least_rtt_us) except? -1
    cpdef bint throttles(self, long long truesize, long long outstanding) except? -1
    cpdef bint corks(self, long long truesize) except? -1
