"""Build a host's CPUs, the threads that are pinned to them, and what joins two guests."""

from collections.abc import Iterator
from typing import cast

from simnet.host.costs import cycles_ps, whole_ns
from simnet.host.cpu import Cpu
from simnet.host.fair.rules import fair_rules
from simnet.host.kvm.host_cpu import HostCpu
from simnet.host.kvm.vcpu import Vcpu
from simnet.host.machine import Machine
from simnet.net.nic.multiqueue import MultiqueuePort, queues_of
from simnet.net.nic.port import Nic
from simnet.net.virtio.bridge import BridgePort
from simnet.net.virtio.tap import Tap
from simnet.net.virtio.uplink import FromUplink, Uplink
from simnet.net.virtio.vhost import VhostCosts, VhostWorker
from simnet.net.virtio.virtio_net import VirtioNet
from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.core.knobs import OF_QUEUES
from simnet.scenario.parts.host.build import make_machine
from simnet.scenario.parts.idle_states.build import join as join_idle_states
from simnet.scenario.parts.idle_states.build import make_idle_states
from simnet.scenario.parts.kvm.columns import counts_of
from simnet.scenario.parts.kvm.schema import Guest, Kvm
from simnet.scenario.parts.network.join import Pair
from simnet.scenario.parts.network.join import join as link
from simnet.scenario.parts.nic.build import make_port
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.resource import Resource, busy, carried


