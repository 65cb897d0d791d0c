from libc.math cimport sqrt

cdef class Place:
    cdef readonly long long cylinder
    cdef readonly long long head
    cdef readonly long long angle_ps
    cdef int zone
    cdef long long track_sectors
    cdef long long left
    cdef long long start_ps

cdef class Surface:
    cdef readonly object model
    cdef readonly long long sectors
    cdef readonly long long rotation_ps
    cdef long long heads
    cdef long long switch_ps
    cdef long long settle_ps
    cdef readonly long long overhead_ps
    cdef long long bus_rate_bps
    cdef long long age_limit_ps
    cdef readonly long long cylinders
    cdef readonly long long write_sectors
    cdef long long head_skew_ps
    cdef long long cylinder_skew_ps
    cdef int zones
    cdef long long[::1] zone_sector
    cdef long long[::1] zone_cylinder
    cdef long long[::1] zone_track
    cdef int stripe_bits
    cdef int[::1] stripe_zone
    cdef double seek_a
    cdef double seek_b
    cdef double seek_c
    cdef int segments
    cdef long long segment_sectors
    cdef int mark_bits
    cdef long long bus_sectors
    cdef long long known_bus_ps
    cpdef long long bus_ps(self, long long sectors) except? -1
    cpdef int find(self, long long sector, Place place) except -1
    cpdef int find_next_track(self, Place place) except -1
    cpdef long long pass_ps(self, long long sectors, Place place) except? -1
    cpdef long long reach_ps(self, long long now, long long cylinder, long long head, long long settle_ps, Place place) except? -1
    cpdef long long move_ps(self, long long distance, bint switch, long long settle_ps) except? -1
    cpdef long long pass_at(self, long long now, long long angle_ps) except? -1

cdef class ReadAhead:
    cdef Surface surface
    cdef Place place
    cdef readonly bint going
    cdef readonly long long start
    cdef readonly long long sector
    cdef readonly long long time_ps
    cdef readonly long long cylinder
    cdef readonly long long head
    cdef readonly long long limit
    cdef int count
    cdef long long[::1] firsts
    cdef long long[::1] ends
    cdef unsigned short[::1] marks
    cpdef int begin(self, long long start, long long end, long long time_ps, long long cylinder, long long head) except -1
    cpdef int extend(self, long long limit, long long now) except -1
    cpdef int advance(self, long long now) except -1
    cpdef long long read_until(self, long long end) except? -1
    cdef int _step(self, long long count, long long time_ps) except -1
    cpdef int stop(self, long long now) except -1
    cdef int _keep(self, long long first, long long end) except -1
    cdef int _remove(self, int position) except -1
    cdef bint _may_overlap(self, long long sector, long long end) except -1
    cpdef bint hold(self, long long sector, long long end) except? -1
    cpdef int drop(self, long long sector, long long end) except -1
