"""Numbers that stand for none: of what is never negative, and of a time that has an end.

`NONE` is no sequence number, no position, no time that has been noted. `NEVER` is later than
every time on the clock. Compiled modules take both from `sentinel.pxd`.
"""

import cython

if not cython.compiled:
    NONE = -1
    NEVER = 1 << 62
