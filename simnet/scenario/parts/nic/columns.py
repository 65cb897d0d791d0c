"""What came and went by each queue of a port, and what flow rules did where there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.rows import Row
from simnet.scenario.core.subject import Column
from simnet.scenario.parts.nic.flow_steering import FlowSteering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.system import Snapshot


def equip(ground: Ground) -> None:
    """Have the counters of queues read, and those of ports with rules."""
    from simnet.net.nic.multiqueue import MultiqueuePort

    host = ground.effective.host
    ports = [
        made
        for made, port in zip(ground.ports, host.ports, strict=True)
        if isinstance(made, MultiqueuePort) and _has_rules(host, port)
    ]
    several = [made for made in ground.ports if isinstance(made, MultiqueuePort)]
    if several:
        ground.observed["queues"] = lambda: {
            str(port.name): [[getattr(queue, of) for of in _COUNTED] for queue in port.queues]
            for port in several
        }
    if ports:
        ground.counters["flow_rules"] = lambda: {
            str(port.name): {"frames_rx": port.rx_packets, **port.obey_rules().counters()}
            for port in ports
        }


def _has_rules(host: Host, port: Port) -> bool:
    if not isinstance(port.nic, FlowSteering):
        return False
    if port.nic.learns_flows:
        return True
    follows = host.kernel.rps_sock_flow_entries and any(port.rps_flow_cnt)
    return bool(port.nic.flow_rules or (follows and port.nic.rx_flow_steer(host.kernel.version)))


def _rows(start: Snapshot, end: Snapshot) -> tuple[dict[str, str | float], ...]:
    """What rules there are, and what became of them and of frames between two snapshots."""
    before: Mapping[str, Any] = start.more.get("flow_rules", {})
    found = []
    for name, last in end.more.get("flow_rules", {}).items():
        more = {key: value - before[name][key] for key, value in last.items()}
        row: dict[str, str | float] = {"name": name}
        row |= {key: last[key] for key in ("rules", "steered")}
        # frames count when they are announced
        row["frames_percent"] = min(100 * more["frames"] / max(more["frames_rx"], 1), 100.0)
        row |= {key: more[key] for key in ("added", "updated", "expired")}
        found.append(row)
    return tuple(found)


def _queues(start: Snapshot, end: Snapshot) -> tuple[QueueCounts, ...]:
    """What came and went by each queue between two snapshots."""
    before: Mapping[str, Any] = start.observed.get("queues", {})
    found = []
    for port, queues in end.observed.get("queues", {}).items():
        for number, (last, first) in enumerate(zip(queues, before[port], strict=True)):
            ends = zip(_COUNTED, last, first, strict=True)
            more = {name: after - earlier for name, after, earlier in ends}
            # without preamble and gap, as drivers count
            for way in ("rx", "tx"):
                more[f"{way}_bytes"] -= UNCOUNTED_BYTES * more[f"{way}_packets"]
            found.append(QueueCounts(port=port, queue=number, **more))
    return tuple(found)


class QueueCounts(Row):
    """What came and went by one queue of a port, in the driver's counters."""

    port: str
    queue: int
    rx_packets: int
    tx_packets: int
    rx_bytes: int
    tx_bytes: int
    drops: int


_COUNTED: Final = tuple(name for name in QueueCounts.model_fields if name not in {"port", "queue"})

COLUMNS: Final = (
    Column(
        "queues",
        tuple[QueueCounts, ...],
        "what came and went by each queue of ports that have several; drops: frames that found no"
        " posted buffer",
        _queues,
        order=11,
    ),
    Column(
        "flow_rules",
        tuple[dict[str, str | float], ...],
        "one entry a port with rules: those of ethtool -N, those that RFS asked for or the driver"
        " made itself, the share of its frames that went by one, and how many of the latter were"
        " added, updated and removed",
        _rows,
        table=True,
        order=12,
    ),
)
