"""Polls of all drivers: whose turn it is, what interrupts them, how many events they take."""

from typing import Any

import pytest

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.cxgb4 import Cxgb4
from simnet.net.nic.port import Nic
from simnet.net.nic.tg3 import Tg3
from tests.host.parts import MS, NS, US, Agenda, Handler, make_costs, make_machine
from tests.net.nic.chips import CHIPS
from tests.net.parts import Line, Sink, connect, feed, frame, make_device, on_wire

FULL, SHORT = 1538, 90
# what waits 20 us for a fourth frame; the last restarts the timer of tg3
WAITING = [
    (Tg3, {"rx_frames": 4}),
    (Bnx2, {"rx_frames": 4}),
    (Cxgb4, {"holdoff_ps": 20 * US, "frames": 4}),
]
COSTS = {"hardirq": 1000, "poll": 100, "driver_rx": 2000}


class Named(Sink):
    """Adds a letter to a list for each frame."""

    def __init__(self, sim: Simulator, letter: str, letters: list[str]) -> None:
        super().__init__(sim, letter)
        self.letters = letters

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        self.letters.append(self.path)
        return super().receive(skb, cpu)


class Quiet(Sink):
    """What it is handed over nobody can see before the poll is over."""

    def only_queues(self, cpu: Cpu) -> bool:  # noqa: ARG002 - the interface of endpoints
        return True


class Bench:
    """Devices of one kind on the only CPU."""

    def __init__(
        self,
        chip: type[Nic],
        devices: int = 1,
        *,
        chip_options: dict[str, Any] | None = None,
        version: str = "2.6.18",
        layout: dict[str, int] | None = None,
        **options: Any,
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim, "host", make_costs(**COSTS), None, softirq_rules(version), **(layout or {})
        )
        self.cpu = self.machine.cpus[0]
        self.nics: list[Nic] = []
        for number in range(devices):
            name = f"eth{number}"
            device = make_device(self.sim, self.machine, name, **options)
            nic = chip(device, **(CHIPS[chip] | (chip_options or {})))
            nic.line = Line(self.sim, 50 + number, name, self.machine.cpus, 1)
            self.nics.append(connect(nic))

    @property
    def interrupts(self) -> list[int]:
        """Of the first device."""
        line = self.nics[0].line
        assert isinstance(line, Line)
        return line.asserted_ps

    @property
    def softirqs(self) -> SoftirqNetRx:
        softirqs = self.cpu.softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        return softirqs


