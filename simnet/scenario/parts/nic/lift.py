"""What of ports can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.system.lifting import Lifting, copy, hosts, up


def _network(effective: Effective) -> Effective:
    if not effective.linked:
        # processors copy
        return effective

    def quicker(host: Host) -> Host:
        ports = tuple(
            port.model_copy(update={"nic": copy(port.nic, up, "link_rate_bps")})
            for port in host.ports
        )
        return host.model_copy(update={"ports": ports})

    return hosts(effective, quicker)


LIFTS: Final = (
    Lifting(
        "network",
        _network,
        "link rates + 25 %",
        kinds=("port", "peer port", "client port", "server port", "link", "switch"),
        order=10,
    ),
)
