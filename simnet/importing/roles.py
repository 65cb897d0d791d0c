"""What a host does with its packets, where files show that it is no end of TCP's streams."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

CAPTURE: Final = "capture"
CONTAINERS: Final = "containers"
GUESTS: Final = "guests"
TUNNEL: Final = "tunnel"
FORWARD: Final = "forward"
DATAGRAMS: Final = "datagrams"
DISKS: Final = "disks"

ROLES: Final[Mapping[str, tuple[str, str]]] = {
    CAPTURE: ("a host that captures packets", "packets are taken before any protocol"),
    CONTAINERS: (
        "a container node",
        "no file says which datagrams come to which container: see container-udp",
    ),
    GUESTS: ("a host of virtual machines", "what guests do is not in a host's files"),
    TUNNEL: ("a tunnel end", "what encrypts and wraps packets is not simulated"),
    FORWARD: ("a router", "no file says how many packets of which size it forwards"),
    DATAGRAMS: ("a receiver of UDP", "no file says how many datagrams of which size come"),
    DISKS: ("a host whose disks work", "the scenario is of the network; nvme-local is of a disk"),
}
"""What a host with each role is called, and why its load is not simulated; what rules others out
comes first."""


@dataclass(frozen=True)
class Role:
    """What a file shows of a host's work."""

    name: str  # one of `ROLES`
    said: str  # by what it is seen
    source: str  # the file
    # what the file tells of the load, by name
    numbers: Mapping[str, int] = field(default_factory=dict)
    called: str = ""  # what the host is called, where that is more than its role; empty for `ROLES`
    why: str = ""  # likewise, why this load is not simulated
    counted: tuple[str, ...] = ()  # other files that its numbers are from

    @property
    def title(self) -> str:
        """What the host is called."""
        return self.called or ROLES[self.name][0]

    @property
    def reason(self) -> str:
        """Why its load is not simulated."""
        return self.why or ROLES[self.name][1]


def first_of(roles: Iterable[Role], *names: str) -> Role | None:
    """Return the role that rules the others out, of some names or of all; None if there is none."""
    order = list(ROLES)
    found = [one for one in roles if not names or one.name in names]
    return min(found, key=lambda one: order.index(one.name), default=None)
