cpdef enum:
    PROCESS_LEVEL = 0
    SOFT_LEVEL = 1
    HARD_LEVEL = 2

cpdef enum:
    IDLE = 0
    USER = 1
    SYSTEM = 2
    SOFTIRQ = 3
    IRQ = 4
    STEAL = 5