@pytest.mark.parametrize("chip", CHIPS)
class TestTurns:
    @pytest.mark.parametrize("version", ["2.6.18", "2.6.32"])
    def test_devices_take_turns_after_their_weight(self, chip: type[Nic], version: str) -> None:
        bench = Bench(chip, devices=2, version=version, weight=2)
        letters: list[str] = []
        # the first's handler runs while the second's frames come
        for nic, letter in zip(bench.nics, "ab", strict=True):
            feed(nic, Named(bench.sim, letter, letters), [10 * US] * 5)
        bench.sim.run_until(MS)
        assert "".join(letters) == "aabbaabbab"

    def test_a_device_whose_poll_is_over_leaves_the_list(self, chip: type[Nic]) -> None:
        bench = Bench(chip, devices=2)
        letters: list[str] = []
        for nic, letter in zip(bench.nics, "ab", strict=True):
            feed(nic, Named(bench.sim, letter, letters), [10 * US, 500 * US])
        bench.sim.run_until(MS)
        assert "".join(letters) == "abab"
        # one of each device for each frame
        assert (bench.softirqs.polls, bench.softirqs.rounds) == (4, 2)
        assert not any(nic.scheduled for nic in bench.nics)
        assert not bench.softirqs.pending

    def test_an_interrupt_is_handled_while_it_polls(self, chip: type[Nic]) -> None:
        logs = []
        for other_us in (0, 30):
            bench = Bench(chip)
            sink = Sink(bench.sim)
            other = Handler(bench.sim, "other")
            feed(bench.nics[0], sink, [10 * US])
            bench.sim.run_until(12 * US)
            if other_us:
                bench.cpu.raise_irq(other, other_us * US)
                bench.sim.run_until(12 * US + other_us * US)
                assert other.done_ps == [42 * US]
            bench.sim.run_until(MS)
            logs.append(sink.log[0][0])
        # handler 1 us, poll and frame 2.1
        assert logs == [13_100 * NS, 43_100 * NS]

    def test_what_the_stack_does_is_part_of_the_next_piece(self, chip: type[Nic]) -> None:
        bench = Bench(chip)
        sink = Sink(bench.sim, work_ps=700 * NS)
        feed(bench.nics[0], sink, [10 * US] * 3)
        bench.sim.run_until(MS)
        assert [at for at, _, _ in sink.log] == [13_100 * NS, 15_800 * NS, 18_500 * NS]
        assert bench.cpu.times()["softirq_ps"] == (100 + 3 * 2700) * NS

    @pytest.mark.parametrize("version", ["2.6.18", "2.6.32"])
    def test_every_buffer_comes_back_once(self, chip: type[Nic], version: str) -> None:
        bench = Bench(chip, version=version, rx_buffers=8, weight=4)
        nic, sink = bench.nics[0], Sink(bench.sim)
        # polls that end, polls that go on, polls of the whole weight
        first = [*range(10, 60, 3), *range(100, 130), *range(200, 232, 2)]
        for seq, at in enumerate(first):
            nic.incoming.append(frame(sink, seq, at * US))
        for seq in range(9):
            nic.incoming.append(frame(sink, 1000 + seq, 900 * US))
        nic.frames_added()
        bench.sim.run_until(800 * US)
        before = nic.drops
        assert len(sink.log) + before == len(first)
        bench.sim.run_until(2 * MS)
        assert nic.drops == before + 1
        assert [seq for _, _, seq in sink.log][-8:] == list(range(1000, 1008))

    def test_a_process_waits_for_it(self, chip: type[Nic]) -> None:
        bench = Bench(chip)
        feed(bench.nics[0], Sink(bench.sim), [10 * US])
        bench.sim.run_until(MS)
        times = bench.cpu.times()
        assert (times["irq_ps"], times["softirq_ps"]) == (US, 2100 * NS)


