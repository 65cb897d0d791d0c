"""What a CPU is doing: at which level, and what the kernel's accounting calls it.

A context of a higher level interrupts one of a lower. Compiled modules take the names from
`accounting.pxd`.
"""

import cython

if not cython.compiled:
    PROCESS_LEVEL = 0
    SOFT_LEVEL = 1
    HARD_LEVEL = 2

    IDLE = 0
    USER = 1
    SYSTEM = 2
    SOFTIRQ = 3
    IRQ = 4
    STEAL = 5
