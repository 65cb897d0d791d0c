"""What the scoreboard's ring holds of a segment: its words, a cache line, and the bits of its tags.

| word | |
| --- | --- |
| `END` | last byte plus one |
| `TAG` | `SACKED`, `LOST` and `RETRANS` (together `TAGS`); `EVER`: it has been sent again |
| `SENT` | when it was sent last, jiffies |
| `MARK` | `snd_nxt` when it was sent again |
| `SENT_US` | when it was sent first, for `Rack` when last, microseconds |
| `NEXT`, `PREVIOUS` | its neighbours in the list of `Rack` |

Compiled modules take all of this from `segment.pxd`; there rings are not Python's objects.
"""

import cython

if not cython.compiled:
    WORDS = 8
    END, TAG, SENT, MARK, SENT_US, NEXT, PREVIOUS = range(7)
    SACKED, RETRANS, LOST, EVER = 1, 2, 4, 8
    TAGS = SACKED | RETRANS | LOST

    def new_segments(count: int) -> list[int]:
        """Return a ring with room for so many segments."""
        return [0] * (WORDS * count)

    def free_segments(_ring: list[int]) -> None:
        """Give a ring back, for which nobody asks any more."""
