"""One connection's packets on several CPUs: what lowest-priority delivery costs in cache lines."""

from simnet.host.apic import Apic, ApicMode
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, NS, make_costs, make_machine, make_memory
from tests.net.parts import make_socket, make_tg3, segment

SOCKET_LINES = 5
SAME_BUS_NS, REMOTE_NS = 120, 500
PACKETS = 40


class Host:
    """Two nodes of two CPUs; a segment a millisecond comes in, each with its own interrupt."""

    def __init__(self, destination: str, mask: int) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "host",
            make_costs(tcp_rx=1000, driver_rx=700, hardirq=2000),
            make_memory(
                2, None, same_bus_dirty_ps=SAME_BUS_NS * NS, remote_dirty_ps=REMOTE_NS * NS
            ),
            nodes=2,
            cores_per_socket=2,
        )
        self.machine.apic = Apic(self.machine.cpus, ApicMode("test", destination))
        # sent ACKs are completed with the next segment's interrupt
        self.nic = make_tg3(
            self.sim,
            self.machine,
            tx_usecs_ps=1000 * MS,
            tx_frames=10**6,
            tx_usecs_irq_ps=1000 * MS,
            tx_frames_irq=10**6,
        )
        self.nic.line = self.machine.apic.line(177, "eth0", mask)
        self.socket: TcpSocket = make_socket(
            self.sim, self.machine, self.nic, shared_lines=SOCKET_LINES, low_latency=True
        )
        for number in range(PACKETS):
            skb = segment(self.socket, 1000 * number)
            skb.arrival_ps = (number + 1) * MS
            self.nic.incoming.append(skb)
        self.nic.frames_added()
        self.sim.run_until((PACKETS + 2) * MS)

    def socket_ns(self) -> int:
        """What lines of the socket cost, per packet."""
        return int(self.machine.costs.ledger.work()["socket_lines"]) // PACKETS // NS


def test_one_cpu_of_the_mask_keeps_the_socket_in_its_cache() -> None:
    host = Host("first", 0b1111)
    assert host.nic.line.counts == [PACKETS, 0, 0, 0]
    assert host.socket_ns() == 0


def test_two_cpus_of_a_socket_take_the_lines_from_each_other() -> None:
    host = Host("all", 0b0011)
    assert host.nic.line.counts == [PACKETS // 2, PACKETS // 2, 0, 0]
    expected = SOCKET_LINES * SAME_BUS_NS * (PACKETS - 1) // PACKETS
    assert host.socket_ns() == expected


def test_cpus_of_two_nodes_pay_more() -> None:
    host = Host("all", 0b0101)
    assert host.socket_ns() == SOCKET_LINES * REMOTE_NS * (PACKETS - 1) // PACKETS


def test_all_packets_arrive_in_order_whatever_the_mode() -> None:
    for destination in ("first", "all"):
        host = Host(destination, 0b1111)
        assert host.socket.receiver.seq.rcv_nxt == 1000 * PACKETS
        assert host.socket.receiver.readable() > 0


def test_the_cost_is_all_that_changes() -> None:
    one, spread = (
        Host(destination, 0b0011).machine.costs.ledger.work() for destination in ("first", "all")
    )
    changed = {name for name in one if one[name] != spread[name]}
    assert "socket_lines" in changed
    assert not changed & {"tcp_rx", "driver", "hardirq"}
