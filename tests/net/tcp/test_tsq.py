"""What a device frees lets a connection send again (net/ipv4/tcp_output.c of Linux 5.4).

Segments of 1000 bytes, 65 in a large one; a large one is 65 us on a wire of 8 Gbit/s.
"""

from typing import Any

from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.skb import Skb
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.host.parts import US
from tests.net.nic.connectx import Bench
from tests.net.parts import ack, make_congestion, make_socket, on_wire

LARGE = 65_000
TRUESIZE = 1250


class Host:
    """A socket on a ConnectX, whose process may own it."""

    def __init__(self, version: str = "5.4", **sender: Any) -> None:
        self.bench = Bench(
            tso=True, costs={"tcp_tx": 900}, device={"rate_bps": 8 * 10**9}, tx=(0, 1)
        )
        usual = {"congestion": make_congestion("reno", 10_000), "wmem_max": 1 << 30, "tso": True}
        self.socket = make_socket(
            self.bench.sim,
            self.bench.machine,
            self.bench.nic,
            sender=usual | {"rules": sender_rules(version)} | sender,
        )
        self.socket.sender.open_window(100 << 20)

    def send(self, length: int) -> list[int]:
        """A process sends; return lengths of frames."""
        self.socket.lock(self.bench.cpu)
        self.socket.sender.seq.write(length, end_of_send=True)
        self.socket.push(self.bench.cpu)
        self.socket.send_staged()
        return self.frames()

    def frames(self) -> list[int]:
        """Lengths of what has been put on the wire since the last call."""
        sent: list[Skb] = on_wire(self.bench.nic)
        return [skb.end_seq - skb.seq for skb in sent]

    def wait(self, us: int) -> list[int]:
        """Let time pass; return what is sent then."""
        self.bench.sim.run_until(self.bench.sim.now + us * US)
        return self.frames()

    @property
    def held(self) -> int:
        """Memory of what the device holds."""
        return int(self.socket.sender.output.small_queue.wmem_alloc)


def leave(host: Host) -> list[int]:
    """The process leaves the system call; return what is sent then."""
    host.socket.unlock(host.bench.cpu)
    return host.frames()


class TestMemory:
    def test_what_the_device_holds(self) -> None:
        host = Host()
        assert host.send(2 * LARGE) == [1000] * 130
        assert host.held == 130 * TRUESIZE
        host.wait(100)
        assert host.held == 65 * TRUESIZE
        host.wait(100)
        assert host.held == 0

    def test_earlier_kernels_do_not_ask(self) -> None:
        host = Host("4.18")
        # what the ring takes
        assert len(host.send(3_000_500)) == 1023
        assert host.socket.sender.output.small_queue is None

    def test_its_bound_follows_the_window_and_the_round_trip_of_each_ack(self) -> None:
        host = Host()
        sender: Any = host.socket.sender
        host.send(LARGE)
        leave(host)
        host.wait(100)
        host.socket.receive(ack(host.socket, LARGE, 100 << 20), host.bench.cpu)
        # slow start: twice the window in a round trip, of which srtt has eight
        a_second = 1000 * 80_000 * 200 * sender.congestion.cwnd // sender.timer.rtt.srtt
        assert sender.timer.rtt.srtt == 800
        assert sender.output.small_queue.pacing == a_second >> 10


class TestAutocorking:
    def test_what_is_not_full_waits_for_the_device(self) -> None:
        host = Host()
        assert host.send(LARGE + 2500) == [1000] * 65
        assert leave(host) == []
        assert host.wait(60) == []
        # the large one has left: the tasklet sends
        assert host.wait(20) == [1000, 1000, 500]
        assert host.wait(1000) == []

    def test_or_for_more_data_that_fill_it(self) -> None:
        host = Host()
        host.send(LARGE + 2500)
        leave(host)
        assert host.send(LARGE) == [1000] * 65
        assert leave(host) == []
        assert host.wait(100) == [1000, 1000, 500]

    def test_or_for_an_acknowledgement(self) -> None:
        host = Host()
        host.send(LARGE + 2500)
        leave(host)
        host.socket.receive(ack(host.socket, LARGE, 100 << 20), host.bench.cpu)
        assert host.frames() == [1000, 1000, 500]

    def test_the_process_that_owns_the_socket_sends_as_it_leaves(self) -> None:
        host = Host()
        host.send(LARGE + 2500)
        assert host.wait(200) == []
        assert leave(host) == [1000, 1000, 500]
        assert leave(host) == []

    def test_nothing_else_on_its_way(self) -> None:
        host = Host()
        assert host.send(2500) == [1000, 1000, 500]

    def test_less_than_a_segment_at_its_end_is_part_of_a_large_one(self) -> None:
        costs = []
        for length in (3000, 3500):
            host = Host()
            host.socket.sender.output.nodelay = True
            host.send(length)
            costs.append(host.bench.machine.costs.ledger.tcp_send)
        assert costs[0] == costs[1]

    def test_all_that_was_sent_is_acknowledged(self) -> None:
        host = Host()
        host.send(LARGE)
        leave(host)
        host.socket.receive(ack(host.socket, LARGE, 100 << 20), host.bench.cpu)
        assert host.held > 0
        assert host.send(500) == [500]


class TestLimit:
    def test_a_megabyte_and_then_one_for_one(self) -> None:
        host = Host()
        # 13 x 65 x 1250 bytes are more than 1 MiB
        assert len(host.send(3_000_000)) == 13 * 65
        leave(host)
        assert host.wait(60) == []
        assert len(host.wait(20)) == 65
        assert len(host.wait(65)) == 65

    def test_several_freed_at_once_run_the_tasklet_once(self) -> None:
        host = Host()
        host.send(3_000_000)
        leave(host)
        softirqs: Any = host.bench.cpu.softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        before = softirqs.polls
        host.wait(75)
        # the device's poll and the tasklet
        assert softirqs.polls - before == 2
