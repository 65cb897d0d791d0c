"""Build what a host's kernel has to steer received packets to other CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.host.costs import Buffers, SharedLines
from simnet.kernel.random import stream
from simnet.net.nic.multiqueue import MultiqueuePort, queues_of
from simnet.net.steering.arfs import Arfs
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.steering import PacketSteering, SocketFlowTable
from simnet.net.steering.version import steering_rules
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.system.system import DropCount

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.machine import Machine
    from simnet.kernel.simulator import Simulator
    from simnet.net.nic.port import Nic
    from simnet.net.steering.arfs import ArfsDriver
    from simnet.net.tcp.socket import TcpSocket
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.system.ground import Ground


def steer_host(sim: Simulator, host: Host, machine: Machine, *, seed: int) -> HostSteering | None:
    """What steers a host's received packets; None where nothing is set that would."""
    if not host.kernel.rps or not any(
        any(port.rps_cpus) or any(port.rps_flow_cnt) for port in host.ports
    ):
        return None
    return HostSteering(sim, host, machine, seed)


def steering_of(ground: Ground, machine: Machine, host: Host) -> HostSteering | None:
    """What steers a machine's received packets, the same for all its ports.

    Those of the system under test are attached already.
    """
    name = _kept_as(machine)
    if name not in ground.kept:
        made = ground.kept[name] = steer_host(ground.sim, host, machine, seed=ground.seed)
        if made and machine is ground.machine:
            for nic, port in zip(ground.ports, host.ports, strict=True):
                made.attach_port(nic, port, ground.seed)
    found: HostSteering | None = ground.kept[name]
    return found


def backlogs_of(ground: Ground, machine: Machine, host: Host) -> HostSteering:
    """The same of a machine whose packets pass backlogs in any case: it is never None from now."""
    found = steering_of(ground, machine, host)
    if found is None:
        found = ground.kept[_kept_as(machine)] = HostSteering(
            ground.sim, host, machine, ground.seed
        )
    return found


def _kept_as(machine: Machine) -> str:
    return f"steering of {machine.path}"


class HostSteering:
    """The backlogs and flow tables of one host, for its receive queues and sockets.

    Args:
        host: the configuration; its kernel has RPS.
        machine: the machine made of it.
        seed: of all random streams; the kernel's hash has a secret of its own from it.
    """

    def __init__(self, sim: Simulator, host: Host, machine: Machine, seed: int) -> None:
        kernel = host.kernel
        self.host = host
        self.costs = machine.costs
        self.rules = steering_rules(kernel.version, kernel.rxhash_bits, kernel.rps_index_shift)
        self.hash_seed = stream(seed, f"{machine.path}.hashrnd").below(1 << 32)
        self.sockets: SocketFlowTable | None = None  # `rps_sock_flow_entries`; None for no table
        if kernel.rps_sock_flow_entries:
            self.sockets = SocketFlowTable(
                kernel.rps_sock_flow_entries, len(machine.cpus), self.rules
            )
        self.queues: list[PacketSteering] = []  # the steerings attached so far
        self.accelerators: list[Arfs] = []  # of the ports whose drivers steer flows
        self.backlogs: list[Backlog] = []  # one a CPU, by number
        for cpu in machine.cpus:
            backlog = Backlog(
                sim,
                f"{cpu.path}.backlog",
                cpu=cpu,
                weight=kernel.dev_weight,
                limit=kernel.netdev_max_backlog,
                costs=machine.costs,
                buffers=Buffers(
                    machine.memory, machine.costs.ledger, kernel.skb_lines, kernel.slab_lines
                ),
                lines=SharedLines(machine.memory, kernel.softnet_lines),
                rules=self.rules,
            )
            backlog.spread = make_spread(host, backlog.path, seed)
            self.backlogs.append(backlog)

    def attach(self, queue: Nic, port: Port, number: int, seed: int) -> None:
        """Steer what a receive queue gets, if a map or a flow table of it is set.

        Args:
            queue: the queue.
            port: what it belongs to.
            number: of the queue at its port.
            seed: of all random streams.
        """
        cpus, entries = port.set_of(number, "rps_cpus"), port.set_of(number, "rps_flow_cnt")
        if not cpus and not entries:
            return
        steering = self.steers(queue.path, cpus, seed, flow_entries=entries, sockets=self.sockets)
        queue.steering = steering
        self.queues.append(steering)

    def steers(self, path: str, cpus: Sequence[int], seed: int, **flows: Any) -> PacketSteering:
        """RPS of a device or queue, to some CPUs, by the hash that all of the host's use.

        Args:
            path: component path of the device or queue.
            cpus: that packets are spread over; empty for none.
            seed: of all random streams.
            flows: tables of flows, see `PacketSteering`.
        """
        made = PacketSteering(
            self.rules, self.backlogs, self.costs, cpus=cpus, seed=self.hash_seed, **flows
        )
        made.spread = make_spread(self.host, f"{path}.steering", seed)
        return made

    def attach_port(self, made: Nic | MultiqueuePort, port: Port, seed: int) -> None:
        """Steer what each queue of a port gets; see `attach`."""
        for number, queue in enumerate(queues_of(made)):
            self.attach(queue, port, number, seed)
        if isinstance(made, MultiqueuePort) and isinstance(port.nic, FlowSteering):
            driver = port.nic.rx_flow_steer(self.host.kernel.version)
            if driver and self.sockets is not None and any(port.rps_flow_cnt):
                self._accelerate(made, driver)

    def _accelerate(self, port: MultiqueuePort, driver: ArfsDriver) -> None:
        """Have the driver of a port ask for the queues of the CPUs that flows move to."""
        self.accelerators.append(
            Arfs(
                port.sim,
                f"{port.path}.flow_steer",
                driver=driver,
                rules=port.obey_rules(),
                lines=port.lines,
                queues=[
                    queue.steering if isinstance(queue.steering, PacketSteering) else None
                    for queue in port.queues
                ],
                backlogs=self.backlogs,
                cpus=[backlog.home for backlog in self.backlogs],
            )
        )

    def follow(self, socket: TcpSocket) -> None:
        """Have a socket record on which CPU it is read and written."""
        if self.sockets is not None:
            socket.flows = self.sockets

    def drops(self) -> dict[str, int]:
        """Packets dropped so far by the backlogs, by the name of the CPU."""
        return {one.path.split(".")[-2]: one.drops for one in self.backlogs}


def backlog_drops(steering: HostSteering | None) -> tuple[DropCount, ...]:
    """Return what the backlogs of CPUs have dropped, as a system's places of loss."""
    counts = steering.drops() if steering else {}
    return tuple(DropCount("backlog", cpu, count) for cpu, count in counts.items())
