"""Let an object forget what it refers to.

Components of a simulation refer to each other in rings. When all have forgotten the others, each
is freed as soon as it is dropped; Python's collector would have to walk over all of them, and over
all else that the process has, to find that nothing needs them: 130 ms for 4,500 connections.

Source: `tp_clear` of Python's type objects (Include/cpython/object.h), which is what the collector
itself calls.
"""

import cython

from simnet.kernel.compiled import native


@native
def release(item: object) -> cython.int:
    """Drop all references of an object; numbers may stay. Return 0."""
    vars(item).clear()
    return 0
