"""What each step of a TCP socket costs, on which CPU, and where it is booked.

Two nodes with a CPU each: a line of the own node's memory takes 100 ns, of the other's 250 ns, one
that the other CPU has written 400 ns. Lines have 128 bytes.
"""

from typing import Any

import pytest

from simnet.host.costs import Buffers, Spread
from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Port, Skb, Station, new_skb
from simnet.net.steering.steering import SocketFlowTable
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, NS, make_costs, make_machine, make_memory
from tests.net.parts import ack, make_socket, segment
from tests.net.steering.steered import UPSTREAM

COSTS = {
    "tcp_rx": 1400,
    "tcp_tx": 1700,
    "ack_rx": 300,
    "ack_tx": 900,
    "skb_free": 350,
    "backlog": 100,
    "wakeup": 800,
    "copy_line": 40,
    "csum_line": 7,
}


class Wire(Port):
    """A port that takes 11 ns a frame, or 1 ns a byte more; keeps what it is given."""

    def __init__(self, sim: Simulator, node: int) -> None:
        super().__init__(sim, "wire", 64, node)
        self.sent: list[Skb] = []
        self.flushes = 0

    def transmit(self, skb: Skb) -> int:
        self.sent.append(skb)
        return 0

    def flush(self) -> int:
        self.flushes += 1
        return 0

    def transmit_cost_ps(self, cpu: Cpu) -> int:  # noqa: ARG002 - as every port
        return 11 * NS

    def length_cost_ps(self, cpu: Cpu, wire_bytes: int) -> int:  # noqa: ARG002
        return wire_bytes * NS


