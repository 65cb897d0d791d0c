cdef class DynamicQueueLimits:
    cdef readonly long long min_limit
    cdef readonly long long max_limit
    cdef long long hold_jiffies
    cdef readonly long long limit
    cdef long long adj_limit
    cdef readonly long long num_queued
    cdef readonly long long num_completed
    cdef long long last_obj_cnt
    cdef long long prev_num_queued
    cdef long long prev_last_obj_cnt
    cdef long long prev_ovlimit
    cdef long long lowest_slack
    cdef long long slack_start_jiffy
    cpdef long long avail(self) except? -1
    cpdef int queued(self, long long count) except -1
    cpdef int completed(self, long long count, long long now_jiffy) except -1
    cdef long long _less_slack(
        self, long long limit, long long count, long long now_jiffy
    ) except? -1
    cdef int _restart(self, long long now_jiffy) except -1
