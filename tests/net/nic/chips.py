"""A device of each driver on a machine of two nodes whose costs are all different."""

from typing import Any

from simnet.host.cpu import Cpu
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, gro_rules
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.cxgb4 import Cxgb4
from simnet.net.nic.e1000 import E1000
from simnet.net.nic.e1000e import E1000e
from simnet.net.nic.port import Nic
from simnet.net.nic.tg3 import Tg3
from tests.host.parts import MS, make_costs, make_machine, make_memory
from tests.net.parts import US, Line, Sink, connect, frame, make_device

COSTS = {
    "hardirq": 1000,
    "softirq_entry": 40,
    "poll": 500,
    "driver_rx": 1500,
    "skb_alloc": 200,
    "ip_rx": 300,
    "tx_completion": 90,
}
MEMORY = {
    "local_ps": 100_000,
    "remote_ps": 300_000,
    "remote_dirty_ps": 410_000,
    "mmio_write_ps": 200_000,
    "mmio_hop_ps": 70_000,
}
ENGINES: dict[str, Any] = {
    "rx_frames": 1,
    "rx_frames_irq": 1,
    "rx_usecs_ps": 20 * US,
    "rx_usecs_irq_ps": 20 * US,
    "tx_frames": 2,
    "tx_frames_irq": 2,
    "tx_usecs_ps": 20 * US,
    "tx_usecs_irq_ps": 20 * US,
    "shared_update": False,
}
# holds nothing: all may share it
NO_GRO = Gro(gro_rules("3.8"), enabled=False)
CHIPS: dict[type[Nic], dict[str, Any]] = {
    Tg3: ENGINES,
    Bnx2: ENGINES | {"clrtick": False},
    E1000: {"throttle_ps": 0, "tx_delay_ps": US},
    E1000e: {"interrupt_throttle_rate": 0, "tx_delay_ps": US},
    Cxgb4: {"holdoff_ps": 0, "frames": 1, "gro": NO_GRO, "tso": False},
}


class Bench:
    """A device on one of two nodes; the CPU of node 0, `near`, takes its interrupts."""

    def __init__(self, chip: type[Nic], *, node: int, **lines: Any) -> None:
        self.sim = Simulator()
        self.machine: Machine = make_machine(
            self.sim, "host", make_costs(**COSTS), make_memory(2, None, **MEMORY), nodes=2
        )
        device = make_device(self.sim, self.machine, node=node, **lines)
        self.nic: Nic = chip(device, **CHIPS[chip])
        self.nic.line = Line(self.sim, 50, "eth0", self.machine.cpus, 1)
        connect(self.nic)
        self.near, self.far = self.machine.cpus

    def booked(self) -> dict[str, int]:
        """What is in the books, in ns; it is what the CPUs have done."""
        work = {name: ps // 1000 for name, ps in self.machine.costs.ledger.work().items() if ps}
        times = [cpu.times() for cpu in self.machine.cpus]
        done = sum(each["irq_ps"] + each["softirq_ps"] for each in times)
        assert done == sum(self.machine.costs.ledger.work().values())
        return work

    def send(self, cpu: Cpu, count: int = 1) -> None:
        """Put frames on the wire that a CPU has written."""
        for number in range(count):
            skb = frame(Sink(self.sim, f"{cpu.cpu_id}.{number}.{self.sim.now}"))
            skb.toucher = cpu
            self.nic.transmit(skb)
        self.nic.flush()
        self.sim.run_until(self.sim.now + MS)
