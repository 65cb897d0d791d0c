"""A machine whose NICs steer what they receive, and flows that log who processed what."""

from typing import Any

from simnet.host.costs import SharedLines
from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Skb, Station
from simnet.net.nic.port import Nic
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.steering import PacketSteering, SocketFlowTable
from simnet.net.steering.version import SteeringRules
from tests.host.parts import MS, Agenda, make_costs, make_machine, make_memory
from tests.net.parts import Line, frame, make_buffers, make_tg3

#: RHEL 6.1
RHEL61 = SteeringRules(hash_bits=16, index_shift=32, symmetric=False, lookup3=False, batches=False)
#: 2.6.38
UPSTREAM = SteeringRules()
COSTS_NS = {
    "hardirq": 800,
    "softirq_entry": 300,
    "poll": 200,
    "driver_rx": 700,
    "skb_alloc": 100,
    "ip_rx": 500,
    "backlog": 250,
    "ipi": 400,
    "rps": 100,
}


class Flow(Endpoint):
    """A connection's receiving end: logs (time, CPU, sequence number)."""

    def __init__(self, sim: Simulator, number: int, work_ps: int = 900_000) -> None:
        super().__init__(sim, f"flow{number}")
        here, there = Station(1), Station(2)
        self.header = Header(there, here, 0x0A000001 + number, 0x0A00FF01, 1024 + number, 80)
        self.work_ps = work_ps
        self.log: list[tuple[int, int, int]] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        self.log.append((self.sim.now, cpu.cpu_id, skb.seq))
        return self.work_ps

    @property
    def cpus(self) -> set[int]:
        """CPUs that processed its packets."""
        return {cpu for _, cpu, _ in self.log}


class Host:
    """A machine with backlogs and NICs whose queue is on one CPU each."""

    def __init__(  # noqa: PLR0913 - one option a property of kernel, machine or administrator
        self,
        rules: SteeringRules = UPSTREAM,
        *,
        cpus: int = 4,
        queues: int = 1,
        rps_cpus: tuple[int, ...] = (),
        flow_entries: int = 0,
        socket_entries: int = 0,
        limit: int = 1000,
        weight: int = 64,
        seed: int = 12345,
        lines: int = 0,
        latency_ps: int = 0,
        rx_buffers: int = 200,
        skb_lines: int = 0,
        **layout: int,
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "host",
            make_costs(**COSTS_NS),
            make_memory(same_bus_dirty_ps=latency_ps),
            softirq_rules("2.6.32"),
            **({"cores_per_socket": cpus, "tick_ps": MS, "net_rx_time_limit_jiffies": 2} | layout),
        )
        self.cpus = self.machine.cpus
        self.agenda = Agenda(self.sim)
        self.sockets = SocketFlowTable(socket_entries, cpus, rules) if socket_entries else None
        self.backlogs = [
            Backlog(
                self.sim,
                f"{cpu.path}.backlog",
                cpu=cpu,
                weight=weight,
                limit=limit,
                costs=self.machine.costs,
                buffers=make_buffers(self.machine, skb_lines),
                lines=SharedLines(self.machine.memory, lines),
                rules=rules,
            )
            for cpu in self.cpus
        ]
        self.steerings: list[PacketSteering] = []
        self.nics: list[Nic] = []
        for queue in range(queues):
            nic = make_tg3(
                self.sim,
                self.machine,
                name=f"eth{queue}",
                rx_buffers=rx_buffers,
                rx_usecs_ps=0,
                rx_frames=1,
            )
            nic.line = Line(self.sim, 177 + queue, nic.name, self.cpus, 1 << queue)
            steering = PacketSteering(
                rules,
                self.backlogs,
                self.machine.costs,
                cpus=rps_cpus,
                flow_entries=flow_entries,
                sockets=self.sockets,
                seed=seed,
            )
            nic.steering = steering
            self.nics.append(nic)
            self.steerings.append(steering)

    def softirqs(self, cpu: int) -> SoftirqNetRx:
        """Of a CPU."""
        softirqs = self.cpus[cpu].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        return softirqs

    def record(self, flow: Flow, cpu: int) -> None:
        """A process reads the flow on a CPU."""
        assert self.sockets is not None
        self.sockets.record(flow.header.rxhash, cpu)

    def feed(self, packets: list[tuple[Flow, int]], queue: int = 0, spacing_ps: int = 0) -> None:
        """Frames that arrive one after the other, as (flow, sequence number)."""
        nic = self.nics[queue]
        arrival_ps = self.sim.now
        for flow, seq in packets:
            skb = frame(flow, seq, arrival_ps)
            skb.header = flow.header
            nic.incoming.append(skb)
            arrival_ps += spacing_ps
        nic.frames_added()

    def accounted(self) -> dict[str, Any]:
        """What became of all frames."""
        return {
            "ring": sum(nic.drops for nic in self.nics),
            "backlog": [backlog.drops for backlog in self.backlogs],
            "processed": sum(backlog.processed for backlog in self.backlogs),
            "local": sum(steering.local for steering in self.steerings),
            "waiting": sum(backlog.waiting for backlog in self.backlogs),
        }
