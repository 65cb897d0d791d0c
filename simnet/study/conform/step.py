"""Something that happens to the kernel's end."""

from dataclasses import dataclass
from typing import Literal

Action = Literal["receive", "read", "write", "quickack", "nodelay", "cork", "rcvbuf", "check"]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happens to the kernel's end.

    Attributes:
        time_ps: when.
        action: a segment comes in, or a call of the application.
        seq, end_seq, push: of the segment; `end_seq` is the count or value of a call.
        ack, window: of the segment; an `ack` of -1 covers all that has been sent.
        blocks: of its SACK option.
        more: MSG_MORE; of a read: that it waits.
        code: assertions.
        ecn: bits of `simnet.net.link.skb`.
        after: expected segments that are to be out before.
    """

    time_ps: int
    action: Action
    seq: int = 0
    end_seq: int = 0
    push: bool = False
    ack: int = -1
    window: int = 0
    blocks: tuple[tuple[int, int], ...] = ()
    more: bool = False
    code: str = ""
    ecn: int = 0
    after: int = 0