class Hypervisor:
    """The host below the guests: its CPUs, as far as threads are pinned to them.

    Args:
        ground: what is simulated.
        kvm: what it costs.
    """

    def __init__(self, ground: Ground, kvm: Kvm) -> None:
        self.ground = ground
        self.kvm = kvm
        self.host = ground.effective.host
        self.cpus: dict[int, HostCpu] = {}  # by number
        self.workers: dict[str, VhostWorker] = {}  # of all guests, by name
        # ports of the host, their rates, and the CPUs that serve them
        self.uplinks: list[tuple[Nic | MultiqueuePort, int, list[Cpu]]] = []

    def ps(self, cycles: int) -> int:
        """Time of a number of cycles, in whole nanoseconds."""
        return cycles_ps(cycles, self.host.cpu.clock_hz)

    def cpu(self, number: int) -> HostCpu:
        """Return a CPU of the host; it is made when the first thread is pinned to it."""
        if number not in self.cpus:
            host, cpu = self.host, self.host.cpu
            each = host.machine.sockets_per_node * cpu.cores_per_socket * cpu.threads_per_core
            self.cpus[number] = HostCpu(
                self.ground.sim,
                f"host.cpu{number}",
                node=number // each,
                rules=fair_rules(host.kernel.version),
                switch_ps=self.ps(cpu.costs.context_switch_cycles),
                idle_states=make_idle_states(cpu, host.kernel),
            )
        return self.cpus[number]

    def costs(self) -> VhostCosts:
        """What the steps of a vhost worker cost."""
        cpu, kvm = self.host.cpu, self.kvm
        far_ps = cpu.memory.remote_latency_ps - cpu.memory.local_latency_ps
        return VhostCosts(
            tx_frame_ps=self.ps(kvm.tx_frame_cycles),
            rx_frame_ps=self.ps(kvm.rx_frame_cycles),
            buffer_ps=self.ps(kvm.buffer_cycles),
            bridge_ps=self.ps(kvm.bridge_cycles),
            signal_ps=self.ps(kvm.signal_cycles),
            wakeup_ps=self.ps(cpu.costs.wakeup_cycles),
            copy_line_ps=self.ps(cpu.costs.copy_line_cycles),
            far_line_ps=whole_ns(far_ps // cpu.copy_overlap),
            line_bytes=cpu.cache_line_bytes,
        )

    def counters(self) -> dict[str, dict[str, int]]:
        """What each worker has done until now."""
        return {name: counts_of(worker) for name, worker in self.workers.items()}

    def resources(self) -> Iterator[Resource]:
        """The vhost workers, and CPUs of the host that several threads share."""
        for name, worker in self.workers.items():
            yield busy(name, "vhost", worker.busy_ps(), drops=worker.drops)
        for number, cpu in sorted(self.cpus.items()):
            if len(cpu.threads) > 1:
                had = sum(thread.busy_ps() for thread in cpu.threads)
                yield busy(f"host cpu{number}", "host cpu", had)
        for port, rate_bps, served in self.uplinks:
            for way, moved in (("send", port.tx_bytes), ("receive", port.rx_bytes)):
                yield carried(f"host {port.name} {way}", "host port", moved, rate_bps)
            for one in served:
                times = one.times()
                worked = times["softirq_ps"] + times["irq_ps"] + times["system_ps"]
                yield busy(f"host cpu{one.cpu_id}", "host cpu", worked)


def join(ground: Ground, machine: Machine, host: Host) -> None:
    """Make the CPUs of a machine threads of the host, if it is a guest."""
    effective: Effective = ground.effective
    kvm, guest = effective.kvm, host.guest
    if kvm is None or guest is None:
        return
    if "hypervisor" not in ground.kept:
        made = ground.kept["hypervisor"] = Hypervisor(ground, kvm)
        ground.resources.append(made.resources)
        ground.counters["vhost"] = made.counters
    hypervisor: Hypervisor = ground.kept["hypervisor"]
    for cpu, number in zip(machine.cpus, guest.vcpupin, strict=True):
        Vcpu(
            hypervisor.cpu(number),
            f"host.{cpu.path}",
            cpu,
            halt_ps=hypervisor.ps(kvm.halt_cycles),
            most_poll_ps=kvm.halt_poll_ns_ps,
        )


def connect(ground: Ground, pair: Pair) -> None:
    """Join a guest's device by vhost workers and a bridge to another guest's, or one outside."""
    hypervisor: Hypervisor = ground.kept["hypervisor"]
    nic, host, far, far_host = pair.near, pair.host, pair.far, pair.far_host
    own = Tap()
    if far_host.guest is None:
        _serve(hypervisor, nic, host.guest, own, _uplink(hypervisor, host, far, far_host, own))
        return
    other = Tap()
    _serve(hypervisor, nic, host.guest, own, other)
    _serve(hypervisor, far, far_host.guest, other, own)


def _uplink(
    hypervisor: Hypervisor, host: Host, far: Nic | MultiqueuePort, far_host: Host, tap: Tap
) -> Uplink:
    """Make the host's port: of the same model as the peer's, cabled to the same switch."""
    ground, served = hypervisor.ground, host.guest.uplink_cpus
    outside = far_host.ports[0]
    queues = {"rx_queues": len(served), "tx_queues": len(served)}
    port = outside.model_copy(
        update={
            "node": hypervisor.cpu(served[0]).node,
            "smp_affinity": served,
            "queue_affinity": tuple((cpu,) for cpu in served) if len(served) > 1 else (),
            **dict.fromkeys((*OF_QUEUES["rx"], *OF_QUEUES["tx"]), ()),
            "nic": outside.nic.model_copy(update=queues),
        }
    )
    below = host.model_copy(update={"guest": None, "ports": (port,)})
    machine = make_machine(ground.sim, below, "uplink", seed=ground.seed)
    join_idle_states(ground, machine, below)
    made = make_port(
        ground.sim,
        machine,
        below,
        port,
        switch=ground.effective.lan,
        seed=ground.seed,
        per_frame=ground.per_frame,
    )
    link(ground, made, far, far)
    rings = queues_of(made)
    for ring in rings:
        ring.steering = FromUplink(tap, machine.costs, hypervisor.costs().bridge_ps)
    hypervisor.uplinks.append((made, port.nic.link_rate_bps, [machine.cpus[n] for n in served]))
    return Uplink(rings)


def _serve(
    hypervisor: Hypervisor, port: Nic | MultiqueuePort, guest: Guest, own: Tap, far: BridgePort
) -> None:
    """Give each pair of a device's queues a worker."""
    pairs = queues_of(port)
    machine = port.path.partition(".")[0]
    prefix = "" if machine == "sut" else f"{machine} "
    for number, pair in enumerate(pairs):
        name = f"{prefix}vhost{number if len(pairs) > 1 else ''}"
        pin = guest.emulatorpin[number % len(guest.emulatorpin)]
        hypervisor.workers[name] = _worker(
            hypervisor, cast("VirtioNet", pair), guest, pin, own, far
        )


def _worker(
    hypervisor: Hypervisor, nic: VirtioNet, guest: Guest, pin: int, own: Tap, far: BridgePort
) -> VhostWorker:
    kvm = hypervisor.kvm
    worker = VhostWorker(
        hypervisor.cpu(pin),
        f"{nic.path}.vhost",
        nic,
        own,
        far,
        hypervisor.costs(),
        guest_node=hypervisor.cpu(guest.vcpupin[0]).node,
        busy_poll_ps=guest.poll_us_ps,
        tap_limit=kvm.tap_queue,
    )
    nic.attach(
        worker,
        hypervisor.ps(kvm.kick_cycles),
        hypervisor.ps(kvm.interrupt_cycles),
        kvm.interrupt_latency_ps,
    )
    return worker
