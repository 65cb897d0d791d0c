"""Build the machine of one host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simnet.host.cache import CacheWays
from simnet.host.costs import COST_NAMES, Buffers, Costs, Memory, Spread, distances, whole_ns
from simnet.host.interconnect import Bandwidths, Included, Interconnect
from simnet.host.machine import Layout, Machine, Place
from simnet.host.softirq.version import SoftirqRules, softirq_rules
from simnet.kernel.random import first_raw
from simnet.scenario.parts.interrupts.build_apic import make_apic
from simnet.time_units import PS_PER_S, PS_PER_US

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.scenario.core.effective import Host
    from simnet.scenario.parts.host.schema import Cpu, Kernel
    from simnet.scenario.parts.host.schema import Machine as MachineModel

# of level 2 in Skylake's server cores; others have 8 to 20, which changes the curve little
_PRIVATE_WAYS = 16


def make_costs(host: Host) -> Costs:
    """What steps cost on a host's CPUs."""
    cycles = {name: getattr(host.cpu.costs, f"{name}_cycles") for name in COST_NAMES}
    return Costs(
        cycles,
        host.cpu.clock_hz,
        host.cpu.cache_line_bytes,
        host.cpu.copy_overlap,
        stores_overlap=host.cpu.stores_overlap,
    )


def make_spread(host: Host, path: str, seed: int) -> Spread:
    """The component's luck with caches and buses."""
    return Spread(first_raw(seed, path), host.cpu.work_spread_permille)


def make_buffers(host: Host, machine: Machine) -> Buffers:
    """What an `sk_buff` costs that changes hands."""
    kernel = host.kernel
    return Buffers(machine.memory, machine.costs.ledger, kernel.skb_lines, kernel.slab_lines)


def make_machine(sim: Simulator, host: Host, path: str, *, seed: int = 0) -> Machine:
    """A host's CPUs, scheduler, memory and interrupt delivery."""
    machine, cpu = host.seen
    kernel = host.kernel
    memory = cpu.memory
    interconnect = Interconnect(
        sim,
        f"{path}.interconnect",
        machine.nodes,
        machine.buses_per_node,
        machine.links,
        cpu.cache_line_bytes,
        Bandwidths(
            bus=machine.bus_bandwidth_bps // 8,
            controller=machine.memory_bandwidth_bps // 8,
            link=machine.link_bandwidth_bps // 8,
        ),
        Included(
            cpu.stall_permille,
            whole_ns(cpu.costs.line_latency_ps),
            whole_ns(memory.local_latency_ps),
        ),
    )
    made = Machine(
        sim,
        path,
        Layout(
            nodes=machine.nodes,
            sockets_per_node=machine.sockets_per_node,
            buses_per_node=machine.buses_per_node,
            cores_per_socket=cpu.cores_per_socket,
            threads_per_core=cpu.threads_per_core,
            smt_slowdown_permille=cpu.smt_slowdown_permille,
            tick_ps=PS_PER_S // kernel.hz,
            timeslice_ps=kernel.timeslice_ps,
            netdev_budget=kernel.netdev_budget,
            max_softirq_restart=kernel.max_softirq_restart,
            net_rx_time_limit_jiffies=kernel.net_rx_time_limit_jiffies,
            idle_balance=kernel.idle_balance,
            softirq_rules=_rounds(kernel),
            fair=kernel.version if kernel.scheduler == "fair" else "",
            places=_places(machine),
        ),
        make_costs(host),
        Memory(
            distances(machine.nodes, list(machine.links)),
            local_ps=whole_ns(memory.local_latency_ps),
            same_bus_dirty_ps=whole_ns(memory.same_bus_dirty_ps),
            same_node_dirty_ps=whole_ns(memory.same_node_dirty_ps),
            remote_ps=whole_ns(memory.remote_latency_ps),
            remote_dirty_ps=whole_ns(memory.remote_dirty_ps),
            hop_ps=whole_ns(memory.hop_ps),
            mmio_write_ps=whole_ns(memory.mmio_write_ps),
            mmio_hop_ps=whole_ns(memory.mmio_hop_ps),
            included_ps=whole_ns(cpu.costs.line_latency_ps),
            interconnect=interconnect,
            caches=[_cache(cpu) for _ in range(machine.nodes if cpu.llc_bytes else 0)],
            core_cache=_private_cache(cpu) if cpu.llc_bytes else None,
        ),
    )
    interconnect.watch(made.cpus)
    made.apic = make_apic(made, machine, cpu, kernel, seed=seed)
    return made


def _rounds(kernel: Kernel) -> SoftirqRules:
    """The rules of a kernel's softirqs, with the length of a round if that is set."""
    if kernel.system != "linux":
        return SoftirqRules()
    rules = softirq_rules(kernel.version)
    if kernel.netdev_budget_usecs:
        rules = replace(rules, budget_time_ps=kernel.netdev_budget_usecs * PS_PER_US)
    return rules


def _cache(cpu: Cpu) -> CacheWays:
    """The last-level cache of a node, as devices use it."""
    return CacheWays(
        cpu.llc_bytes * cpu.ddio_ways // cpu.llc_ways,
        cpu.ddio_ways,
        whole_ns(cpu.memory.local_latency_ps - cpu.memory.llc_latency_ps),
    )


def _private_cache(cpu: Cpu) -> CacheWays:
    """The last private cache of a core."""
    return CacheWays(cpu.cache_bytes, _PRIVATE_WAYS, whole_ns(cpu.memory.llc_latency_ps))


def _places(machine: MachineModel) -> tuple[Place, ...]:
    """Where each logical CPU is, if the model lists them."""
    found: dict[int, list[int]] = {}
    for sets in (machine.node_cpus, machine.package_cpus, machine.core_cpus):
        for number, cpus in enumerate(sets):
            for cpu in cpus:
                found.setdefault(cpu, []).append(number)
    return tuple(Place(*found.get(cpu, ())) for cpu in range(max(found, default=-1) + 1))
