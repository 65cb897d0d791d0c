"""Build partitions of a hypervisor: the pool of processors that they share, the virtual LAN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.errors import seconds_text
from simnet.host.delayed_action import DelayedAction
from simnet.host.partition import LogicalPartition, ProcessorPool
from simnet.net.virtual_lan.ibmveth import HypervisorCalls, Ibmveth
from simnet.scenario.parts.partition.columns import partition_of
from simnet.scenario.parts.partition.resources import partition_resources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simnet.host.machine import Machine
    from simnet.kernel.simulator import Simulator
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.parts.network.join import Pair
    from simnet.scenario.parts.network.resources import NetworkPath
    from simnet.scenario.parts.partition.schema import Hypervisor, Pool
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.resource import Resource

_PERMILLE: Final = 1000
# dispatch windows that a mean is of, at least
_WINDOWS: Final = 5
_CAPPED: Final = "cap"


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """The windows in which processors are given out, several of which a mean is of."""
    if effective.hypervisor is not None:
        window_ps = effective.hypervisor.dispatch_window_ps
        does = f"gives out processors every {seconds_text(window_ps)} s"
        yield DelayedAction("the hypervisor", does, _WINDOWS * window_ps, "length")


def join(ground: Ground, machine: Machine, host: Host) -> None:
    """Make the CPUs of a machine threads of virtual processors, if there is a hypervisor."""
    effective = ground.effective
    if effective.hypervisor is None:
        return
    if "pool" not in ground.kept:
        ground.kept["pool"] = _make_pool(ground.sim, effective, effective.hypervisor)
        ground.counters["partition"] = lambda: partition_of(machine)
    _join_pool(ground.kept["pool"], machine, host)


def _make_pool(sim: Simulator, effective: Effective, hypervisor: Hypervisor) -> ProcessorPool:
    """The physical processors that a hypervisor's partitions share."""
    pool = effective.pool
    machine = effective.machine
    there = machine.nodes * machine.sockets_per_node * effective.cpu.cores_per_socket
    made = ProcessorPool(
        sim,
        "pool",
        count=(pool.processors if pool else 0) or there,
        window_ps=hypervisor.dispatch_window_ps,
        dispatch_ps=hypervisor.dispatch_ps,
        slice_ps=hypervisor.excess_slice_ps,
        phase_ps=hypervisor.phase_ps,
    )
    if pool is not None:
        _add_others(made, pool)
    return made


def _add_others(made: ProcessorPool, pool: Pool) -> None:
    """Partitions that always compute."""
    for number in range(pool.others):
        other = LogicalPartition(
            f"other{number}",
            entitled_ps=made.window_ps * pool.others_proc_units_permille // _PERMILLE,
            capped=pool.others_sharing_mode == _CAPPED,
            weight=pool.others_uncap_weight,
            phase_ps=pool.others_phase_ps,
        )
        made.add(other, [[]])


def _join_pool(pool: ProcessorPool, machine: Machine, host: Host) -> None:
    """Make a host's CPUs threads of virtual processors."""
    partition = host.partition
    if partition is None:
        return
    threads = machine.layout.threads_per_core
    pool.add(
        LogicalPartition(
            machine.path,
            entitled_ps=pool.window_ps * partition.proc_units_permille // _PERMILLE,
            capped=partition.sharing_mode == _CAPPED,
            weight=partition.uncap_weight,
            phase_ps=partition.phase_ps,
        ),
        [machine.cpus[first : first + threads] for first in range(0, len(machine.cpus), threads)],
    )


def connect(ground: Ground, pair: Pair) -> Callable[[NetworkPath], Iterable[Resource]]:
    """Join the ports of two hosts by the virtual LAN."""
    hypervisor, near, far = ground.effective.hypervisor, pair.near, pair.far
    if isinstance(near, Ibmveth) and isinstance(far, Ibmveth):
        near.attach(far, _calls(hypervisor, pair.host))
        far.attach(near, _calls(hypervisor, pair.far_host))

    def shared(path: NetworkPath) -> Iterable[Resource]:
        machines = [("", path.machine), *path.far_machines]
        return partition_resources([(prefix, machine, None) for prefix, machine in machines])

    return shared


def _calls(hypervisor: Hypervisor, host: Host) -> HypervisorCalls:
    lan = hypervisor.lan
    return HypervisorCalls(
        clock_hz=host.cpu.clock_hz,
        call_cycles=hypervisor.hcall_cycles,
        interrupt_calls=hypervisor.interrupt_hcalls,
        send_cycles=lan.send_cycles,
        copy_line_cycles=lan.copy_line_cycles,
        add_buffer_cycles=lan.add_buffer_cycles,
        map_cycles=lan.map_cycles,
        signal_cycles=lan.signal_cycles,
        latency_ps=hypervisor.interrupt_latency_ps,
    )
