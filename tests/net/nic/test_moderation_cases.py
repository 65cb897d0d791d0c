"""Interrupt moderation and polling in the documents' cases, and at its limits."""

from typing import Any

import pytest

from simnet.host.machine import Machine
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.kernel.simulator import Simulator
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.port import Nic
from tests.host.parts import Agenda, make_costs, make_machine, make_memory
from tests.net.parts import US, Sink, asserted_ps, feed, frame, make_bnx2, make_e1000, make_tg3

# full Ethernet frame at 1 Gbit/s
FRAME_PS = 1538 * 8000


def stream_at_line_rate(frames: int, **options: Any) -> tuple[Nic, list[int]]:
    """Receive full Ethernet frames back to back on a CPU that needs no time; return arrivals."""
    sim = Simulator()
    nic = make_tg3(sim, make_machine(sim), **options)
    arrivals = [(number + 1) * FRAME_PS for number in range(frames)]
    feed(nic, Sink(sim), arrivals)
    sim.run_until(arrivals[-1] + 10**9)
    return nic, arrivals


class TestTg3Defaults:
    def test_five_frames_of_a_gapless_stream_are_one_interrupt(self) -> None:
        nic, arrivals = stream_at_line_rate(1000)
        assert asserted_ps(nic) == arrivals[4::5]
        # 81 274 frames a second make 16 255 interrupts a second
        per_second = 10**12 * 200 / arrivals[-1]
        assert round(per_second) == 16_255

    def test_the_end_of_a_burst_is_announced_20_us_after_its_last_frame(self) -> None:
        nic, arrivals = stream_at_line_rate(7)
        assert asserted_ps(nic) == [arrivals[4], arrivals[6] + 20 * US]

    def test_every_frame_restarts_the_timer(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim))
        feed(nic, Sink(sim), [10 * US, 29 * US, 48 * US, 68 * US])
        sim.run_until(10**9)
        # 20 us is no gap yet: the timer is restarted at the very moment at which it expires
        assert asserted_ps(nic) == [88 * US]

    def test_update_while_masked_asserts_at_unmasking(self) -> None:
        sim = Simulator()
        costs = make_costs(hardirq=2000, poll=1000, driver_rx=1000)
        nic = make_tg3(sim, make_machine(sim, costs=costs), rx_frames=1, rx_usecs_irq_ps=3 * US)
        sink = Sink(sim)
        feed(nic, sink, [10 * US, 13 * US])
        sim.run_until(10**9)
        # 12 masked, 14 first frame handed over; no status block tells of the second until 16
        assert asserted_ps(nic) == [10 * US, 16 * US]
        assert [at for at, _, _ in sink.log] == [14 * US, 20 * US]

    @pytest.mark.parametrize("make", [make_tg3, make_bnx2])
    def test_what_came_while_no_timer_ran_waits_for_one_from_unmasking(self, make: Any) -> None:
        sim = Simulator()
        costs = make_costs(hardirq=5000, driver_rx=1000)
        options = dict.fromkeys(
            ("rx_usecs_irq_ps", "tx_usecs_irq_ps", "rx_frames_irq", "tx_frames_irq"), 0
        )
        nic = make(
            sim,
            make_machine(sim, costs=costs),
            rx_frames=1,
            rx_usecs_ps=20 * US,
            tx_frames=9,
            tx_usecs_ps=30 * US,
            **options,
        )
        # masked from 15 (tg3) or 10 (bnx2) on; the poll ends at 16
        feed(nic, Sink(sim), [10 * US, 15 * US + US // 2])
        sim.run_until(20 * US)
        assert asserted_ps(nic) == [10 * US]
        sim.run_until(35 * US)
        assert asserted_ps(nic) == [10 * US]
        sim.run_until(10**9)
        assert asserted_ps(nic) == [10 * US, 36 * US]

    @pytest.mark.parametrize("make", [make_tg3, make_bnx2])
    def test_what_was_sent_while_no_timer_ran_does_likewise(self, make: Any) -> None:
        sim = Simulator()
        costs = make_costs(hardirq=5000, driver_rx=1000)
        nic = make(
            sim,
            make_machine(sim, costs=costs),
            rx_frames=1,
            tx_frames=9,
            tx_usecs_ps=30 * US,
            tx_usecs_irq_ps=0,
            tx_frames_irq=0,
        )
        agenda = Agenda(sim)
        feed(nic, Sink(sim), [10 * US])
        agenda.at(14 * US + US // 2, nic.transmit, frame(Sink(sim, "sent")))
        sim.run_until(10**9)
        # gone at 15.5, unmasked at 16
        assert asserted_ps(nic) == [10 * US, 46 * US]

    def test_without_frames_only_gaps_interrupt(self) -> None:
        nic, arrivals = stream_at_line_rate(100, rx_frames=0)
        assert asserted_ps(nic) == [arrivals[-1] + 20 * US]

    def test_without_usecs_only_counts_interrupt(self) -> None:
        nic, arrivals = stream_at_line_rate(12, rx_usecs_ps=0)
        assert asserted_ps(nic) == arrivals[4::5]

    def test_transmitted_frames_have_an_engine_of_their_own(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim))
        for seq in range(60):
            nic.transmit(frame(Sink(sim, f"sink{seq}")))
        nic.flush()
        sim.run_until(10**9)
        assert asserted_ps(nic) == [53 * US, (60 + 72) * US]


class TestE1000:
    def test_interrupts_keep_the_interval(self) -> None:
        sim = Simulator()
        nic = make_e1000(sim, make_machine(sim), throttle_ps=125 * US)
        feed(nic, Sink(sim), [(number + 1) * FRAME_PS for number in range(1000)])
        sim.run_until(10**11)
        first, *rest = asserted_ps(nic)
        assert first == FRAME_PS
        assert rest[:90] == [first + 125 * US * (n + 1) for n in range(90)]

    def send(self, sim: Simulator, nic: Nic, *ends_us: int) -> None:
        """Send frames whose last bits leave at these times."""
        agenda = Agenda(sim)

        def transmit() -> None:
            nic.transmit(frame(Sink(sim, f"sink{sim.now}")))
            nic.flush()

        for end in ends_us:
            agenda.at((end - 1) * US, transmit)
        sim.run_until(10**9)

    def test_what_is_sent_interrupts_when_nothing_follows_for_the_delay(self) -> None:
        sim = Simulator()
        nic = make_e1000(sim, make_machine(sim), throttle_ps=0)
        self.send(sim, nic, 10, 74, 138, 203, 300)
        # the frame that ends when the delay is over begins it anew
        assert asserted_ps(nic) == [202 * US, 267 * US, 364 * US]

    def test_a_cause_that_came_too_early_waits_for_the_interval(self) -> None:
        sim = Simulator()
        nic = make_e1000(sim, make_machine(sim), throttle_ps=125 * US)
        feed(nic, Sink(sim), [10 * US, 20 * US, 30 * US, 260 * US])
        self.send(sim, nic, 136)
        # the first at once; two wait; nothing is left for the delay of what was sent
        assert asserted_ps(nic) == [10 * US, 135 * US, 260 * US]

    def test_the_first_interrupt_does_not_wait(self) -> None:
        sim = Simulator()
        nic = make_e1000(sim, make_machine(sim), throttle_ps=125 * US)
        feed(nic, Sink(sim), [1])
        sim.run_until(10**9)
        assert asserted_ps(nic) == [1]

    def test_what_came_before_the_handler_is_over_causes_no_interrupt_of_its_own(self) -> None:
        sim = Simulator()
        nic = make_e1000(
            sim, make_machine(sim, costs=make_costs(hardirq=5000, driver_rx=1000)), throttle_ps=0
        )
        sink = Sink(sim)
        feed(nic, sink, [10 * US, 14 * US, 15 * US, 17 * US + 1])
        sim.run_until(10**9)
        # the poll takes the last, too, but the cause that it has set stays
        assert [at // US for at, _, _ in sink.log] == [16, 17, 18, 19]
        assert asserted_ps(nic) == [10 * US, 19 * US]

    def test_without_a_throttle_every_frame_interrupts(self) -> None:
        sim = Simulator()
        nic = make_e1000(sim, make_machine(sim), throttle_ps=0)
        arrivals = [10 * US, 22 * US, 500 * US]
        feed(nic, Sink(sim), arrivals)
        sim.run_until(10**9)
        assert asserted_ps(nic) == arrivals


class TestBnx2:
    def test_the_timer_runs_from_the_first_frame(self) -> None:
        sim = Simulator()
        nic = make_bnx2(sim, make_machine(sim))
        feed(nic, Sink(sim), [10 * US, 20 * US, 27 * US, 29 * US])
        sim.run_until(10**9)
        assert asserted_ps(nic) == [28 * US, 47 * US]

    def test_twelve_frames_do_not_wait_for_it(self) -> None:
        sim = Simulator()
        nic = make_bnx2(sim, make_machine(sim))
        feed(nic, Sink(sim), [number * US for number in range(1, 15)])
        sim.run_until(10**9)
        assert asserted_ps(nic) == [12 * US, 31 * US]

    def registers(self, **options: Any) -> tuple[Simulator, Machine, Bnx2]:
        """A vector whose registers take 1 us to write, as do handler and frames."""
        sim = Simulator()
        costs = make_costs(hardirq=1000, driver_rx=1000)
        machine = make_machine(sim, costs=costs, memory=make_memory(mmio_write_ps=US))
        return sim, machine, make_bnx2(sim, machine, **options)

    def test_the_handler_touches_no_register(self) -> None:
        sim, _, nic = self.registers(rx_frames=1)
        sink = Sink(sim)
        feed(nic, sink, [10 * US])
        sim.run_until(10**9)
        assert [at for at, _, _ in sink.log] == [12 * US]

    def test_a_poll_takes_what_came_while_it_wrote_registers(self) -> None:
        sim, machine, nic = self.registers(rx_frames=1, rx_frames_irq=1)
        sink = Sink(sim)
        feed(nic, sink, [10 * US, 13 * US])
        sim.run_until(10**9)
        # two rings and the interrupt's register from 12 on
        assert [at for at, _, _ in sink.log] == [12 * US, 16 * US]
        assert asserted_ps(nic) == [10 * US]
        softirqs = machine.cpus[0].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        assert softirqs.polls == 1

    def test_a_poll_that_used_its_weight_is_one_of_several(self) -> None:
        sim, machine, nic = self.registers(rx_frames=2, weight=2)
        sink = Sink(sim)
        feed(nic, sink, [10 * US, 11 * US])
        sim.run_until(10**9)
        softirqs = machine.cpus[0].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        assert (len(sink.log), softirqs.polls) == (2, 2)

    def test_buffers_come_back_when_the_ring_is_written(self) -> None:
        sim, _, nic = self.registers(rx_frames=1, rx_frames_irq=1, rx_buffers=1)
        sink = Sink(sim)
        # the second finds none; the third comes after the first round of the poll
        feed(nic, sink, [10 * US, 14 * US, 16 * US])
        sim.run_until(10**9)
        assert [seq for _, _, seq in sink.log] == [0, 2]
        assert nic.drops == 1

    def test_a_doorbell_is_two_registers(self) -> None:
        _, machine, nic = self.registers()
        tg3 = make_tg3(nic.sim, machine, name="eth1")
        cpu = machine.cpus[0]
        assert nic.transmit_cost_ps(cpu) == 2 * tg3.transmit_cost_ps(cpu) == 2 * US
