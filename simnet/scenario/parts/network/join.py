"""Link two ports through the switch, and lay the way between the hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.net.link.wire import SwitchedPath
from simnet.scenario.parts.netem.build import lay

if TYPE_CHECKING:
    from simnet.net.link.wire import Port
    from simnet.scenario.system.ground import Ground

__all__ = ["join"]


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
