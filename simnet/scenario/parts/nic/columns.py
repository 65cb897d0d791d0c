"""What flow rules did: of each port of the system that has some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.subject import Column
from simnet.scenario.parts.nic.flow_steering import FlowSteering

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.system import Snapshot


def equip(ground: Ground) -> None:
    """Have the counters of ports with rules read."""
    from simnet.net.nic.multiqueue import MultiqueuePort

    host = ground.effective.host
    ports = [
        made
        for made, port in zip(ground.ports, host.ports, strict=True)
        if isinstance(made, MultiqueuePort) and _has_rules(host, port)
    ]
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


COLUMNS: Final = (
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
