"""What packets over InfiniBand cost, booked by mechanism; when a full queue goes on."""

from typing import Any

import pytest

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.ipoib import FLUSHED, Ipoib
from simnet.net.infiniband.reorder_window import ReorderWindow
from simnet.net.link.skb import Skb
from tests.host.parts import MS, NS, US, make_costs, make_machine, make_memory
from tests.net.infiniband.test_ipoib import connected
from tests.net.nic.chips import COSTS, MEMORY
from tests.net.parts import Line, Sink, asserted_ps, connect, frame, make_device, make_tg3, on_wire

RC = 26


class Bench:
    """An interface on one of two nodes; the CPU of node 0, `near`, takes its interrupts."""

    def __init__(
        self, *, node: int = 0, device: dict[str, int] | None = None, **options: Any
    ) -> None:
        self.sim = Simulator()
        costs = make_costs(**COSTS, rx_page=250)
        self.machine = make_machine(
            self.sim, "host", costs, make_memory(2, None, **MEMORY), nodes=2
        )
        port = make_device(self.sim, self.machine, "ib0", node=node, **(device or {}))
        self.nic = Ipoib(port, **connected(**options))
        self.nic.line = Line(self.sim, 40, "ib0", self.machine.cpus, 1)
        connect(self.nic)
        self.near, self.far = self.machine.cpus
        self.sink = Sink(self.sim)

    def come(self, *sizes: int, at_ps: int = US) -> None:
        """Messages with the headers of one packet arrive together."""
        for seq, size in enumerate(sizes):
            self.nic.incoming.append(frame(self.sink, seq, at_ps, size + RC))
        self.nic.frames_added()
        self.sim.run_until(self.sim.now + MS)

    def send(self, cpu: Any, count: int = 1) -> None:
        for _ in range(count):
            skb = frame(self.sink, wire_bytes=99)
            skb.toucher = cpu
            self.nic.transmit(skb)
        self.nic.flush()

    def booked(self) -> dict[str, int]:
        """What is in the books, in ns."""
        return {name: ps // 1000 for name, ps in self.machine.costs.ledger.work().items() if ps}

    def done_ns(self) -> int:
        """What the CPUs have done for it."""
        times = [cpu.times() for cpu in self.machine.cpus]
        return sum(each["irq_ps"] + each["softirq_ps"] for each in times) // 1000


class TestReceive:
    @pytest.mark.parametrize("node", [0, 1])
    def test_one_packet(self, node: int) -> None:
        bench = Bench(node=node)
        bench.come(300)
        expected = {
            "hardirq": 1000 + 2 * 200,
            # the poll, and the doorbell that arms the queue
            "softirq": 40 + 500 + 200,
            # and a page
            "driver": 1500 + 200 + 300 + 250,
        }
        if node:
            # handler; status; header and half a line of descriptors; doorbell
            expected["device_lines"] = 2 * 70 + 200 + 200 + (200 + 100) + 70
        assert bench.booked() == expected
        assert bench.done_ns() == sum(expected.values())
        handler = expected["hardirq"] + (2 * 70 + 200) * node
        assert bench.near.times()["irq_ps"] == handler * NS

    @pytest.mark.parametrize(
        ("size", "pages"), [(256, 0), (257, 1), (4096, 1), (4097 - RC, 1), (2044, 1)]
    )
    def test_pages_of_a_packet(self, size: int, pages: int) -> None:
        bench = Bench()
        bench.come(size)
        assert bench.booked()["driver"] == 2000 + pages * 250

    @pytest.mark.parametrize(("length", "pages"), [(4096, 1), (4097, 2), (8192, 2), (8193, 3)])
    def test_pages_of_a_message_of_several_packets(self, length: int, pages: int) -> None:
        bench = Bench()
        packets = -(-length // 4096)
        bench.come(length + (packets - 1) * RC)
        assert bench.booked()["driver"] == 2000 + pages * 250
        assert bench.nic.rx_bytes == length

    def test_a_datagram_has_its_buffer(self) -> None:
        bench = Bench(connected=False)
        bench.come(2044)
        assert bench.booked()["driver"] == 2000

    @pytest.mark.parametrize("freer", ["near", "far"])
    def test_buffers_come_from_who_freed_them(self, freer: str) -> None:
        bench = Bench(device={"skb_lines": 3})
        bench.sink.freer = getattr(bench, freer)
        bench.come(300, 300)
        expected = 2 * 3 * 410 if freer == "far" else 0
        assert bench.booked().get("skb_lines", 0) == expected
        assert bench.done_ns() == sum(bench.booked().values())

    @pytest.mark.parametrize("window", [None, 4])
    def test_what_the_stack_does_is_part_of_the_next_piece(self, window: int | None) -> None:
        bench = Bench()
        if window:
            bench.nic.window = ReorderWindow(
                bench.sim, "window", window, owner=bench.nic, kind=FLUSHED
            )
        bench.sink.work_ps = 700 * NS
        for number in range(3):
            skb = frame(bench.sink, number, US, 300 + RC)
            skb.msg_id = number
            bench.nic.incoming.append(skb)
        bench.nic.frames_added()
        bench.sim.run_until(MS)
        assert bench.done_ns() == sum(bench.booked().values()) + 3 * 700
        begin = 1000 + 1400 + 540
        assert [at // NS for at, *_ in bench.sink.log] == [
            begin + 2250 + n * (2250 + 700) for n in range(3)
        ]
        assert bench.nic.out_of_order() == ((0, 0) if window else ())

    def test_a_device_behind_it_has_its_turn_when_it_is_done(self) -> None:
        bench = Bench()
        other = make_tg3(bench.sim, bench.machine, name="eth0", rx_frames=1)
        letters: list[str] = []

        class Named(Sink):
            def receive(self, skb: Skb, cpu: Cpu) -> int:
                letters.append(self.path)
                return super().receive(skb, cpu)

        for nic, name in ((bench.nic, "ib"), (other, "eth")):
            nic.incoming.append(frame(Named(bench.sim, name), 0, US, 300 + RC))
            nic.frames_added()
        bench.sim.run_until(MS)
        assert letters == ["ib", "eth"]
        assert not other.scheduled
        assert not bench.nic.scheduled

    def test_at_first_it_has_done_nothing(self) -> None:
        nic = Bench().nic
        assert (nic.lost, nic.rearms, nic.missed_events) == (0, 0, 0)
        assert (nic.rx_packets, nic.rx_bytes, nic.tx.sent, nic.tx.sent_bytes) == (0, 0, 0, 0)
        assert (nic.stopped, nic.uncounted_bytes, nic.has_work()) == (False, 0, False)


class TestCompletions:
    def test_of_what_was_sent_here(self) -> None:
        bench = Bench(device={"queue_lines": 5, "skb_lines": 3, "slab_lines": 2})
        bench.nic.transmit_cost_ps(bench.near)
        bench.send(bench.near, 2)
        bench.sim.run_until(MS)
        booked = bench.booked()
        assert booked["completion"] == 2 * 90
        assert "socket_lines" not in booked
        assert "skb_lines" not in booked

    def test_of_what_was_sent_there(self) -> None:
        bench = Bench(device={"queue_lines": 5, "skb_lines": 3, "slab_lines": 2})
        ledger = bench.machine.costs.ledger
        fresh = bench.nic.transmit_cost_ps(bench.far)
        before = ledger.work()
        bench.send(bench.far, 2)
        bench.sim.run_until(MS)
        work = {name: ps - before[name] for name, ps in ledger.work().items()}
        assert work["completion"] == 2 * 90_000
        # the queue's lines come over once, each packet's by itself
        assert work["socket_lines"] == 5 * 410_000
        assert work["skb_lines"] == 2 * (3 + 2) * 410_000
        assert bench.done_ns() * 1000 == sum(work.values())
        # its next packet is in a buffer that the near CPU freed, and the queue is there, too
        assert bench.nic.transmit_cost_ps(bench.far) == fresh + (5 + 3) * 410_000

    def test_datagrams_are_reclaimed_by_who_sends_the_eighteenth(self) -> None:
        bench = Bench(connected=False, device={"skb_lines": 3, "slab_lines": 2})
        fresh = bench.nic.transmit_cost_ps(bench.near)
        bench.send(bench.far, 16)
        bench.sim.run_until(MS)
        assert bench.nic.transmit_cost_ps(bench.near) == fresh
        bench.send(bench.far, 1)
        bench.sim.run_until(2 * MS)
        ledger = bench.machine.costs.ledger
        assert bench.nic.transmit_cost_ps(bench.near) == fresh + 17 * (90 + 5 * 410) * 1000
        assert (ledger.completion, ledger.skb_lines) == (17 * 90_000, 17 * 5 * 410_000)
        assert bench.nic.transmit_cost_ps(bench.near) == fresh

    def test_a_connection_reclaims_by_interrupt_alone(self) -> None:
        bench = Bench(acknowledged_ps=10 * MS)
        fresh = bench.nic.transmit_cost_ps(bench.near)
        bench.send(bench.near, 20)
        bench.sim.run_until(MS)
        assert bench.nic.transmit_cost_ps(bench.near) == fresh
        assert asserted_ps(bench.nic) == []
        bench.sim.run_until(20 * MS)
        # each packet with its headers takes a microsecond
        assert asserted_ps(bench.nic)[0] == 10 * MS + US

    @pytest.mark.parametrize(
        ("usecs", "frames", "at_us"), [(0, 0, 1), (30, 0, 31), (30, 3, 3), (2, 9, 3), (30, 5, 31)]
    )
    def test_sends_are_counted_and_timed_as_what_comes(
        self, usecs: int, frames: int, at_us: int
    ) -> None:
        bench = Bench(rx_usecs_ps=usecs * US, rx_frames=frames)
        bench.send(bench.near, 4)
        bench.sim.run_until(MS)
        assert asserted_ps(bench.nic)[0] == at_us * US


class TestDrain:
    """A datagram interface whose send queue is full."""

    def full(self, sent_ps: int, tx_ring: int = 4) -> Bench:
        bench = Bench(connected=False, device={"tx_ring": tx_ring, "qdisc_limit": 9})
        bench.sim.run_until(sent_ps)
        for _ in range(7):
            # 34 bytes of headers: 133 bytes, 1.064 us
            skb = frame(bench.sink, wire_bytes=99)
            skb.toucher = bench.near
            bench.nic.transmit(skb)
        bench.nic.flush()
        return bench

    @pytest.mark.parametrize(
        ("sent_ps", "drained_ms"),
        [(0, 1), (900 * US, 1), (MS - 2 * US, 2), (MS - US, 2), (1500 * US, 2)],
    )
    def test_it_goes_on_in_the_jiffy_after_its_next_completion(
        self, sent_ps: int, drained_ms: int
    ) -> None:
        bench = self.full(sent_ps)
        assert (bench.nic.stopped, bench.nic.tx.sent, bench.nic.qdisc.count) == (True, 4, 3)
        bench.sim.run_until(drained_ms * MS - 1)
        assert bench.nic.tx.sent == 4
        bench.sim.run_until(drained_ms * MS)
        # all four are reclaimed; with half the ring free the others go, one is left of room
        assert (bench.nic.stopped, bench.nic.tx.sent, bench.nic.qdisc.count) == (False, 7, 0)
        bench.sim.run_until(drained_ms * MS + 10 * US)
        times = bench.near.times()
        assert times["irq_ps"] == 4 * 90_000
        assert bench.booked() == {"completion": 4 * 90}

    @pytest.mark.parametrize(("tx_ring", "rest"), [(2, [4, 6, 7]), (3, [5, 7, 7])])
    def test_it_stops_again_as_long_as_more_wait_than_fit(
        self, tx_ring: int, rest: list[int]
    ) -> None:
        bench = self.full(0, tx_ring)
        seen = []
        for jiffy in (1, 2, 3):
            bench.sim.run_until(jiffy * MS)
            seen.append(bench.nic.tx.sent)
        assert seen == rest
        assert len(on_wire(bench.nic)) == 7
        assert asserted_ps(bench.nic) == []

    def test_half_the_ring_has_to_be_free(self) -> None:
        bench = Bench(acknowledged_ps=0, device={"tx_ring": 8, "qdisc_limit": 9})
        for number in range(9):
            skb = frame(bench.sink, number, wire_bytes=99)
            skb.toucher = bench.near
            bench.nic.transmit(skb)
        bench.nic.flush()
        # completions at 1, 2, ... us; handler 1.4, poll 0.54, each 0.09, doorbell 0.2
        bench.sim.run_until(4900 * NS)
        assert (bench.nic.stopped, bench.nic.tx.sent) == (True, 8)
        bench.sim.run_until(MS)
        assert (bench.nic.stopped, bench.nic.tx.sent) == (False, 9)
