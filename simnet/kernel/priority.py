"""Priorities: which of the events of one instant comes first.

What arrives is seen before the device reacts to it, and that before a CPU does. SimPy's URGENT
and NORMAL events are WIRE and NIC. Compiled modules take the constants from `priority.pxd`.
"""

import cython

if not cython.compiled:
    WIRE = 0
    NIC = 1
    CPU = 2
    LAST = 3
