"""Resources of a system, and what its flows wait for: the counters behind bottlenecks.

A built system offers both at any instant, see `simnet.scenario.system.system.System`. A resource
counts what has been used of it since the simulation began; the difference of two instants over what
it could have given in between is its utilisation. What a flow waits for is a state: looked at often
enough, the shares of the looks are shares of the time (PASTA's condition is that the looks do not
keep step with what they look at; the reader draws the instants).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.host.machine import Machine

FULL: Final = 0.95
"""Share from which on a resource counts as full: what comes in batches never gets to 1."""
NETWORK: Final = "network"
"""The group of all ports and links: a faster network replaces them together."""
_CONTEXTS: Final = ("irq", "softirq", "system", "user")
_STEAL: Final = "steal"
_POLLING: Final = "busy polling"

Unit = Literal["ps", "bit", "B", "request"]


@dataclass(frozen=True)
class Resource:
    """A part that work passes, and how much of it has been used until an instant."""

    name: str  # as people call it: `cpu3`, `eth0 receive`, `hdisk2`; one of its kind in a system
    kind: str  # what sort of part: `cpu`, `port`, `link`, `bus`, `disk`
    used: int  # since the simulation began, in `unit`; never less at a later instant
    capacity_per_s: int  # of the same unit in a second: 10**12 for each server that is busy or not
    unit: Unit = "ps"  # `ps` of busy time, `bit`, `B` or `request`
    # names of the flows that pass it at this instant; None for all
    flows: tuple[str, ...] | None = None
    # what is replaced together with it, as the ports of a faster network are; empty for what
    # is replaced alone
    group: str = ""
    drops: int = 0  # packets or requests that it has turned away
    split: tuple[tuple[str, int], ...] = ()  # parts of `used` by name
    # False for what nothing waits for: its capacity is a fact of the data sheet that no
    # mechanism enforces
    simulated: bool = True

    def used_per_s(self, before: int, elapsed_ps: int) -> float:
        """Return what was used a second since `before` had been used, so long ago."""
        return (self.used - before) * (PS_PER_S / elapsed_ps)


@dataclass(frozen=True)
class Wait:
    """What a flow waits for at one instant."""

    flow: str  # its name
    # `send buffer`, `receive window`, `congestion window`, `response`, `queue depth`: as much
    # is outstanding as may be. `application`: nothing is there to be sent, the process is at
    # work or waits itself. `path`: what may be sent is under way.
    reason: str
    limit: int = 0  # how much may be outstanding; 0 where nothing limits it
    unit: Unit = "B"  # of the limit
    bound: bool = False  # whether `reason` is a limit on what may be outstanding


def busy(
    name: str,
    kind: str,
    busy_ps: int,
    *,
    servers: int = 1,
    flows: tuple[str, ...] | None = None,
    group: str = "",
    drops: int = 0,
) -> Resource:
    """A resource of servers that work or not, `busy_ps` being the sum of their busy times."""
    capacity = servers * PS_PER_S
    return Resource(name, kind, busy_ps, capacity, flows=flows, group=group, drops=drops)


def carried(
    name: str,
    kind: str,
    carried_bytes: int,
    rate_bps: int,
    *,
    flows: tuple[str, ...] | None = None,
    group: str = "",
    drops: int = 0,
    simulated: bool = True,
) -> Resource:
    """A resource with a rate in bit/s, all that it carries counted, overhead too."""
    return Resource(
        name,
        kind,
        8 * carried_bytes,
        rate_bps,
        "bit",
        flows=flows,
        group=group,
        drops=drops,
        simulated=simulated,
    )


def cpus(
    machine: Machine,
    *,
    kind: str = "cpu",
    prefix: str = "",
    flows: dict[int, tuple[str, ...]] | None = None,
) -> tuple[Resource, ...]:
    """The logical CPUs of a machine, their busy time split by context.

    Time that a hypervisor stole, and time in which processes looked for what was not there, is
    reported separately and is not part of what was used.

    Args:
        machine: whose.
        kind: `cpu`, or another for machines that are not the system.
        prefix: of the names, as in `peer0 `.
        flows: names of the flows that each CPU works for, by number; None for all.
    """
    found = []
    for cpu in machine.online:
        times = cpu.times()
        waited = min(cpu.waited_ps, times["system_ps"])
        spun = min(cpu.spun_ps, times["user_ps"])
        times["system_ps"] -= waited
        times["user_ps"] -= spun
        split = tuple((name, times[f"{name}_ps"]) for name in _CONTEXTS)
        apart = ((_POLLING, waited + spun), (_STEAL, times["steal_ps"]))
        found.append(
            Resource(
                f"{prefix}cpu{cpu.cpu_id}",
                kind,
                sum(used for _, used in split),
                PS_PER_S,
                flows=None if flows is None else flows.get(cpu.cpu_id, ()),
                split=(*split, *((name, time) for name, time in apart if time)),
            )
        )
    return tuple(found)


def memory(machine: Machine, *, prefix: str = "") -> Iterator[Resource]:
    """The buses, memory controllers and links of a machine that have carried anything.

    Nothing of machines whose work is not known to wait for memory: most of it would be missing.
    """
    interconnect = machine.memory.interconnect
    if interconnect is None or not interconnect.included.stall_permille:
        return
    for carrier, (kind, name) in enumerate(interconnect.names):
        rate_bps, size = 8 * interconnect.bandwidth[carrier], interconnect.carried[carrier]
        if rate_bps and size:
            yield carried(f"{prefix}{name}", kind, size, rate_bps)
