"""What the scoreboard's ring holds of a segment: its words, a cache line, and the bits of its tags.

| word | |
| --- | --- |
| `END` | last byte plus one |
| `TAG` | `SACKED`, `LOST` and `RETRANS` (together `TAGS`); `EVER`: it has been sent again |
| `SENT` | when it was sent last, jiffies |
| `MARK` | `snd_nxt` when it was sent again |
| `SENT_US` | when it was sent first, for `Rack` when last, microseconds |
| `NEXT`, `PREVIOUS` | its neighbours in the list of `Rack` |

Compiled, a ring is no object of Python's.
"""

import cython

from simnet.kernel.compiled import Address, Pointer, native

WORDS: cython.int = 8
END: cython.int = 0
TAG: cython.int = 1
SENT: cython.int = 2
MARK: cython.int = 3
SENT_US: cython.int = 4
NEXT: cython.int = 5
PREVIOUS: cython.int = 6
SACKED: cython.int = 1
RETRANS: cython.int = 2
LOST: cython.int = 4
EVER: cython.int = 8
TAGS: cython.int = SACKED | RETRANS | LOST


@native
def new_segments(count: cython.Py_ssize_t) -> Pointer[cython.longlong]:
    """Return a ring with room for so many segments."""
    return [0] * (WORDS * count)


@native
def free_segments(ring: Address) -> None:
    """Give a ring back, for which nobody asks any more."""
