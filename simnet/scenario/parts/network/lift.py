"""What of a switch can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.system.lifting import Lifting, changed, down, up


def _network(effective: Effective) -> Effective:
    if not effective.linked:
        return effective
    return changed(effective, "switch", up, "link_rate_bps")


def _latency(effective: Effective) -> Effective:
    return changed(effective, "switch", down, "latency_ps", "cable_delay_ps")


LIFTS: Final = (
    Lifting("network", _network),
    Lifting(
        "network latency",
        _latency,
        "cables and switches - 20 %",
        reasons=("congestion window", "response"),
        order=20,
    ),
)
