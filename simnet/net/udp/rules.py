"""What of UDP's receive path has changed from kernel to kernel.

Source: net/ipv4/udp.c (`__udp_enqueue_schedule_skb`, `udp_rmem_release`, `__skb_recv_udp`,
`udp_skb_destructor`):

| from | what changed |
| --- | --- |
| 4.10 | memory of UDP's own (`udp_rmem_release`): the path that is modelled |
| 4.11 | what comes does not count when room is looked for, only what waits |
| 4.13 | a queue of the reader's own, and memory given back in batches |
| 6.18 | what comes counts again |
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from simnet.errors import InputError
from simnet.host.release import release_in, values_in

FIRST: Final = (4, 10)
"""The first version whose receive path this is."""


@dataclass(frozen=True)
class UdpRules:
    """Which rules hold; the defaults are those of 4.13.

    Attributes:
        counts_new: the datagram that comes counts when it is asked whether the buffer is full.
        reader_queue: the reader takes all that waits at once, and gives memory back in batches.
    """

    counts_new: bool = False
    reader_queue: bool = True


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = (
    ((4, 10), {"counts_new": True, "reader_queue": False}),
    ((4, 11), {"counts_new": False}),
    ((4, 13), {"reader_queue": True}),
    ((6, 18), {"counts_new": True}),
)


@cache
def udp_rules(version: str) -> UdpRules:
    """The receive path of Linux `version`, as in "6.6" or "6.18.44-amd64".

    Raises:
        InputError: that is not a version, or one from before 4.10.
    """
    if release_in(version) < FIRST:
        message = f"UDP of Linux {version} is not modelled: expected 4.10 or later"
        raise InputError(message)
    return UdpRules(**values_in(version, _CHANGES))
