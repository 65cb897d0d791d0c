cpdef enum:
    UNCOUNTED_BYTES = 24