class TestEvents:
    """An event too many costs every run time."""

    @pytest.mark.parametrize("chip", CHIPS)
    def test_a_frame_takes_interrupt_handler_and_poll(self, chip: type[Nic]) -> None:
        bench = Bench(chip)
        feed(bench.nics[0], Sink(bench.sim), [10 * US])
        bench.sim.run_until(MS)
        assert (bench.sim.events, bench.sim.pending) == (3, 0)

    def announce(self, bench: Bench, *arrivals_us: int) -> None:
        """Announce frames one by one."""
        sink = Sink(bench.sim, f"sink{arrivals_us[0]}")
        for seq, at in enumerate(arrivals_us):
            bench.nics[0].incoming.append(frame(sink, seq, at * US))
            bench.nics[0].frames_added()

    @pytest.mark.parametrize("chip", [chip for chip in CHIPS if chip is not Cxgb4])
    @pytest.mark.parametrize(
        ("order", "pieces"), [("aa", [2]), ("aaabba", [3, 2, 1]), ("abaab", [1, 1, 2, 1])]
    )
    def test_frames_of_one_connection_are_one_piece_of_work(
        self, chip: type[Nic], order: str, pieces: list[int]
    ) -> None:
        bench = Bench(chip)
        nic = bench.nics[0]
        sinks = {letter: Quiet(bench.sim, letter) for letter in "ab"}
        for seq, letter in enumerate(order):
            nic.incoming.append(frame(sinks[letter], seq, 10 * US))
        nic.frames_added()
        bench.sim.run_until(MS)
        expected, end = [], 11_100 * NS
        for piece in pieces:
            end += piece * 2 * US
            expected += [end] * piece
        log = sorted(entry for sink in sinks.values() for entry in sink.log)
        assert [at for at, _, _ in log] == expected
        assert sorted(seq for _, _, seq in log) == list(range(len(order)))
        assert bench.sim.events == 2 + len(pieces)

    def test_a_frame_at_the_end_of_the_timer_of_tg3_is_known_to_restart_it(self) -> None:
        bench = Bench(Tg3, chip_options={"rx_frames": 4})
        feed(bench.nics[0], Sink(bench.sim), [11 * US, 31 * US])
        bench.sim.run_until(MS)
        assert bench.interrupts == [51 * US]
        assert bench.sim.events == 1 + 1 + 2

    @pytest.mark.parametrize("chip", [Tg3, Bnx2])
    def test_a_count_of_what_was_sent_takes_one(self, chip: type[Nic]) -> None:
        bench = Bench(chip, chip_options={"tx_frames": 4})
        nic = bench.nics[0]
        for number in range(5):
            nic.transmit(frame(Sink(bench.sim, f"sink{number}")))
        nic.flush()
        bench.sim.run_until(21 * US)
        # 1 us each: the fourth is gone at 4; handler, and a poll of 100 ns
        assert bench.interrupts == [4 * US]
        assert bench.sim.events == 3
        bench.sim.run_until(MS)
        # the fifth, of which nothing was known in the interrupt
        assert bench.interrupts[1:] == [25 * US]

    @pytest.mark.parametrize(("chip", "options"), WAITING)
    def test_frames_after_lost_ones_are_counted_again(
        self, chip: type[Nic], options: dict[str, Any]
    ) -> None:
        bench = Bench(chip, chip_options=options)
        self.announce(bench, 11, 12, 14, 15)
        bench.sim.run_until(12 * US)
        bench.nics[0].drop_in_flight(bench.sim.now)
        self.announce(bench, 13, 13)
        bench.sim.run_until(MS)
        assert bench.interrupts == [13 * US]

    @pytest.mark.parametrize(("chip", "options"), WAITING)
    def test_a_count_that_is_reached_takes_back_the_timer(
        self, chip: type[Nic], options: dict[str, Any]
    ) -> None:
        bench = Bench(chip, chip_options=options)
        self.announce(bench, 11, 12, 13, 14)
        assert bench.sim.pending == 1
        bench.sim.run_until(MS)
        # four frames are four pieces of work
        assert bench.interrupts == [14 * US]
        assert (bench.sim.events, bench.sim.pending) == (1 + 1 + 4, 0)

    @pytest.mark.parametrize(("chip", "options"), WAITING)
    def test_a_look_that_finds_the_count_reached_takes_back_the_timer(
        self, chip: type[Nic], options: dict[str, Any]
    ) -> None:
        bench = Bench(chip, chip_options=options)
        agenda = Agenda(bench.sim)
        nic = bench.nics[0]
        nic.per_frame = True
        for number in range(4):
            agenda.at((11 + number) * US, self.announce, bench, 11 + number)
        bench.sim.run_until(MS)
        assert bench.interrupts == [14 * US]
        assert (bench.sim.events, bench.sim.pending) == (4 + 1 + 4, 0)

    @pytest.mark.parametrize(("chip", "options"), WAITING)
    def test_lost_frames_leave_the_timer_of_those_that_came(
        self, chip: type[Nic], options: dict[str, Any]
    ) -> None:
        bench = Bench(chip, chip_options=options)
        self.announce(bench, 11, 12, 13, 14)
        bench.sim.run_until(12 * US)
        assert bench.nics[0].drop_in_flight(bench.sim.now) == 2
        bench.sim.run_until(MS)
        since = 11 if chip in {Bnx2, Cxgb4} else 12
        assert bench.interrupts == [(since + 20) * US]
        assert bench.nics[0].rx_packets == 2
        # the time at which the four would have been there is looked at once more
        assert (bench.sim.events, bench.sim.pending) == (1 + 1 + 1 + 2, 0)


