"""What a remote sender counts, and when its process, its interrupts and its timers have the CPU."""

from typing import Any

import pytest

from simnet.net.link.skb import new_skb
from tests.host.parts import MS, US
from tests.net.parts import Neighbour
from tests.net.remote.sending import JIFFY, SEGMENT_US, Remote

SEND: dict[str, Any] = {
    "user_send": 400,
    "syscall": 600,
    "context_switch": 2000,
    "copy_line": 10,
    "tcp_tx": 1000,
}
ACK: dict[str, Any] = {"driver_rx": 300, "skb_alloc": 100, "ip_rx": 200, "ack_rx": 400}
HANDLER: dict[str, Any] = {"hardirq": 1000, "softirq_entry": 500, "poll": 500}


class TestBegin:
    def test_it_has_done_nothing_before_its_start(self) -> None:
        remote = Remote(start_ps=100 * US, **SEND)
        assert remote.run(100 * US - 1) == []
        assert (remote.remote.busy_ps, remote.remote.sends, remote.remote.interrupts) == (0, 0, 0)
        remote.run(100 * US)
        assert remote.remote.sends == 1
        assert remote.remote.path_out.destination is remote.far

    def test_the_first_send_is_switched_to_called_copied_and_segmented(self) -> None:
        remote = Remote(start_ps=100 * US, **SEND)
        # 8000 bytes are 63 lines, and three segments fit the congestion window
        first = 2 + 0.4 + 0.6 + 0.63 + 3
        assert remote.run(120 * US)[0] == (round(100 + first + SEGMENT_US, 2), 0)

    def test_it_fills_the_send_buffer_and_is_switched_to_again_when_there_is_room(self) -> None:
        remote = Remote(**SEND)
        remote.run(MS)
        # 14000 bytes are there, of two calls: 63 lines, and 47 of 6000 bytes
        assert (remote.tcp.seq.write_seq, remote.remote.sends) == (14_000, 2)
        begun = 2000 + 2 * 1000 + (63 + 47) * 10 + 3 * 1000
        assert remote.remote.busy_ps == begun * 1000
        for number in (3, 6):
            remote.ack(number * 1000, remote.sim.now + number * US)
        remote.run(2 * MS)
        # the rest of the second message, and a third one's beginning
        assert (remote.tcp.seq.write_seq, remote.remote.sends) == (20_000, 3)
        more = 2000 + 1000 + 16 * 10 + 32 * 10
        # each ACK opened the congestion window by one segment
        assert remote.tcp.seq.snd_nxt == 6000 + 5 * 1000
        assert remote.remote.busy_ps == (begun + more + 8 * 1000) * 1000

    @pytest.mark.parametrize(
        ("message_bytes", "sends", "written"),
        [(999, 15, 14_000), (1000, 15, 14_000), (500, 30, 14_000), (64, 0, 14_000)],
    )
    def test_small_messages_go_up_to_the_next_boundary(
        self, message_bytes: int, sends: int, written: int
    ) -> None:
        remote = Remote(message_bytes=message_bytes)
        remote.run(MS)
        assert remote.tcp.seq.write_seq == written
        if sends:
            assert remote.remote.sends == sends


