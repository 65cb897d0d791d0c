"""What a step of a poll says: it goes on, is done, or gives way.

`POLL_CONTINUES`: the CPU has been asked for more work. `POLL_DONE`: nothing is left, and the device
has left the poll list. `POLL_MORE`: others have their turn first. `POLL_STAYS`: it stays at the
head of the list. Compiled modules take the names from `verdict.pxd`.
"""

import cython

if not cython.compiled:
    POLL_CONTINUES = 0
    POLL_DONE = 1
    POLL_MORE = 2
    POLL_STAYS = 3
