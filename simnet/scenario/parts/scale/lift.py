"""What of a file system's clients can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.system.lifting import Lifting, changed, twice, up


def _buses(effective: Effective) -> Effective:
    return changed(effective, "lpars", up, "adapter_bus_bps")


def _cpus(effective: Effective) -> Effective:
    """Faster cores: their work is given as time, not in cycles."""
    return changed(effective, "lpars", up, "speed_permille")


def _buffers(effective: Effective) -> Effective:
    return changed(effective, "lpars", twice, "tcp_window_bytes")


def _pagepool(effective: Effective) -> Effective:
    return changed(effective, "scale", twice, "pagepool_bytes")


LIFTS: Final = (
    Lifting("network adapters' buses", _buses),
    Lifting("CPUs of the system", _cpus),
    Lifting("TCP's buffers", _buffers),
    Lifting("pagepool", _pagepool, "doubled", order=110),
)
