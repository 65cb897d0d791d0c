"""Something that happens to the kernel's end."""

from dataclasses import dataclass
from typing import Literal

Action = Literal["receive", "read", "write", "quickack", "nodelay", "cork", "rcvbuf", "check"]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happens to the kernel's end."""

    time_ps: int  # when
    action: Action  # a segment comes in, or a call of the application
    # of the segment; `end_seq` is the count or value of a call
    seq: int = 0
    end_seq: int = 0
    push: bool = False
    # of the segment; an `ack` of -1 covers all that has been sent
    ack: int = -1
    window: int = 0
    blocks: tuple[tuple[int, int], ...] = ()  # of its SACK option
    more: bool = False  # MSG_MORE; of a read: that it waits
    code: str = ""  # assertions
    ecn: int = 0  # bits of `simnet.net.link.skb`
    after: int = 0  # expected segments that are to be out before