class TestInterrupts:
    def sent(self, **options: Any) -> Remote:
        """The first window is out, the send buffer full, the CPU idle."""
        remote = Remote(**options, **SEND, **ACK, **HANDLER)
        remote.run(MS)
        return remote

    def test_an_acknowledgement_takes_handler_poll_driver_stack_and_segments(self) -> None:
        remote = self.sent()
        before = remote.remote.busy_ps
        remote.ack(1000, MS + 10 * US)
        sent = remote.run(2 * MS)
        # 2 us of interrupt, 1 us of frame, and two segments
        assert sent[0] == (round(1000 + 10 + 3 + SEGMENT_US, 2), 3000)
        assert remote.remote.busy_ps - before == (2 + 1 + 2) * US
        assert remote.remote.interrupts == 1

    def test_the_first_is_not_held_back(self) -> None:
        remote = Remote(throttle_ps=500 * US)
        remote.run(50 * US)
        remote.ack(1000, 60 * US)
        remote.ack(2000, 70 * US)
        remote.run(61 * US)
        assert (remote.tcp.seq.snd_una, remote.remote.interrupts) == (1000, 1)
        remote.run(560 * US - 1)
        assert remote.tcp.seq.snd_una == 1000
        remote.run(560 * US)
        assert (remote.tcp.seq.snd_una, remote.remote.interrupts) == (2000, 2)

    def test_one_that_came_while_the_cpu_was_busy_is_taken_after(self) -> None:
        remote = self.sent()
        before = remote.remote.busy_ps
        remote.ack(1000, MS + 10 * US)
        remote.ack(2000, MS + 10 * US + 100)
        remote.run(2 * MS)
        # the second is found by the poll: no other interrupt
        assert remote.remote.interrupts == 1
        assert remote.remote.busy_ps - before == (2 + 2 * 1 + 4) * US

    def test_sixty_four_are_taken_at_a_time(self) -> None:
        remote = Remote(ack_rx=1000)
        remote.run(MS)
        for _ in range(66):
            remote.ack(0, MS + 10 * US)
        left = []
        for at_us in (10, 11, 74, 75, 76):
            remote.run(MS + at_us * US)
            left.append(remote.remote.incoming.count)
        # the interrupt is for the first
        assert left == [66, 65, 65, 1, 0]
        remote.run(2 * MS)
        assert remote.remote.busy_ps == 66 * US

    def test_who_sleeps_is_woken_and_switched_to(self) -> None:
        remote = self.sent(wakeup=5000)
        before = remote.remote.busy_ps
        # six segments are a third of the send buffer
        remote.ack(3000, MS + 10 * US)
        remote.run(MS + 100 * US)
        remote.ack(6000, MS + 110 * US)
        remote.run(2 * MS)
        # two interrupts, eight segments, wake-up, switch, call, 16 + 32 lines
        work = 2 * (2000 + 1000) + 8 * 1000 + 5000 + 2000 + 1000 + (16 + 32) * 10
        assert remote.remote.busy_ps - before == work * 1000

    def test_an_arp_reply_is_handed_over_and_acknowledges_nothing(self) -> None:
        remote = Remote(**ACK)
        neighbour = remote.remote.neighbour = Neighbour(remote.sim)
        remote.run(MS)
        before = remote.remote.busy_ps
        skb = new_skb(neighbour, 0, 0, 0, 0, 84, push=False)
        skb.arrival_ps = MS + 10 * US
        remote.remote.incoming.append(skb)
        remote.remote.frames_added()
        remote.run(2 * MS)
        assert neighbour.log == [MS + 11 * US]
        assert remote.tcp.seq.snd_una == 0
        assert remote.remote.busy_ps - before == US
        remote.ack(1000, 2 * MS + US)
        remote.run(3 * MS)
        assert (remote.tcp.seq.snd_una, len(neighbour.log)) == (1000, 1)


class TestTimer:
    def test_it_does_not_run_while_the_process_copies(self) -> None:
        # each message takes longer to copy than the timer has
        seen = []
        for line_ns in (10, 10_000_000):
            remote = Remote(copy_line=line_ns, message_bytes=1000)
            remote.run(3100 * MS)
            seen.append(remote.tcp.seq.snd_nxt)
        assert seen[0] >= 1000
        assert seen[1] <= 3000

    def test_a_timeout_sends_the_first_segment_again_and_doubles(self) -> None:
        remote = Remote()
        remote.run(2 * JIFFY)
        remote.ack(1000, 2 * JIFFY + US)
        remote.run(3 * JIFFY)
        sent = remote.run(1000 * MS)
        assert [seq for _, seq in sent] == [1000, 1000]
        first, second = (at / 4000 for at, _ in sent)
        assert round(first) == 55
        # the second wait is twice the first
        assert round(second - first) == 105
