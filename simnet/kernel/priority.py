"""Priorities: which of the events of one instant comes first.

What arrives is seen before the device reacts to it, and that before a CPU does. SimPy's URGENT
and NORMAL events are WIRE and NIC.
"""

import cython

WIRE: cython.int = 0
NIC: cython.int = 1
CPU: cython.int = 2
LAST: cython.int = 3
