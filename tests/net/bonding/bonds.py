"""A bond of some NICs and clients with one port each, joined by a switch."""

from __future__ import annotations

from simnet.kernel.simulator import Simulator
from simnet.net.bonding.bond import MODES, Bond, BondRoute, Slave
from simnet.net.bonding.hash import transmit_hash
from simnet.net.bonding.monitor import SINGLE_PORT, BondMonitor, Timing
from simnet.net.bonding.rlb import Neighbour, Rlb
from simnet.net.link.skb import Header, Skb, Station, new_skb
from simnet.net.link.switch import Egress, Ingress, PortChannel
from simnet.net.nic.port import Nic
from tests.host.parts import MS, NS, US, make_costs, make_machine, make_memory
from tests.net.parts import GIGABIT, Far, Sink, make_tg3

BOND_MAC = 0x00_0D_60_00_00_0A
LATENCY_PS = 4 * US
JIFFY_PS = 4 * MS


def client_ip(number: int) -> int:
    """10.0.0.11 and so on."""
    return 0x0A00000B + number


class Client:
    """A station whose frames and ARP replies are logged."""

    def __init__(self, lab: BondLab, number: int) -> None:
        path = f"client{number}"
        self.port = Far(lab.sim, path)
        self.egress = lab.egress(self.port)
        self.ingress = Ingress(lab.sim, f"{path}.out", self.egress, 50 * NS, LATENCY_PS)
        self.station = Station(0x00_09_6B_00_00_10 + number)
        self.station.outlet = self.egress
        ip = client_ip(number)
        self.back = Header(self.station, lab.bond.station, ip, lab.ip, 5001, 40000)
        self.out = Header(lab.bond.station, self.station, lab.ip, ip, 40000, 5001)
        self.ingress.header = self.back
        policy = lab.policy
        chosen = transmit_hash(policy, self.out, lab.bond.station.mac)
        self.route = BondRoute(
            lab.sim, f"route{number}", lab.bond, self.out, hash_number=chosen, node=0
        )
        self.neighbour = Neighbour(lab.sim, f"arp{number}", ip, self.station, [self.back])

    def frames(self) -> list[Skb]:
        """Take what has come."""
        queue = self.port.incoming
        return [queue.pop() for _ in range(queue.count)]


class BondLab:
    """One bond in a given mode."""

    def __init__(  # noqa: PLR0913 - each with a default
        self,
        mode: str,
        slaves: int = 4,
        clients: int = 1,
        *,
        policy: str = "layer2",
        method: int = 0,
        miimon_ms: int = 100,
        updelay: int = 0,
        downdelay: int = 0,
        primary: int = -1,
        buffer_bytes: int = 200_000,
        costs: dict[str, int] | None = None,
        dirty_ns: int = 0,
        queue_lines: int = 0,
    ) -> None:
        self.sim = Simulator()
        self.policy = policy
        self.ip = 0x0A000001
        self.buffer_bytes = buffer_bytes
        memory = make_memory(same_bus_dirty_ps=dirty_ns * NS)
        self.machine = make_machine(
            self.sim, "host", make_costs(**(costs or {})), memory, cores_per_socket=2
        )
        number = MODES.index(mode)
        channel = None if number in SINGLE_PORT else PortChannel(self.sim, "channel", method)
        self.channel = channel
        self.bond = Bond(
            self.sim, "bond0", mode=number, costs=self.machine.costs, memory=memory, shared_lines=1
        )
        self.nics: list[Nic] = []
        for index in range(slaves):
            nic = make_tg3(self.sim, self.machine, name=f"eth{index}", queue_lines=queue_lines)
            egress = self.egress(nic)
            ingress = Ingress(self.sim, f"{nic.path}.out", channel or egress, 50 * NS, LATENCY_PS)
            nic.path_out = ingress
            self.bond.enslave(Slave(index, nic, ingress, egress, Station(BOND_MAC + index)))
            self.nics.append(nic)
        self.rlb = Rlb(self.bond) if mode == "balance-alb" else None
        self.monitor = BondMonitor(
            self.sim,
            "monitor",
            self.bond,
            Timing(miimon_ms * MS // JIFFY_PS, updelay, downdelay, JIFFY_PS),
            primary=primary,
            channel=channel,
            rlb=self.rlb,
        )
        self.clients = [Client(self, number) for number in range(clients)]
        self.sink = Sink(self.sim)
        if self.rlb is not None:
            for client in self.clients:
                self.rlb.reply_to(client.neighbour)

    def egress(self, port: Nic | Far) -> Egress:
        """A port of the switch."""
        return Egress(
            self.sim,
            f"to.{port.path}",
            port,
            rate_bps=GIGABIT,
            propagation_ps=50 * NS,
            buffer_bytes=self.buffer_bytes,
            per_frame=False,
        )

    def send(self, count: int = 1, client: int = 0, wire_bytes: int = 1538) -> None:
        """Send frames, numbered from 0, to a client in one burst."""
        route = self.clients[client].route
        for seq in range(count):
            route.transmit(new_skb(self.sink, seq, seq + 1, 0, 0, wire_bytes, push=False))
        route.flush()

    def come(self, client: int = 0, count: int = 1) -> None:
        """Have a client send frames to the bond, back to back."""
        for number in range(count):
            skb = new_skb(self.sink, number, number + 1, 0, 0, 1538, push=False)
            self.clients[client].ingress.send(skb, self.sim.now + (number + 1) * 12_304_000)

    def sent(self) -> list[int]:
        """Frames that each slave has sent."""
        return [nic.tx.sent for nic in self.nics]

    def received(self) -> list[int]:
        """Frames that the switch has sent to each slave."""
        return [slave.egress.frames for slave in self.bond.slaves]

    def charged(self, client: int = 0) -> list[int]:
        """The slaves whose transmit side the next frame to a client pays for.

        Their queues' lines go to the CPU that sends; another finds them there.
        """
        sender, other = self.machine.cpus
        for nic in self.nics:
            nic.transmit_cost_ps(other)
        self.clients[client].route.transmit_cost_ps(sender)
        return [number for number, nic in enumerate(self.nics) if nic.transmit_cost_ps(other) > 0]

    def run(self, length_ps: int = MS) -> BondLab:
        """Simulate."""
        self.sim.run_until(self.sim.now + length_ps)
        return self

    def pull(self, slave: int, at_ps: int) -> None:
        """Pull a cable."""
        self.monitor.set_cable(slave, at_ps, plugged=False)

    def plug(self, slave: int, at_ps: int) -> None:
        """Plug it again."""
        self.monitor.set_cable(slave, at_ps, plugged=True)
