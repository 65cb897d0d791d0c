"""What partitions have of processors, lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.system.lifting import Lifting, changed, copy, hosts, up

_PERMILLE: Final = 1000
_MORE: Final = "processors + 25 %"


def _entitlements(effective: Effective, *, peers: bool) -> Effective:
    """A larger entitlement, as much as its virtual processors can have, in the steps there are."""
    hypervisor = effective.hypervisor
    if hypervisor is None:
        return effective
    step: int = hypervisor.entitlement_step_permille

    def larger(host: Host) -> Host:
        partition = host.partition
        if partition is None:
            return host

        def units(now: int) -> int:
            return int(min(up(now), partition.procs * _PERMILLE)) // step * step

        return host.model_copy(update={"partition": copy(partition, units, "proc_units_permille")})

    return hosts(effective, larger, system=not peers, peers=peers)


def _own(effective: Effective) -> Effective:
    return _entitlements(effective, peers=False)


def _of_peers(effective: Effective) -> Effective:
    return _entitlements(effective, peers=True)


def _pool(effective: Effective) -> Effective:
    """More processors; a pool of all that the server has cannot have more."""
    return changed(effective, "pool", lambda have: -(-have * 5 // 4), "processors")


LIFTS: Final = (
    Lifting("entitlement of the system", _own, _MORE, kinds=("partition",), order=70),
    Lifting("entitlement of the peers", _of_peers, _MORE, kinds=("peer partition",), order=80),
    Lifting("pool of processors", _pool, _MORE, kinds=("pool",), order=90),
)
