"""Python's objects in huge pages, in processes that do nothing but simulate.

Ten thousand connections are 110 MB of small objects, of which each packet touches some at random.
With pages of 4 KiB the CPU looks up the address of nearly each (TLB miss), and the kernel has to
clear 28,000 pages for every system that is built. With pages of 2 MiB it is 60, and about a tenth
of the time is saved. The kernel gives them where `/sys/kernel/mm/transparent_hugepage/enabled` is
`madvise` or `always`, and small ones otherwise.

What Python takes from the system are arenas, of 1 MiB each, which it divides itself. Here they are
cut from chunks of 32 MiB, and an arena that is free again is kept for the next system; of more
than 256 MiB the memory is given back.

Source: CPython, `PyObject_SetArenaAllocator`; Linux, Documentation/admin-guide/mm/transhuge.rst.
"""

import cython

from simnet.kernel.compiled import native


@native
def install() -> cython.bint:
    """Nothing: there is no way to it from Python."""
    return False


def use_huge_pages() -> bool:
    """Take memory for objects that way from now on; whether it is done here."""
    return bool(install())