class Host:
    """A machine with a socket on `wire`, whose device is on `node`."""

    def __init__(
        self, *, node: int = 0, copy_overlap: int = 1, stores_overlap: bool = False, **options: Any
    ) -> None:
        self.sim = Simulator()
        memory = make_memory(2, local_ps=100 * NS, remote_ps=250 * NS, remote_dirty_ps=400 * NS)
        costs = make_costs(copy_overlap, stores_overlap=stores_overlap, **COSTS)
        self.machine = make_machine(self.sim, "host", costs, memory, nodes=2)
        self.ledger = self.machine.costs.ledger
        self.cpus = self.machine.cpus
        self.wire = Wire(self.sim, node)
        buffers = Buffers(self.machine.memory, self.ledger, 3, 2)
        lines: dict[str, Any] = {"shared_lines": 5, "runqueue_lines": 6, "buffers": buffers}
        self.socket: TcpSocket = make_socket(self.sim, self.machine, self.wire, **(lines | options))

    def booked(self) -> dict[str, int]:
        """What has been booked since the last call, in ns."""
        found = {name: work // NS for name, work in self.ledger.work().items() if work}
        for name in found:
            setattr(self.ledger, name, 0)
        return found

    def arrives(self, skb: Skb, cpu: int = 0, *, toucher: int = 0) -> int:
        """Hand over a segment that `toucher` has allocated; return the work in ns."""
        skb.toucher = self.cpus[toucher]
        work = int(self.socket.receive(skb, self.cpus[cpu]))
        assert work % NS == 0
        return work // NS


class TestCopy:
    @pytest.mark.parametrize(
        ("length", "lines"), [(0, 0), (1, 1), (127, 1), (128, 1), (129, 2), (1000, 8), (1024, 8)]
    )
    def test_whole_lines(self, length: int, lines: int) -> None:
        host = Host()
        assert host.socket.rx_costs.copy_ps(host.cpus[0], length, 0, 0) == lines * 40 * NS
        assert host.booked() == ({"copy": lines * 40} if lines else {})
        assert host.socket.tx_costs.copy_ps(host.cpus[0], length) == lines * 40 * NS
        assert host.booked() == ({"copy": lines * 40} if lines else {})

    def test_payload_comes_from_where_it_lies_or_was_written(self) -> None:
        host = Host()
        places = ((0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 0, 1), (1, 1, 0))
        for cpu, home, writer in (*places, (1, 0, 0), (0, 0, 0)):
            far = 3 * 150 if {home, writer} != {cpu} else 0
            work = host.socket.rx_costs.copy_ps(host.cpus[cpu], 300, home, writer)
            assert work == (3 * 40 + far) * NS
            assert host.booked() == {"copy": 120} | ({"copy_lines": far} if far else {})

    def test_several_fetches_overlap_in_whole_nanoseconds(self) -> None:
        host = Host(copy_overlap=4)
        # 3 x 150 ns, a quarter of which is 112.5
        assert host.socket.rx_costs.copy_ps(host.cpus[0], 300, 1, 0) == (120 + 112) * NS
        assert host.booked() == {"copy": 120, "copy_lines": 112}

    def test_buffers_that_a_device_has_read_come_back_line_by_line(self) -> None:
        host = Host(node=1, copy_overlap=4)
        assert host.socket.tx_costs.copy_ps(host.cpus[0], 300) == (120 + 3 * 150) * NS
        assert host.booked() == {"copy": 120, "copy_lines": 450}
        assert host.socket.tx_costs.copy_ps(host.cpus[1], 300) == 120 * NS

    def test_a_cpu_that_asks_for_them_ahead_waits_for_several_at_once(self) -> None:
        host = Host(node=1, copy_overlap=4, stores_overlap=True)
        assert host.socket.tx_costs.copy_ps(host.cpus[0], 300) == (120 + 112) * NS
        assert host.booked() == {"copy": 120, "copy_lines": 112}
        assert host.socket.tx_costs.copy_ps(host.cpus[1], 300) == 120 * NS

    def test_from_the_queue_buffers_are_freed(self) -> None:
        host = Host()
        cpu = host.cpus[0]
        host.arrives(segment(host.socket, 0))
        assert host.socket.receiver.delack.rcv_mss == 1000
        host.booked()
        for length, buffers in ((1000, 1), (1001, 2), (2000, 2), (3001, 4)):
            lines = -(-length // 128)
            work = host.socket.queued_copy_cost_ps(cpu, length)
            assert work == (lines * 40 + buffers * 350) * NS
            assert host.booked() == {"copy": lines * 40, "tcp_receive": buffers * 350}

    def test_what_the_driver_has_merged_is_one_buffer(self) -> None:
        host = Host()
        merged = segment(host.socket, 0, 3000)
        merged.segment_bytes = 1000
        host.arrives(merged)
        host.booked()
        assert host.socket.queued_copy_cost_ps(host.cpus[0], 3000) == (24 * 40 + 350) * NS
        assert host.socket.queued_copy_cost_ps(host.cpus[0], 3001) == (24 * 40 + 2 * 350) * NS
        host.arrives(segment(host.socket, 3000))
        assert host.socket.queued_copy_cost_ps(host.cpus[0], 3000) == (24 * 40 + 3 * 350) * NS

    def test_the_queue_lies_where_the_last_segment_was_put(self) -> None:
        host = Host(node=1)
        # nothing has come: where the device is
        assert host.socket.queued_copy_cost_ps(host.cpus[0], 128) == (40 + 350 + 150) * NS
        for home, writer in ((0, 0), (1, 0), (0, 1)):
            skb = segment(host.socket, host.socket.receiver.seq.rcv_nxt)
            skb.home_node, skb.writer_node = home, writer
            host.arrives(skb)
            far = 150 if home or writer else 0
            assert host.socket.queued_copy_cost_ps(host.cpus[0], 128) == (390 + far) * NS


class TestReceive:
    def test_an_acknowledgement(self) -> None:
        host = Host()
        assert host.arrives(ack(host.socket, 0)) == 300
        assert host.booked() == {"tcp_ack": 300}
        assert host.socket.freer is host.cpus[0]

    def test_data_and_the_ack_for_them(self) -> None:
        host = Host()
        assert host.arrives(segment(host.socket, 0)) == 1400 + 900 + 11
        assert host.booked() == {"tcp_receive": 1400, "tcp_ack": 900}
        assert host.socket.softirq_processed == 1

    @pytest.mark.parametrize(("length", "usual"), [(0, {"tcp_ack": 300}), (1000, {})])
    def test_a_buffer_from_another_cpu_is_fetched(self, length: int, usual: dict[str, int]) -> None:
        host = Host()
        skb = segment(host.socket, 0, length)
        skb.toucher = host.cpus[1]
        work = host.socket.process_cost_ps(skb, host.cpus[0], False)  # noqa: FBT003
        # its lines, and those of the other node's slab
        assert work == (5 * 400 + (1400 if length else 300)) * NS
        assert host.booked() == (usual or {"tcp_receive": 1400}) | {"skb_lines": 2000}

    def test_a_copy_straight_to_the_reader(self) -> None:
        host = Host(checksum_by_cpu=True)
        skb = segment(host.socket, 0)
        skb.home_node = 1
        work = host.socket.process_cost_ps(skb, host.cpus[0], True)  # noqa: FBT003
        assert work == (1400 + 350 + 8 * 40 + 8 * 150 + 8 * 7) * NS
        assert host.booked() == {
            "tcp_receive": 1750,
            "copy": 320,
            "copy_lines": 1200,
            "checksum": 56,
        }

    @pytest.mark.parametrize("by_cpu", [False, True])
    def test_checksums_only_where_no_device_computes_them(self, by_cpu: bool) -> None:  # noqa: FBT001
        host = Host(checksum_by_cpu=by_cpu)
        for length, lines in ((128, 1), (129, 2)):
            extra = 7 * lines if by_cpu else 0
            work = host.socket.tx_costs.copy_ps(host.cpus[0], length)
            assert work == (40 * lines + extra) * NS
            assert host.booked().get("checksum", 0) == extra

    def test_luck_is_booked_as_receiving(self) -> None:
        host = Host(spread=Spread(7, 100))
        skb = segment(host.socket, 0)
        expected = Spread(7, 100).vary(1400 * NS)
        assert host.socket.process_cost_ps(skb, host.cpus[0], False) == expected  # noqa: FBT003
        assert expected != 1400 * NS
        assert host.booked() == {"tcp_receive": expected // NS}
        plain = Host().socket
        assert [plain.rx_costs.spread.vary(1400 * NS) for _ in range(3)] == [1400 * NS] * 3

    def test_the_socket_s_lines_follow_who_uses_it(self) -> None:
        host = Host()
        assert host.arrives(ack(host.socket, 0)) == 300
        assert host.arrives(ack(host.socket, 0), 1, toucher=1) == 300 + 5 * 400
        assert host.arrives(ack(host.socket, 0), 1, toucher=1) == 300
        assert host.booked() == {"tcp_ack": 900, "socket_lines": 2000}
        assert host.socket.lock(host.cpus[0]) == 2000 * NS
        assert host.socket.lock(host.cpus[0]) == 0
        assert host.booked() == {"socket_lines": 2000}

    def test_while_a_process_owns_it_segments_wait(self) -> None:
        host = Host()
        host.socket.lock(host.cpus[0])
        assert host.arrives(segment(host.socket, 0)) == 100
        assert host.arrives(segment(host.socket, 1000), 1) == 100 + 2000
        assert host.booked() == {"tcp_receive": 200, "socket_lines": 2000}
        assert (host.socket.backlog.count, host.socket.backlogged) == (2, 2)
        assert (host.socket.ucopy.prequeued, host.socket.softirq_processed) == (0, 0)

    def test_the_latency_of_each_segment_is_kept(self) -> None:
        host = Host()
        host.sim.run_until(MS)
        for number, arrival_ps in enumerate((MS, 0, 0)):
            skb = segment(host.socket, 1000 * number)
            skb.arrival_ps = arrival_ps
            host.arrives(skb)
        host.arrives(ack(host.socket, 0))
        (at_once, one), (later, two) = host.socket.latency_buckets()
        assert (one, two) == (1, 2)
        assert at_once < NS
        assert later == pytest.approx(MS, rel=1 / 64)

    def test_all_work_is_booked_but_what_the_port_says(self) -> None:
        host = Host()
        total = 0
        for number in range(40):
            total += host.arrives(segment(host.socket, 1000 * number), number // 7 % 2)
            host.socket.read_queue(500)
        assert sum(host.booked().values()) == total - 11 * host.socket.acks_sent
        assert host.socket.delivered == 20_000
        assert host.socket.acks_sent == len(host.wire.sent) > 10


class TestCollapse:
    def test_copying_the_queue_together_takes_lines(self) -> None:
        small = {"rmem_default": 20_000, "truesize_overhead": 0, "rcvbuf_locked": True}
        host = Host(receiver=small | {"truesize_overhead": 1500})
        socket = host.socket
        sizes = []
        seq = 0
        while not socket.rx_costs.collapses and seq < 4000:
            before = host.arrives(segment(socket, seq, 100))
            sizes.append(before - 1400 - (911 if socket.receiver.seq.rcv_wup == seq + 100 else 0))
            seq += 100
        assert socket.rx_costs.collapses == 1
        copied = socket.receiver.seq.rcv_nxt - 100
        assert sizes[-1] == -(-copied // 128) * 40
        assert set(sizes[:-1]) == {0}
        assert host.booked()["tcp_receive"] == 1400 * len(sizes) + sizes[-1]
        assert socket.receiver.memory.collapsed == 0


class TestSend:
    def test_an_ack_has_at_least_the_smallest_frame(self) -> None:
        for header_bytes, wire_bytes in ((40, 84), (46, 84), (47, 85), (52, 90)):
            host = Host(header_bytes=header_bytes)
            host.socket.header = header = Header(Station(1), Station(2))
            assert host.socket.send_ack(host.cpus[0]) == (900 + 11) * NS
            (frame,) = host.wire.sent
            assert (frame.wire_bytes, frame.seq, frame.end_seq) == (wire_bytes, 0, 0)
            assert frame.header is header
            assert frame.toucher is host.cpus[0]
            assert frame.endpoint is host.socket.remote
            assert (host.wire.flushes, host.socket.acks_sent) == (1, 1)
            assert host.booked() == {"tcp_ack": 900}

    def test_a_port_that_copies_takes_longer_for_longer_frames(self) -> None:
        host = Host()
        host.wire.copies = True
        assert host.socket.send_ack(host.cpus[0]) == (900 + 11 + 90) * NS
        host.socket.sender.seq.write(1500, True)  # noqa: FBT003
        # 1090 and 590 bytes with headers, preamble and gap
        assert host.socket.output(host.cpus[0]) == (2 * (1700 + 11) + 1090 + 590) * NS
        assert [frame.wire_bytes for frame in host.wire.sent] == [90, 1090, 590]

    def test_each_segment_is_made_and_handed_over(self) -> None:
        host = Host()
        host.socket.header = header = Header(Station(1), Station(2))
        assert host.socket.output(host.cpus[0]) == 0
        assert (host.wire.flushes, host.booked()) == (0, {})
        host.socket.sender.seq.write(5000, True)  # noqa: FBT003
        # three segments are the first window
        assert host.socket.output(host.cpus[0]) == 3 * (1700 + 11) * NS
        assert host.booked() == {"tcp_send": 3 * 1700}
        assert [(frame.seq, frame.end_seq) for frame in host.wire.sent] == [
            (0, 1000),
            (1000, 2000),
            (2000, 3000),
        ]
        assert all(frame.header is header for frame in host.wire.sent)
        # nothing has come that could be acknowledged
        assert {frame.ack for frame in host.wire.sent} == {0}
        assert host.wire.flushes == 1

    def test_data_acknowledge_what_has_come(self) -> None:
        host = Host()
        host.arrives(segment(host.socket, 0))
        host.wire.sent.clear()
        host.arrives(segment(host.socket, 1000, 100))
        host.socket.sender.seq.write(1000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        assert host.wire.sent[-1].ack == 1100
        assert not host.socket.receiver.delack.scheduled

    def test_buffers_that_are_acknowledged_elsewhere_are_fetched(self) -> None:
        host = Host()
        host.socket.sender.seq.write(3000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        host.booked()
        # one of another CPU: of each segment three lines, and two of the slab
        assert host.arrives(ack(host.socket, 2000), 1, toucher=1) == 300 + 2 * 5 * 400
        assert host.booked() == {"tcp_ack": 300, "skb_lines": 4000}
        assert host.arrives(ack(host.socket, 3000)) == 300 + 5 * 400
        assert host.booked() == {"tcp_ack": 300, "socket_lines": 2000}

    def test_an_ack_that_rides_on_data_lets_go_on(self) -> None:
        host = Host()
        host.socket.sender.seq.write(6000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        answer = new_skb(host.socket, 0, 100, 2000, 1 << 20, 190, False)  # noqa: FBT003
        host.booked()
        work = host.arrives(answer)
        # two segments are acknowledged, so that more may go; with them goes the ACK
        frames = host.wire.sent[3:]
        assert work == 1400 + len(frames) * 1711
        assert [frame.seq for frame in frames] == [3000, 4000, 5000]
        assert {frame.ack for frame in frames} == {100}
        assert host.socket.acks_sent == 0


class TestFlows:
    def test_a_process_leaves_its_cpu_where_packets_are_steered_by_it(self) -> None:
        host = Host()
        table = SocketFlowTable(8, 2, UPSTREAM)
        socket = host.socket
        socket.flows = table
        header = Header(Station(1), Station(2))
        header.rxhash = 5
        skb = segment(socket, 0)
        skb.header = header
        host.arrives(skb)
        assert socket.rxhash == 5
        socket.lock(host.cpus[1])
        assert table.wanted(5) == 1
        socket.unlock(host.cpus[1])
        # the same hash leaves it, another one or none does not
        again = ack(socket, 0)
        again.header = header
        host.arrives(again)
        assert table.wanted(5) == 1
        host.arrives(ack(socket, 0))
        assert (socket.rxhash, table.wanted(5)) == (0, -1)

    def test_without_a_hash_nothing_is_recorded(self) -> None:
        host = Host()
        table = SocketFlowTable(8, 2, UPSTREAM)
        host.socket.flows = table
        skb = ack(host.socket, 0)
        skb.header = Header(Station(1), Station(2))
        host.arrives(skb)
        host.socket.lock(host.cpus[1])
        assert (host.socket.rxhash, {table.wanted(flow) for flow in range(8)}) == (0, {-1})
