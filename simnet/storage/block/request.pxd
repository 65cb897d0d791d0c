cdef class IoContext:
    cdef public str name
    cdef public str ioprio_class
    cdef public long long ioprio
    cdef public long long nice
    cdef public bint running
    cdef public long long nr_batch_requests
    cdef public long long last_waited
    cdef public dict elevator_data

cdef class Bio:
    cdef public long long sector
    cdef public long long sectors
    cdef public bint write
    cdef public IoContext context
    cdef public object done
    cdef public bint sync
    cdef public long long segments
    cdef public object tag

cdef class Request:
    cdef public long long sector
    cdef public long long sectors
    cdef public bint write
    cdef public int rw
    cdef public bint sync
    cdef public list bios
    cdef public long long segments
    cdef public long long start_jiffy
    cdef public long long start_ps
    cdef public bint started
    cdef public bint no_merge
    cdef public bint barrier
    cdef public IoContext context
    cdef public bint elvpriv
    cdef public bint sorted
    cdef public long long expires
    cdef public long long key
    cdef public bint is_sync
    cdef public object queue
    cpdef long long end(self)
    cpdef bint mergeable(self)
    cpdef bint takes(self, Bio bio)
