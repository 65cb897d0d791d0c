"""The throttle of the 82574 adapts to what goes through (drivers/net/e1000e/netdev.c)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.skb import new_skb
from simnet.net.nic.e1000e import E1000e, throttle_interval_ps, update_itr
from tests.host.parts import Agenda, Handler, make_costs, make_machine
from tests.net.parts import US, Line, Sink, feed, frame, make_e1000e

LOWEST, LOW, BULK = range(3)
NS = 1000
JUMBO = 9038


class TestClasses:
    @pytest.mark.parametrize(
        ("before", "packets", "size", "after"),
        [
            (LOWEST, 1, 8001, BULK),
            (LOWEST, 4, 513, LOW),
            (LOWEST, 4, 512, LOWEST),
            (LOWEST, 5, 40_000, LOWEST),
            (LOW, 9, 10_001, BULK),
            (LOW, 10, 12_010, BULK),
            (LOW, 10, 12_000, LOW),
            (LOW, 36, 10_001, LOWEST),
            (LOW, 35, 10_001, LOW),
            (LOW, 4, 8_004, BULK),
            (LOW, 4, 8_000, LOW),
            (LOW, 2, 511, LOWEST),
            (LOW, 2, 512, LOW),
            (LOW, 3, 511, LOW),
            (BULK, 36, 25_001, LOW),
            (BULK, 35, 25_001, BULK),
            (BULK, 36, 25_000, BULK),
            (BULK, 9, 5_999, LOW),
            (BULK, 9, 6_000, BULK),
        ],
    )
    def test_limits(self, before: int, packets: int, size: int, after: int) -> None:
        assert update_itr(before, packets, size) == after

    @given(st.sampled_from([LOWEST, LOW, BULK]), st.integers(0, 10**6))
    def test_an_interval_without_packets_tells_nothing(self, before: int, size: int) -> None:
        assert update_itr(before, 0, size) == before

    @pytest.mark.parametrize(
        ("rate", "nanoseconds"), [(0, 0), (4000, 249_856), (20_000, 49_920), (70_000, 14_080)]
    )
    def test_the_chip_counts_in_units_of_256_ns(self, rate: int, nanoseconds: int) -> None:
        assert throttle_interval_ps(rate) == nanoseconds * NS


def receive(mode: int, gap_ps: int, wire_bytes: int, until_ps: int) -> tuple[E1000e, list[int]]:
    """Receive frames at equal gaps; return the chip and when it interrupted."""
    sim = Simulator()
    machine = make_machine(sim, costs=make_costs(hardirq=500, poll=300, driver_rx=300))
    nic = make_e1000e(sim, machine, interrupt_throttle_rate=mode, rx_buffers=255)
    sink = Sink(sim)
    for number in range(1, until_ps // gap_ps):
        nic.incoming.append(frame(sink, number, number * gap_ps, wire_bytes))
    nic.frames_added()
    sim.run_until(until_ps)
    assert isinstance(nic.line, Line)
    return nic, nic.line.asserted_ps


def rate_at_the_end(asserted_ps: list[int]) -> float:
    last = asserted_ps[len(asserted_ps) // 2 :]
    return (len(last) - 1) * 10**12 / (last[-1] - last[0])


class TestTraffic:
    def test_a_stream_of_large_frames_is_interrupted_at_4000_a_second(self) -> None:
        nic, asserted = receive(3, JUMBO * 8 * NS, JUMBO, 20_000 * US)
        assert nic.rate == 4000
        assert rate_at_the_end(asserted) == pytest.approx(4002, abs=10)

    def test_at_a_gigabit_50_us_hold_too_little_to_be_bulk(self) -> None:
        # four frames, 6 KB of the 10 that are asked for
        nic, asserted = receive(3, 1538 * 8 * NS, 1538, 20_000 * US)
        assert nic.rate == 20_000
        assert rate_at_the_end(asserted) == pytest.approx(20_032, abs=50)

    @pytest.mark.parametrize(("mode", "expected"), [(3, 20_032), (1, 71_022)])
    def test_small_packets_are_interrupted_up_to_the_mode(self, mode: int, expected: int) -> None:
        # two packets of 100 bytes in an interval of the lowest latency
        nic, asserted = receive(mode, 7 * US, 124, 20_000 * US)
        assert nic.rate == (20_000 if mode == 3 else 70_000)
        assert rate_at_the_end(asserted) == pytest.approx(expected, rel=0.02)

    def test_what_is_received_alone_does_not_wait(self) -> None:
        _, asserted = receive(3, 1000 * US, 124, 10_000 * US)
        assert asserted == [number * 1000 * US for number in range(1, 10)]

    def test_a_rise_goes_in_steps_of_a_quarter_of_what_is_aimed_at(self) -> None:
        sim = Simulator()
        nic = make_e1000e(sim, make_machine(sim), rx_buffers=255)
        sink = Sink(sim)
        agenda = Agenda(sim)
        rates: list[int] = []
        for number in range(10):
            nic.incoming.append(frame(sink, number, (10 + number * 80) * US, JUMBO))
        for at in range(1000, 8000, 400):
            nic.incoming.append(frame(sink, at, at * US, 124))
            agenda.at((at + 300) * US, lambda: rates.append(nic.rate))
        agenda.at(900 * US, lambda: rates.append(nic.rate))
        nic.frames_added()
        sim.run_until(10_000 * US)
        assert rates[:6] == [4000, 9000, 14_000, 19_000, 20_000, 20_000]

    @pytest.mark.parametrize(
        ("length", "rates"), [(512, [20_000, 37_500, 55_000, 70_000, 70_000]), (513, [20_000] * 5)]
    )
    @pytest.mark.parametrize("sends", [False, True])
    def test_one_short_packet_an_interval_is_the_lowest_latency(
        self, length: int, rates: list[int], *, sends: bool
    ) -> None:
        sim = Simulator()
        nic = make_e1000e(sim, make_machine(sim), interrupt_throttle_rate=1)
        agenda = Agenda(sim)
        sink = Sink(sim)
        seen = [nic.rate]

        def transmit() -> None:
            nic.transmit(frame(sink, wire_bytes=length + 24))
            nic.flush()

        for at in range(100, 500, 100):
            if sends:
                agenda.at(at * US, transmit)
            else:
                nic.incoming.append(frame(sink, at, at * US, length + 24))
            agenda.at((at + 90) * US, lambda: seen.append(nic.rate))
        nic.frames_added()
        sim.run_until(500 * US)
        assert seen == rates

    def test_the_chip_begins_with_20000_a_second(self) -> None:
        sim = Simulator()
        nic = make_e1000e(sim, make_machine(sim))
        feed(nic, Sink(sim), [10 * US, 11 * US])
        sim.run_until(1000 * US)
        assert isinstance(nic.line, Line)
        assert nic.line.asserted_ps == [10 * US, 10 * US + 49_920 * NS]

    @pytest.mark.parametrize(("rate", "interval_ns"), [(8000, 124_928), (2, 500_000_000)])
    def test_another_number_is_a_rate(self, rate: int, interval_ns: int) -> None:
        sim = Simulator()
        nic = make_e1000e(sim, make_machine(sim), interrupt_throttle_rate=rate)
        feed(nic, Sink(sim), [10 * US, 11 * US])
        sim.run_until(10**12)
        assert isinstance(nic.line, Line)
        assert nic.line.asserted_ps == [10 * US, 10 * US + interval_ns * NS]
        assert nic.rate == rate

    def test_what_is_sent_counts_as_much(self) -> None:
        sim = Simulator()
        nic = make_e1000e(sim, make_machine(sim), tx_ring=255)
        agenda = Agenda(sim)
        sink = Sink(sim)

        def send() -> None:
            for _ in range(3):
                nic.transmit(new_skb(sink, 0, 0, 0, 0, JUMBO, push=False))
            nic.flush()

        for at in range(10, 5000, 250):
            agenda.at(at * US, send)
        sim.run_until(5000 * US)
        assert nic.rate == 4000

    def test_an_interval_adds_up_what_its_polls_took(self) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        nic = make_e1000e(sim, machine, interrupt_throttle_rate=1, tx_ring=7)
        agenda, sink = Agenda(sim), Sink(sim)
        for turn in range(12):
            sizes = [84 + 100 * (turn + number) for number in range(turn % 4 + 1)]

            def send(sizes: list[int] = sizes) -> None:
                for size in sizes:
                    nic.transmit(new_skb(sink, 0, 0, 0, 0, size, push=False))
                nic.flush()

            # until all are on the wire, the CPU has no time for the first
            busy = Handler(sim, f"busy{turn}")
            agenda.at((turn * 1000 + 9) * US, machine.cpus[0].raise_irq, busy, 300 * US)
            agenda.at((turn * 1000 + 10) * US, send)
            sim.run_until((turn + 1) * 1000 * US)
            assert nic.tx_total_packets == len(sizes)
            assert nic.tx_total_bytes == sum(sizes) - UNCOUNTED_BYTES * len(sizes)
            assert (nic.rx_total_packets, nic.rx_total_bytes) == (0, 0)

    def test_a_poll_that_did_not_use_its_weight_ends_whatever_has_come(self) -> None:
        sim = Simulator()
        machine = make_machine(sim, costs=make_costs(hardirq=1000, driver_rx=5000))
        nic = make_e1000e(sim, machine, interrupt_throttle_rate=0, weight=3)
        feed(nic, Sink(sim), [10 * US, 11 * US, 12 * US, 17 * US, 22 * US])
        sim.run_until(1000 * US)
        assert isinstance(nic.line, Line)
        # one poll of three, one of two; what came meanwhile set the cause again
        assert nic.line.asserted_ps == [10 * US, 36 * US]
