"""Ask for an object's cache lines before they are needed.

One of ten thousand connections has been out of the cache for long when its next packet comes. What
it consists of is reached pointer by pointer, each of which would have to be waited for; asked for
together, they come together. Compiled modules take the function from `prefetch.pxd`; there is
nothing to ask for where objects are Python's own.
"""

from collections.abc import Sequence

import cython

if not cython.compiled:

    def prefetch(_item: object, _size_bytes: int) -> None:
        """Ask for the cache lines of an object."""

    def prefetch_item(_items: Sequence[object], _index: int, _size_bytes: int) -> None:
        """Ask for those of an object in a list, whose reference count is not needed for it."""
