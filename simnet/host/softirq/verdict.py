"""What a step of a poll says: it goes on, is done, or gives way.

`POLL_CONTINUES`: the CPU has been asked for more work. `POLL_DONE`: nothing is left, and the device
has left the poll list. `POLL_MORE`: others have their turn first.
"""

import cython

POLL_CONTINUES: cython.int = 0
POLL_DONE: cython.int = 1
POLL_MORE: cython.int = 2
