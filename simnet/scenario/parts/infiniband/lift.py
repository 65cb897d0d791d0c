"""What of a fabric can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.system.lifting import Lifting, changed, down, up


def _network(effective: Effective) -> Effective:
    return changed(effective, "fabric", up, "link_rate_bps")


def _latency(effective: Effective) -> Effective:
    return changed(effective, "fabric", down, "cable_delay_ps", "switch_latency_ps")


LIFTS: Final = (Lifting("network", _network), Lifting("network latency", _latency))
