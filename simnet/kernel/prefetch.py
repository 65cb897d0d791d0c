"""Ask for an object's cache lines before they are needed.

One of ten thousand connections has been out of the cache for long when its next packet comes. What
it consists of is reached pointer by pointer, each of which would have to be waited for; asked for
together, they come together. There is nothing to ask for
where objects are Python's own.
"""

from typing import Any

import cython

from simnet.kernel.compiled import Address, native


@native
def prefetch(item: Address, size_bytes: cython.int) -> None:
    """Ask for the cache lines of an object."""


@native
def prefetch_item(items: list[Any], index: cython.Py_ssize_t, size_bytes: cython.int) -> None:
    """Ask for those of an object in a list, whose reference count is not needed for it."""
