"""What of a file system's servers can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.disks.lift import quicker
from simnet.scenario.system.lifting import Lifting, changed, down, twice, up

_TIMES: Final = ("request_ps", "net_kib_ps", "checksum_kib_ps", "parity_kib_ps")


def _network(effective: Effective) -> Effective:
    return changed(effective, "storage", up, "link_rate_bps")


def _buses(effective: Effective) -> Effective:
    return changed(effective, "storage", up, "adapter_bus_bps")


def _cpus(effective: Effective) -> Effective:
    return changed(effective, "storage", down, *_TIMES)


def _sas(effective: Effective) -> Effective:
    return changed(effective, "storage", up, "sas_adapters_bps", "path_rate_bps")


def _threads(effective: Effective) -> Effective:
    return changed(effective, "filesystem", twice, "nsd_max_worker_threads")


def _disks(effective: Effective) -> Effective:
    return effective.model_copy(update={"disk": quicker(effective.disk)})


LIFTS: Final = (
    Lifting("network", _network),
    Lifting("network adapters' buses", _buses, "rates + 25 %", kinds=("PCIe",), order=30),
    Lifting("CPUs of the servers", _cpus, "clock + 25 %", kinds=("server cpu",), order=60),
    Lifting("NSD threads", _threads, "doubled", kinds=("NSD threads",), order=120),
    Lifting("SAS", _sas, "adapters and paths + 25 %", kinds=("SAS",), order=130),
    Lifting("disks", _disks),
)
