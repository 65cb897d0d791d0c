cdef enum:
    NONE = -1

cdef extern from *:
    """
    #define SIMNET_NEVER (1LL << 62)
    """
    const long long NEVER "SIMNET_NEVER"
