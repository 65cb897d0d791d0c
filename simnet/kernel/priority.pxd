cpdef enum:
    WIRE = 0
    NIC = 1
    CPU = 2
    LAST = 3
