"""Numbers that stand for none: of what is never negative, and of a time that has an end.

`NONE` is no sequence number, no position, no time that has been noted. `NEVER` is later than
every time on the clock, and `LATEST_PS` its last instant, 53 days from its start.
"""

import cython

NONE: cython.int = -1
NEVER: cython.longlong = 1 << 62
LATEST_PS: cython.longlong = (1 << 62) - 1
