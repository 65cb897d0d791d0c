"""What of processors can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.system.lifting import Lifting, copy, hosts, up


def _quicker(host: Host) -> Host:
    return host.model_copy(update={"cpu": copy(host.cpu, up, "clock_hz")})


def _cpus(effective: Effective) -> Effective:
    return hosts(effective, _quicker, peers=False)


def _cpus_of_peers(effective: Effective) -> Effective:
    return hosts(effective, _quicker, system=False)


LIFTS: Final = (
    Lifting("CPUs of the system", _cpus, "clock + 25 %", kinds=("cpu",), order=40),
    Lifting("CPUs of the peers", _cpus_of_peers, "clock + 25 %", kinds=("peer cpu",), order=50),
)
