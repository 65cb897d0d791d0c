"""A remote host of which only the sending counts: its order of work, its interrupts, its timers."""

import pytest

from tests.host.parts import MS, US
from tests.net.parts import make_congestion
from tests.net.remote.sending import JIFFY, SEGMENT_US, Remote


class TestSending:
    def test_first_window_goes_out_when_the_process_has_copied_it(self) -> None:
        remote = Remote(start_ps=100 * US, copy_line=100, tcp_tx=1000)
        # 8000 bytes are 63 lines; three segments fit the congestion window
        ready = 100 + 63 * 0.1 + 3
        assert remote.run(MS) == [
            (round(ready + (n + 1) * SEGMENT_US, 2), n * 1000) for n in range(3)
        ]

    def test_process_sleeps_when_the_send_buffer_is_full(self) -> None:
        remote = Remote()
        remote.run(MS)
        assert remote.tcp.seq.write_seq == 14_000
        # five ACKs free less than a third
        for number in range(1, 6):
            remote.ack(number * 1000, remote.sim.now + number * US)
        remote.run(2 * MS)
        assert remote.tcp.seq.write_seq == 14_000
        remote.ack(6000, remote.sim.now + US)
        remote.run(3 * MS)
        assert remote.tcp.seq.write_seq == 20_000

    def test_small_messages_are_taken_together(self) -> None:
        remote = Remote(message_bytes=64)
        remote.run(MS)
        # the last lot, up to 17 messages, did not fit the send buffer as a whole
        assert 0 <= remote.remote.sends * 64 - remote.tcp.seq.write_seq < 17 * 64


class TestAcks:
    def test_registers_are_five_accesses_an_interrupt_and_one_a_segment(self) -> None:
        remote = Remote(mmio_ps=1 * US, tcp_tx=2000)
        assert remote.run(MS)[0] == (round(3 * (1 + 2) + SEGMENT_US, 2), 0)
        busy = remote.remote.busy_ps
        remote.ack(1000, 1200 * US)
        # slow start: two segments for one ACK, which are made while the CPU goes on
        assert remote.run(2 * MS)[0] == (round(1200 + 5 + SEGMENT_US, 2), 3000)
        assert remote.remote.busy_ps - busy == (5 + 2 * (1 + 2)) * US
        assert remote.remote.interrupts == 1

    def test_answer_takes_handler_poll_and_segments(self) -> None:
        remote = Remote(
            hardirq=1000, softirq_entry=500, poll=500, driver_rx=300, ip_rx=200, ack_rx=500
        )
        remote.run(MS)
        remote.ack(1000, 1200 * US)
        # slow start: two segments for one ACK, 3 us after it
        sent = remote.run(2 * MS)
        assert sent == [(round(1203 + (n + 1) * SEGMENT_US, 2), 3000 + n * 1000) for n in range(2)]

    @pytest.mark.parametrize(("control", "clock_us"), [("reno", 0), ("cubic", 1200)])
    def test_the_clock_is_read_for_who_wants_microseconds(
        self, control: str, clock_us: int
    ) -> None:
        remote = Remote(sender={"congestion": make_congestion(control, 3)})
        remote.run(MS)
        remote.ack(1000, 1200 * US)
        remote.run(2 * MS)
        assert remote.tcp.timer.now_us == clock_us
        remote.run(3600 * MS)
        # the retransmission timer, too, and it runs at the beginning of a jiffy
        assert remote.tcp.timer.now_us % 4000 == 0
        assert (remote.tcp.timer.now_us > 200_000) == (clock_us > 0)

    def test_interrupts_keep_their_distance(self) -> None:
        remote = Remote(throttle_ps=125 * US)
        remote.run(MS)
        for number in range(1, 4):
            remote.ack(number * 1000, (1000 + 10 * number) * US)
        remote.run(2 * MS)
        # one at 1010 us; the other two ACKs are announced together at 1135
        assert remote.remote.interrupts == 2

    def test_poll_goes_on_while_more_have_come(self) -> None:
        remote = Remote(ack_rx=20_000)
        remote.run(MS)
        for number in range(1, 4):
            remote.ack(number * 1000, (1000 + 10 * number) * US)
        remote.run(2 * MS)
        assert remote.remote.interrupts == 1
        assert remote.tcp.seq.snd_una == 3000


class TestTimers:
    def test_first_loss_waits_no_longer_than_measured_round_trips_say(self) -> None:
        remote = Remote()
        remote.run(2 * JIFFY)
        remote.ack(1000, 2 * JIFFY + US)
        remote.run(3 * JIFFY)
        # srtt 2 jiffies: due in jiffy 2 + 52, looked at in the next
        ((at, seq), *_) = remote.run(400 * MS)
        assert seq == 1000
        assert at == round(55 * 4000 + SEGMENT_US, 2)

    def test_closed_window_is_probed(self) -> None:
        remote = Remote()
        remote.run(2 * JIFFY)
        remote.ack(3000, 2 * JIFFY + US, window=0)
        sent = remote.run(1500 * MS)
        # probes are the byte before the window, at intervals that double
        assert [seq for _, seq in sent] == [2999] * 3
        assert [round(at / 4000) for at, _ in sent] == [55, 55 + 105, 55 + 105 + 209]
        remote.ack(3000, remote.sim.now + US)
        # idle for so long, it starts again from the initial window
        assert [seq for _, seq in remote.run(1600 * MS)] == [3000, 4000, 5000]

    def test_small_window_is_used_in_the_end(self) -> None:
        remote = Remote()
        remote.run(2 * JIFFY)
        remote.ack(3000, 2 * JIFFY + US, window=400)
        assert [seq for _, seq in remote.run(300 * MS)] == [3000]
        assert remote.tcp.seq.snd_nxt == 3400
