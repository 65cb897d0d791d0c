"""Ask for an object's cache lines before they are needed.

One of ten thousand connections has been out of the cache for long when its next packet comes. What
it consists of is reached pointer by pointer, each of which would have to be waited for; asked for
together, they come together. Compiled modules take the function from `prefetch.pxd`; there is
nothing to ask for where objects are Python's own.
"""

import cython

if not cython.compiled:

    def prefetch(_item: object, _size_bytes: int) -> None:
        """Ask for the cache lines of an object."""
