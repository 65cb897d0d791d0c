"""A bond of an imported host: whether it is simulated, and what is assumed around it.

Streams of a bond share its ports by addresses. So the peers are as many machines as the host has
ports, each with one port and an address of its own, and the switch looks at the addresses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.importing.writing.ranked import Note, Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from simnet.importing.kind import Told
    from simnet.importing.writing.lines import PortLines

_SLAVE: Final = "ifenslave bond0 "
_MODE: Final = "modprobe bonding mode"
_OF_BOND: Final = (_SLAVE, "modprobe bonding ")
_SIMULATED: Final = ("netserver", "netperf")
LOAD_BALANCE: Final = (
    "src-dst-ip",
    "no file says how the switch distributes frames over the ports of a bond",
)


def of_bond(told: Iterable[Told]) -> list[Told]:
    """Return the settings of a bond and of its slaves."""
    return [one for one in told if one.name.startswith(_OF_BOND)]


def slaves_of(told: Iterable[Told]) -> list[str]:
    """Return the ports of the bond."""
    return [one.name.removeprefix(_SLAVE) for one in told if one.name.startswith(_SLAVE)]


def refused(bonded: Sequence[Told], ports: Collection[str], test: str, *, below: bool) -> str:
    """Return why a bond is not simulated; empty if it is.

    Args:
        bonded: its settings.
        ports: of the model.
        test: of the workload.
        below: the host is a guest.
    """
    slaves = set(slaves_of(bonded))
    if below:
        return "a guest has one port in the model"
    if not slaves <= set(ports):
        return f"{min(slaves - set(ports))} is not in the model, so each port is modelled by itself"
    if test not in _SIMULATED:
        return f"{test} is not simulated over a bond, so each port is modelled by itself"
    return ""


def describe(bonded: Sequence[Told], why: str) -> list[Note]:
    """Return the notes of an import about a bond."""
    slaves = slaves_of(bonded)
    mode = next((one.raw for one in bonded if one.name == _MODE), "")
    what = f"bond of {', '.join(slaves)}, {mode} ({bonded[0].source})"
    if why:
        return [Note(f"{what}: read, not used: {why}", Rank.NOT_SIMULATED)]
    assumed = "a switch that chooses ports by src-dst-ip, and a peer for each port of the host"
    return [Note(f"{what}: simulated as bond0; assumed are {assumed}", Rank.PORTS)]


def lacking(lines: Mapping[str, PortLines]) -> Callable[[str], bool]:
    """Return what tells whether a peer with one port, the first, lacks what a setting is of."""
    _, *others = lines
    irqs = {number for port in others for number in lines[port].numbers}

    def lacks(name: str) -> bool:
        parts = re.split(r"[/ ]", name)
        of_irq = name.startswith("/proc/irq/") and int(parts[3]) in irqs
        return of_irq or name.startswith(_OF_BOND) or any(port in parts for port in others)

    return lacks
