cpdef long long jhash2_3words(long long a, long long b, long long c, long long seed) except? -1
cpdef long long jhash3_3words(long long a, long long b, long long c, long long seed) except? -1
cdef long long _rotated(long long word, int places) except? -1
cdef long long _swapped(long long word) except? -1
cpdef long long connection_hash(
    long long source_ip, long long destination_ip, long long source_port,
    long long destination_port, long long seed, bint symmetric, bint lookup3
) except? -1
