"""Link two ports through the switch, and lay the way between the hosts."""

from dataclasses import dataclass
from typing import Any

from simnet.net.link.skb import Port, SwitchedPath
from simnet.scenario.core.effective import Host
from simnet.scenario.parts.netem.build import lay
from simnet.scenario.system.ground import Ground


@dataclass(frozen=True)
class Pair:
    """A port of the system and a port of a peer that are to be linked.

    Attributes:
        near, far: the ports, each with one queue or several.
        host, far_host: what they belong to.
        flows: names of what is to cross.
    """

    near: Any
    host: Host
    far: Any
    far_host: Host
    flows: tuple[str, ...]


def join(ground: Ground, nic: Any, far: Port, outlet: Any) -> None:
    """Link a port and a far one through the switch; `outlet` is what the far one sends by."""
    switch = ground.effective.lan
    for source, name, destination in ((nic, nic.path, far), (outlet, far.path, nic)):
        source.path_out = SwitchedPath(
            ground.sim,
            f"{name}.to.{destination.path}",
            destination,
            switch.link_rate_bps,
            switch.cable_delay_ps,
            switch.latency_ps,
            ground.per_frame,
        )
    lay(ground, nic, outlet)