@pytest.mark.parametrize("chip", CHIPS)
class TestCounters:
    def test_frames_are_received_or_dropped(self, chip: type[Nic]) -> None:
        bench = Bench(chip, rx_buffers=3)
        nic, sink = bench.nics[0], Sink(bench.sim)
        for seq, size in enumerate((FULL, SHORT, SHORT, FULL, FULL)):
            nic.incoming.append(frame(sink, seq, 10 * US, size))
        for seq in (5, 6):
            nic.incoming.append(frame(sink, seq, 500 * US, FULL))
        nic.frames_added()
        bench.sim.run_until(MS)
        assert [seq for _, _, seq in sink.log] == [0, 1, 2, 5, 6]
        assert (nic.rx_packets, nic.rx_bytes, nic.drops) == (5, 3 * FULL + 2 * SHORT, 2)
        assert (nic.tx.sent, nic.tx.sent_bytes, nic.qdisc_drops) == (0, 0, 0)

    def test_frames_are_sent_or_dropped(self, chip: type[Nic]) -> None:
        bench = Bench(chip, tx_ring=2, qdisc_limit=3)
        nic, sink = bench.nics[0], Sink(bench.sim)
        for seq, size in enumerate((FULL, SHORT, SHORT, FULL, SHORT, FULL, FULL)):
            nic.transmit(frame(sink, seq, wire_bytes=size))
        assert (nic.tx.sent, nic.qdisc.count, nic.qdisc_drops) == (2, 3, 2)
        nic.flush()
        bench.sim.run_until(MS)
        assert [skb.seq for skb in on_wire(nic)] == [0, 1, 2, 3, 4]
        assert (nic.tx.sent, nic.tx.sent_bytes) == (5, 2 * FULL + 3 * SHORT)
        assert (nic.rx_packets, nic.rx_bytes, nic.drops) == (0, 0, 0)

    def test_a_fresh_port_has_done_nothing(self, chip: type[Nic]) -> None:
        nic = Bench(chip).nics[0]
        assert (nic.rx_packets, nic.rx_bytes, nic.drops) == (0, 0, 0)
        assert (nic.tx.sent, nic.tx.sent_bytes, nic.qdisc_drops) == (0, 0, 0)
        assert nic.out_of_order() == ()
        assert nic.uncounted_bytes == 24
        assert nic.lines == [nic.line]
        assert not nic.has_work()

    def test_frames_count_for_the_budget_of_a_round(self, chip: type[Nic]) -> None:
        bench = Bench(chip, layout={"netdev_budget": 2}, weight=2)
        nic, sink = bench.nics[0], Sink(bench.sim)
        feed(nic, sink, [10 * US] * 5)
        bench.sim.run_until(MS)
        assert len(sink.log) == 5
        # 2, 2, 1
        assert (bench.softirqs.rounds, bench.softirqs.time_squeezes) == (3, 2)

    def test_what_was_lost_on_the_way_does_not_come(self, chip: type[Nic]) -> None:
        bench = Bench(chip)
        nic, sink = bench.nics[0], Sink(bench.sim)
        feed(nic, sink, [10 * US, 11 * US, 12 * US])
        bench.sim.run_until(11 * US)
        assert nic.drop_in_flight(bench.sim.now) == 1
        bench.sim.run_until(MS)
        assert [seq for _, _, seq in sink.log] == [0, 1]

    def test_how_many_frames_wait_can_be_traced(self, chip: type[Nic]) -> None:
        values: list[tuple[str, str, int, int]] = []

        class Tracer:
            def counter(self, *value: Any) -> None:
                values.append(value)

            def span(self, *arguments: object) -> None:
                pass

        bench = Bench(chip)
        bench.sim.tracer = Tracer()
        feed(bench.nics[0], Sink(bench.sim), [10 * US, 10 * US])
        bench.sim.run_until(MS)
        path = bench.nics[0].path
        assert [value for value in values if value[1] == "frames in ring"] == [
            (path, "frames in ring", at * NS, count)
            for at, count in ((11_000, 2), (13_100, 1), (15_100, 0))
        ]
