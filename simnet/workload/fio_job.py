"""The words of a fio job: how I/O is submitted, and in which order.

Source: fio 3.36, HOWTO (`ioengine`, `rw`).
"""

#: values of ioengine
ENGINES = ("sync", "libaio", "io_uring")
#: values of rw: whether places are random, and whether there are reads and writes
PATTERNS = {
    "read": (False, True, False),
    "write": (False, False, True),
    "randread": (True, True, False),
    "randwrite": (True, False, True),
    "rw": (False, True, True),
    "randrw": (True, True, True),
}
