"""Which machine an answer is of: processor, cards, kernel and load, a line each of two."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.scenario.core.files import LOADS
from simnet.scenario.core.units import KINDS, format_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.scenario.core.effective import Effective

LOADS_SAID: Final = {
    "bulk": "a load that carries as much as it can",
    "requests": "a load of requests that wait for their answers",
    "offered": "a load that comes whether or not it is answered",
    "media": "a load that is not sent again when it is lost",
    "jobs": "a load of jobs that end",
}
"""What each kind of load is, as a person says it."""
_FILE: Final = ".toml"
_GHZ: Final = 10**9


def machine(effective: Effective) -> tuple[str, ...]:
    """Which machine, cards, kernel and load: two lines.

    A model is called by its name; one that is a file of its own, as an import writes it, by what it
    says: driver and rate of a card, clock of a processor, version of a kernel.
    """
    host = effective.host
    names = {
        place.removeprefix("host."): name
        for place, name in effective.models.items()
        if place.startswith("host.")
    }
    own = {place: name for place, name in names.items() if not name.endswith(_FILE)}
    parts = [own.get("machine", host.name)]
    if parts[0].endswith(_FILE):
        parts = []
    if "cpu" in names:
        clock = f"{host.cpu.vendor} CPU of {host.cpu.clock_hz / _GHZ:.3g} GHz"
        parts.append(own.get("cpu", clock.strip()))
    cards = [
        own.get(f"ports[{number}].nic", _card(effective, number))
        for number in range(len(host.ports))
    ]
    disks = [name for place, name in own.items() if place.endswith(".disk")]
    test = effective.workload.test
    kernel = own.get("kernel", f"Linux {host.kernel.version}")
    parts += [on_nodes(len(host.online), host.machine.nodes), *with_counts([*cards, *disks])]
    return (
        printable(", ".join(parts)),
        printable(f"{kernel}; load: {test}, {LOADS_SAID[LOADS[test]]}"),
    )


def _card(effective: Effective, number: int) -> str:
    """A card of a file of its own; whether its rate is assumed decides what is full."""
    nic = effective.host.ports[number].nic
    rate = effective.provenance.get(f"host.ports[{number}].nic.link_rate_bps")
    assumed = " (assumed)" if rate is not None and rate.state == "assumed" else ""
    return f"{called(nic.driver, nic.link_rate_bps)}{assumed}"


def called(driver: str, rate_bps: int) -> str:
    """A card of which only the driver is known, and its rate."""
    return f"{driver} {format_quantity(rate_bps, KINDS['rate'])}".strip()


def with_counts(names: Sequence[str]) -> list[str]:
    """Each name once, with how many there are."""
    return [f"{count} x {name}" if count > 1 else name for name, count in Counter(names).items()]


def on_nodes(cpus: int, nodes: int) -> str:
    """``64 CPUs on 4 nodes``."""
    many = "1 CPU" if cpus == 1 else f"{cpus} CPUs"
    return f"{many} on {nodes} nodes" if nodes > 1 else f"{many} on a node"
