"""What a CPU is doing: at which level, and what the kernel's accounting calls it.

A context of a higher level interrupts one of a lower.
"""

import cython

PROCESS_LEVEL: cython.int = 0
SOFT_LEVEL: cython.int = 1
HARD_LEVEL: cython.int = 2

IDLE: cython.int = 0
USER: cython.int = 1
SYSTEM: cython.int = 2
SOFTIRQ: cython.int = 3
IRQ: cython.int = 4
STEAL: cython.int = 5
