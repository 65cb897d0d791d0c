"""What a sender may send when, and how it recovers (net/ipv4 of Linux 2.6, RFC 6582).

Times are jiffies of 4 ms: the least retransmission timeout is 50, the first one 750.
"""

import gc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet import _engine
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import SkbQueue
from simnet.net.tcp.recovery.recovery import DISORDER, LOSS, OPEN, RECOVERY
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.host.parts import US, make_machine
from tests.house.examples import examples
from tests.net.parts import Sink, make_congestion, make_sender
from tests.net.tcp.send.estimator import KernelEstimator

MSS = 1000
TRUESIZE = 1250
SIM = Simulator()
PEER = Sink(SIM, "peer")
CPU = make_machine(SIM).cpus[0]


def make(cwnd: int = 3, window: int = 1 << 20, **options: Any) -> TcpSender:
    """A sender whose peer has offered `window` bytes."""
    sender = make_sender(**({"congestion": make_congestion("reno", cwnd)} | options))
    sender.open_window(window)
    return sender


def staged(sender: TcpSender, jiffy: int = 0) -> list[tuple[int, int]]:
    """Send what may be sent; return first and last byte plus one of each segment."""
    queue = SkbQueue()
    sender.timer.set_time(4000 * jiffy * US)
    sender.output.stage(queue, CPU, jiffy)
    segments = [queue.pop() for _ in range(queue.count)]
    return [(skb.seq, skb.end_seq) for skb in segments]


def send(sender: TcpSender, jiffy: int = 0) -> list[int]:
    """Send what may be sent; return the lengths."""
    return [end - seq for seq, end in staged(sender, jiffy)]


def numbers(sender: TcpSender, jiffy: int = 0) -> list[int]:
    """Send what may be sent; return which segments they are, counted from 0."""
    return [seq // MSS for seq, _ in staged(sender, jiffy)]


def ack(sender: TcpSender, segments: float, jiffy: int = 0, window: int = 1 << 20) -> int:
    """Acknowledge everything up to so many segments from the start."""
    return int(sender.acknowledge(round(segments * MSS), window, jiffy))


def started(segments: int, cwnd: int = 20, **options: Any) -> TcpSender:
    """A sender with so many full segments outstanding."""
    sender = make(cwnd=cwnd, **options)
    sender.seq.write(segments * MSS, end_of_send=True)
    assert send(sender) == [MSS] * segments
    return sender


class TestWindows:
    def test_first_burst_is_the_initial_window(self) -> None:
        sender = make(cwnd=3)
        sender.seq.write(10 * MSS, end_of_send=True)
        assert send(sender) == [MSS] * 3

    def test_slow_start_grows_with_every_ack_that_finds_the_window_full(self) -> None:
        sender = make(cwnd=3)
        sender.seq.write(100 * MSS, end_of_send=True)
        send(sender)
        ack(sender, 1)
        assert send(sender) == [MSS] * 2
        ack(sender, 3)
        assert send(sender) == [MSS] * 3
        assert sender.congestion.cwnd == 5

    def test_unused_window_does_not_grow(self) -> None:
        sender = started(5, cwnd=6)
        ack(sender, 2)
        assert sender.congestion.cwnd == 6

    def test_peer_limits_to_whole_segments(self) -> None:
        sender = make(cwnd=20, window=3500)
        sender.seq.write(10 * MSS, end_of_send=True)
        assert send(sender) == [MSS] * 3
        sender.acknowledge(MSS, 3500, 0)
        assert send(sender) == [MSS]

    def test_two_segments_fit_into_the_largest_window_offered(self) -> None:
        sender = make(cwnd=20, window=1500)
        sender.seq.write(10 * MSS, end_of_send=True)
        assert send(sender) == [750] * 2
        sender.acknowledge(750, 1800, 0)
        assert send(sender) == [900]
        sender.acknowledge(2400, 1200, 0)
        assert send(sender) == [900]
        sender.acknowledge(3300, 2500, 0)
        assert send(sender) == [MSS] * 2

    @pytest.mark.parametrize(
        ("version", "window", "length"),
        [("2.6.18", 400, 200), ("3.8", 400, 400), ("3.8", 512, 256), ("2.6.18", 60, 48)],
    )
    def test_a_tiny_window_is_halved_or_not(self, version: str, window: int, length: int) -> None:
        sender = make(cwnd=20, window=window, rules=sender_rules(version))
        sender.seq.write(10 * MSS, end_of_send=True)
        assert sender.seq.mss == length
        assert send(sender) == [length] * (window // length)

    def test_acknowledge_counts_segments(self) -> None:
        sender = started(5)
        assert [ack(sender, 2), ack(sender, 2), ack(sender, 5)] == [2, 0, 3]
        assert sender.packets_out() == 0


class TestUseOfTheWindow:
    """Since 3.16 it is noted when segments are sent, for a round trip."""

    @pytest.mark.parametrize(("out", "cwnd"), [(5, 10), (6, 12)])
    def test_slow_start_grows_if_more_than_half_was_used(self, out: int, cwnd: int) -> None:
        rules = sender_rules("6.18")
        sender = started(out, rules=rules, congestion=make_congestion("reno", 10, rules=rules))
        ack(sender, 2)
        assert sender.congestion.cwnd == cwnd

    @pytest.mark.parametrize(("version", "cwnd"), [("3.15", 10), ("6.18", 11)])
    def test_a_window_found_full_counts_although_acks_have_emptied_it(
        self, version: str, cwnd: int
    ) -> None:
        rules = sender_rules(version)
        sender = started(10, rules=rules, congestion=make_congestion("reno", 10, rules=rules))
        sender.congestion.set_threshold(5)
        for number in range(1, 11):
            ack(sender, number)
        assert sender.congestion.cwnd == cwnd

    @pytest.mark.parametrize(("divisor", "cwnd"), [(1, 11), (3, 10), (5, 10)])
    def test_with_tso_a_share_may_be_left(self, divisor: int, cwnd: int) -> None:
        """Up to 2.6.23: four of ten are less than all, but no third and no fifth."""
        sender = started(6, cwnd=10, tso=True, tso_win_divisor=divisor)
        ack(sender, 1)
        assert sender.congestion.cwnd == cwnd


class TestNagle:
    def test_lone_small_segment_goes(self) -> None:
        sender = make()
        sender.seq.write(10, end_of_send=True)
        assert send(sender) == [10]

    def test_second_small_segment_waits_for_the_first(self) -> None:
        sender = make()
        sender.seq.write(10, end_of_send=True)
        send(sender)
        sender.seq.write(20, end_of_send=True)
        assert send(sender) == []
        sender.seq.write(30, end_of_send=True)
        sender.acknowledge(10, 1 << 20, 0)
        assert send(sender) == [50]

    def test_small_end_of_a_message_goes_behind_full_segments(self) -> None:
        # Minshall: only an outstanding small segment holds the next one back
        sender = make(cwnd=10)
        sender.seq.write(2 * MSS + 10, end_of_send=True)
        assert send(sender) == [MSS, MSS, 10]
        sender.seq.write(10, end_of_send=True)
        assert send(sender) == []

    def test_nodelay_sends_at_once(self) -> None:
        sender = make(cwnd=10)
        sender.output.nodelay = True
        for _ in range(3):
            sender.seq.write(10, end_of_send=True)
            assert send(sender) == [10]


class TestCork:
    def test_only_full_segments_go(self) -> None:
        sender = make(cwnd=10)
        sender.output.cork = True
        sender.seq.write(MSS + 10, end_of_send=True)
        assert send(sender) == [MSS]
        sender.seq.write(MSS - 10, end_of_send=True)
        assert send(sender) == [MSS]

    def test_taking_it_off_lets_the_rest_go(self) -> None:
        sender = make(cwnd=10)
        sender.output.cork = True
        sender.seq.write(10, end_of_send=True)
        assert send(sender) == []
        sender.output.cork = False
        assert send(sender) == [10]

    def test_the_rest_goes_when_the_probe_timer_runs(self) -> None:
        sender = make(cwnd=10)
        sender.output.cork = True
        sender.seq.write(10, end_of_send=True)
        assert sender.awaits_window(0)
        assert sender.timer_expired(sender.timer.rto_jiffy + 1)
        assert send(sender, 800) == [10]


class TestUnusedWindow:
    """RFC 2861: the window says nothing about a path that has not been used for so long."""

    def test_halves_for_every_timeout_that_was_idle(self) -> None:
        sender = make(cwnd=3)
        sender.congestion.set_window(40)
        sender.seq.write(40 * MSS, end_of_send=True)
        send(sender)
        ack(sender, 40, 10)
        sender.seq.write(100 * MSS, end_of_send=True)
        # the last was sent in jiffy 0, the timeout is 60
        assert sender.timer.rto == 60
        assert len(send(sender, 150)) == 10
        assert sender.congestion.ssthresh >= 30

    @pytest.mark.parametrize(("jiffy", "ssthresh"), [(60, 5), (61, 30)])
    def test_idle_is_longer_than_the_timeout(self, jiffy: int, ssthresh: int) -> None:
        sender = started(40, cwnd=40)
        ack(sender, 40, 10)
        sender.congestion.set_threshold(5)
        sender.congestion.set_window(40)
        assert sender.timer.rto == 60
        sender.seq.write(MSS, end_of_send=True)
        send(sender, jiffy)
        # three quarters of what the window was
        assert sender.congestion.ssthresh == ssthresh

    def test_not_below_the_initial_window(self) -> None:
        sender = make(cwnd=3)
        sender.congestion.set_window(40)
        sender.seq.write(MSS, end_of_send=True)
        send(sender)
        ack(sender, 1, 1)
        sender.seq.write(100 * MSS, end_of_send=True)
        assert len(send(sender, 5000)) == 3

    def test_can_be_turned_off(self) -> None:
        sender = started(40, cwnd=40, restarts=False)
        ack(sender, 40, 10)
        sender.seq.write(100 * MSS, end_of_send=True)
        assert len(send(sender, 150)) == 40

    def test_an_application_that_sends_little_loses_half_of_the_rest(self) -> None:
        sender = make(cwnd=3)
        sender.congestion.set_window(40)
        sender.seq.write(MSS, end_of_send=True)
        send(sender, 0)
        now = 0
        for number in range(1, 60):
            now += 2
            ack(sender, number, now)
            sender.seq.write(MSS, end_of_send=True)
            send(sender, now)
        assert sender.congestion.cwnd < 40


class TestTsoDeferral:
    def test_less_than_a_third_of_the_window_waits(self) -> None:
        sender = started(12, cwnd=12, tso=True)
        sender.seq.write(100 * MSS, end_of_send=False)
        ack(sender, 3)
        # the window is 13 now, and 4 of it are free
        assert send(sender) == []
        ack(sender, 4)
        # less than a third was unused, which counts as full use: 14
        assert send(sender) == [MSS] * 6
        ack(sender, 7)
        # 4 of 15
        assert send(sender) == []
        ack(sender, 8)
        assert send(sender) == [MSS] * 6

    def test_nothing_outstanding_never_waits(self) -> None:
        sender = make(cwnd=12, window=2500, tso=True)
        sender.seq.write(100 * MSS, end_of_send=False)
        assert send(sender) == [MSS, MSS]

    def test_a_full_frame_never_waits(self) -> None:
        sender = make(cwnd=300, tso=True, window=10**9)
        sender.seq.write(300 * MSS, end_of_send=False)
        send(sender)
        sender.seq.write(300 * MSS, end_of_send=False)
        sender.acknowledge(66 * MSS, 10**9, 0)
        # 67 of 301 are less than a third but fill 64 KiB
        assert len(send(sender)) >= 65

    @pytest.mark.parametrize(
        ("unsent", "window", "cwnd"),
        # six of the window are free: it is the window that holds back as much or more, or it is
        # the application, or it is the peer
        [(7, 100, 12), (6, 100, 12), (5, 100, 10), (7, 10, 10), (6, 10, 10)],
    )
    def test_what_waits_has_met_the_window_if_that_is_all_that_it_waits_for(
        self, unsent: int, window: int, cwnd: int
    ) -> None:
        """`tcp_tso_should_defer` since 5.0: in slow start a window that was met grows."""
        rules = sender_rules("6.18")
        congestion = make_congestion("reno", 10, rules=rules)
        options: dict[str, Any] = {
            "tso": True,
            "tso_win_divisor": 1,
            "rules": rules,
            "congestion": congestion,
        }
        sender = started(4, window=window * MSS, **options)
        sender.seq.write(unsent * MSS, end_of_send=False)
        assert send(sender) == []
        ack(sender, 2, window=window * MSS)
        assert sender.congestion.cwnd == cwnd

    def test_divisor_0_waits_for_more_than_three_segments(self) -> None:
        sender = started(12, cwnd=12, tso=True, tso_win_divisor=0)
        sender.seq.write(100 * MSS, end_of_send=False)
        ack(sender, 1)
        assert send(sender) == []
        ack(sender, 3)
        # the window is 14 now
        assert send(sender) == [MSS] * 5

    def test_newer_kernels_wait_two_jiffies_at_most(self) -> None:
        sender = started(12, cwnd=12, tso=True, rules=sender_rules("2.6.32"))
        sender.seq.write(100 * MSS, end_of_send=False)
        ack(sender, 1, 10)
        assert [send(sender, jiffy) for jiffy in (10, 11)] == [[], []]
        assert send(sender, 12) == [MSS] * 2

    def test_without_tso_nothing_waits(self) -> None:
        sender = started(12, cwnd=12)
        sender.seq.write(100 * MSS, end_of_send=False)
        ack(sender, 1)
        assert send(sender) == [MSS, MSS]


class TestSendBuffer:
    def test_takes_segments_until_memory_is_used_up(self) -> None:
        sender = make()
        # 16384 / 1250 is 13.1, and the last segment may overrun
        assert sender.seq.room() == 14 * MSS
        sender.seq.write(14 * MSS, end_of_send=True)
        assert (sender.seq.room(), sender.seq.wmem_queued()) == (0, 14 * TRUESIZE)

    def test_unsent_tail_is_filled_first(self) -> None:
        sender = make()
        sender.seq.write(13 * MSS + 400, end_of_send=True)
        assert sender.seq.room() == 600

    @pytest.mark.parametrize(("acknowledged", "woken"), [(4, False), (5, False), (6, True)])
    def test_writer_is_woken_when_a_third_is_free(self, acknowledged: int, woken: bool) -> None:  # noqa: FBT001
        sender = make(cwnd=14, wmem_default=15_000, wmem_max=15_000)
        sender.seq.write(14 * MSS, end_of_send=True)
        send(sender)
        ack(sender, acknowledged)
        # two thirds are 10 000 bytes, the memory of 8 segments
        assert sender.seq.wmem_queued() == (14 - acknowledged) * TRUESIZE
        assert sender.write_space() == woken

    def test_grows_with_the_congestion_window(self) -> None:
        sender = started(10, cwnd=20)
        ack(sender, 1)
        sender.write_space()
        assert sender.seq.sndbuf == 2 * 20 * TRUESIZE

    def test_grows_to_its_limit(self) -> None:
        sender = started(10, cwnd=200)
        ack(sender, 1)
        sender.write_space()
        assert sender.seq.sndbuf == 131_072

    def test_push_at_the_end_and_after_half_a_window(self) -> None:
        sender = make(cwnd=100, window=4 * MSS)
        sender.seq.write(2 * MSS, end_of_send=False)
        assert not sender.seq.sent(MSS)
        sender.seq.write(MSS, end_of_send=False)
        assert [sender.seq.sent(MSS) for _ in range(2)] == [False, True]


class TestTimeout:
    @settings(max_examples=examples(200))
    @given(st.lists(st.integers(0, 400), min_size=1, max_size=50))
    def test_rto_is_the_kernels(self, samples: list[int]) -> None:
        sender = make(cwnd=1)
        kernel = KernelEstimator(least=50)
        now = 0
        for number, sample in enumerate(samples):
            # RFC 2861 does not matter here: one segment is the window
            sender.seq.write(MSS, end_of_send=True)
            send(sender, now)
            now += sample
            ack(sender, number + 1, now)
            expected = kernel.sample(max(sample, 1), number + 1, number + 1)
            assert sender.timer.rto == expected

    def test_a_short_round_trip_is_no_reason_for_a_longer_timeout(self) -> None:
        sender = make(cwnd=1)
        now = before = 0
        for number, sample in enumerate([300] * 20 + [10]):
            sender.seq.write(MSS, end_of_send=True)
            send(sender, now)
            now += sample
            before = sender.timer.rto
            ack(sender, number + 1, now)
        assert sender.timer.rto <= before

    def test_expiry_sends_everything_again_from_one_segment(self) -> None:
        sender = started(8)
        assert sender.timer_expired(751)
        assert (sender.congestion.cwnd, sender.congestion.ssthresh) == (1, 10)
        assert numbers(sender, 751) == [0]
        ack(sender, 1, 760)
        assert numbers(sender, 760) == [1, 2]
        assert sender.recovery.state == LOSS

    def test_ack_for_what_was_sent_before_is_believed(self) -> None:
        sender = started(8)
        sender.timer_expired(751)
        send(sender, 751)
        # only the first had been lost
        ack(sender, 8, 760)
        assert (sender.seq.snd_una, sender.seq.snd_nxt, sender.packets_out()) == (
            8 * MSS,
            8 * MSS,
            0,
        )

    def test_backs_off_twofold_to_the_limit(self) -> None:
        sender = started(1)
        expiries = []
        for _ in range(9):
            expiries.append(sender.timer.rto)
            sender.timer_expired(0)
            send(sender)
        assert expiries == [750 * 2**n for n in range(6)] + [30_000] * 3

    def test_late_duplicates_do_not_start_fast_retransmit(self) -> None:
        sender = started(8)
        sender.timer_expired(751)
        send(sender, 751)
        for _ in range(5):
            ack(sender, 0, 755)
        assert sender.recovery.entered == 0

    def test_nothing_outstanding_nothing_to_time(self) -> None:
        sender = started(2)
        assert sender.timer.rto_jiffy == 750
        ack(sender, 1, 10)
        assert sender.timer.rto_jiffy == 10 + sender.timer.rto
        ack(sender, 2, 11)
        assert sender.timer.rto_jiffy == -1
        assert not sender.timer_expired(800)


class TestWindowProbes:
    """`tcp_probe_timer`: data to send, none outstanding, and a window that does not take it."""

    def test_timer_runs_with_the_retransmission_timeout(self) -> None:
        sender = started(2)
        sender.seq.write(5 * MSS, end_of_send=True)
        ack(sender, 2, 10, window=0)
        assert send(sender, 10) == []
        assert sender.awaits_window(10)
        assert sender.timer.rto_jiffy == 10 + sender.timer.rto

    def test_intervals_double(self) -> None:
        sender = started(2)
        sender.seq.write(5 * MSS, end_of_send=True)
        ack(sender, 2, 10, window=0)
        now, intervals = 10, []
        for _ in range(4):
            assert sender.awaits_window(now)
            intervals.append(sender.timer.rto_jiffy - now)
            now = sender.timer.rto_jiffy
            assert sender.timer_expired(now)
            assert sender.timer.probing
            assert send(sender, now) == []
            # the probe's answer: still closed
            ack(sender, 2, now, window=0)
        assert intervals == [sender.timer.rto * 2**n for n in range(4)]

    @pytest.mark.parametrize("window", [1, 300])
    def test_probe_carries_what_the_window_takes(self, window: int) -> None:
        sender = started(2)
        sender.seq.write(5 * MSS, end_of_send=True)
        ack(sender, 2, 10, window=window)
        assert send(sender, 10) == []
        sender.awaits_window(10)
        sender.timer_expired(100)
        assert send(sender, 100) == [window]
        assert not sender.timer.probing
        assert sender.timer.rto_jiffy == 100 + sender.timer.rto

    def test_open_window_ends_them(self) -> None:
        sender = started(2)
        sender.seq.write(5 * MSS, end_of_send=True)
        ack(sender, 2, 10, window=0)
        sender.awaits_window(10)
        sender.timer_expired(100)
        assert sender.timer.take_probe()
        ack(sender, 2, 100)
        assert send(sender, 100) == [MSS] * 5
        assert sender.timer.rto_jiffy == 100 + sender.timer.rto

    @pytest.mark.parametrize(("version", "sack"), [("2.6.18", False), ("6.18", True)])
    def test_an_answer_that_leaves_it_closed_begins_the_wait_anew(
        self,
        version: str,
        sack: bool,  # noqa: FBT001
    ) -> None:
        """`tcp_ack_probe`."""
        sender = started(2, sack=sack, rules=sender_rules(version))
        sender.seq.write(5 * MSS, end_of_send=True)
        for jiffy in (10, 20):
            ack(sender, 2, jiffy, window=0)
            assert sender.awaits_window(jiffy)
            assert sender.timer.rto_jiffy == jiffy + sender.timer.rto

    def test_without_data_there_is_nothing_to_ask(self) -> None:
        sender = started(2)
        ack(sender, 2, 10, window=0)
        assert not sender.awaits_window(10)


class TestFastRetransmit:
    """Without SACK: NewReno, RFC 6582, with the window reduced by every second ACK."""

    def test_third_duplicate_starts_it(self) -> None:
        sender = started(10, cwnd=10)
        sent = []
        for _ in range(4):
            ack(sender, 0)
            sent.append(numbers(sender))
        assert sent == [[], [], [0], []]
        assert sender.recovery.state == RECOVERY
        assert sender.congestion.ssthresh == 5

    def test_window_update_is_no_duplicate(self) -> None:
        sender = started(10)
        for number in range(5):
            ack(sender, 0, window=(1 << 20) + number + 1)
        assert sender.recovery.state == OPEN

    def test_an_ack_with_data_is_no_duplicate(self) -> None:
        sender = started(10)
        for _ in range(5):
            sender.acknowledge(0, 1 << 20, 0, None, -1, with_data=True)
        assert sender.recovery.state == OPEN

    def test_reordering_sets_the_threshold(self) -> None:
        sender = started(10, reordering=6)
        for _ in range(5):
            ack(sender, 0)
        assert sender.recovery.state == DISORDER
        ack(sender, 0)
        assert sender.recovery.state == RECOVERY

    def test_limited_transmit(self) -> None:
        # RFC 3042: the first two duplicates let one new segment go each
        sender = started(10, cwnd=10)
        sender.seq.write(10 * MSS, end_of_send=True)
        sent = []
        for _ in range(2):
            ack(sender, 0)
            sent.append(numbers(sender))
        assert sent == [[10], [11]]

    def test_every_second_duplicate_lets_a_new_segment_go(self) -> None:
        sender = started(20, cwnd=20)
        sender.seq.write(20 * MSS, end_of_send=True)
        sent = 0
        for _ in range(19):
            ack(sender, 0)
            sent += len(send(sender))
        # of 19 duplicates two found the window whole, the third brought the retransmission
        assert 9 <= sent <= 13

    def test_partial_ack_retransmits_the_next_hole(self) -> None:
        sender = started(10)
        for _ in range(3):
            ack(sender, 0)
        assert numbers(sender) == [0]
        ack(sender, 4)
        assert sender.recovery.state == RECOVERY
        assert numbers(sender) == [4]
        assert sender.output.retransmissions == 2

    def test_ends_when_more_than_it_began_with_is_acknowledged(self) -> None:
        sender = started(10)
        for _ in range(8):
            ack(sender, 0)
        send(sender)
        sender.seq.write(10 * MSS, end_of_send=True)
        ack(sender, 10)
        # RFC 2582: not yet, duplicates of these segments may still come
        assert sender.recovery.state == RECOVERY
        send(sender)
        ack(sender, 11)
        assert sender.recovery.state == DISORDER
        assert sender.congestion.cwnd <= sender.congestion.ssthresh
        ack(sender, 12)
        assert sender.recovery.state == OPEN


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["write", "ack", "dup", "timeout", "window"]), st.integers(0, 40_000)
        ),
        max_size=80,
    ),
    st.booleans(),
)
def test_order_of_sequence_numbers_always_holds(steps: list[tuple[str, int]], tso: bool) -> None:  # noqa: FBT001
    sender = make(cwnd=4, tso=tso)
    highest = 0
    window = 50_000
    for now, (what, value) in enumerate(steps):
        if what == "write":
            sender.seq.write(min(value, sender.seq.room()), end_of_send=True)
        elif what == "ack" and highest:
            # a receiver acknowledges anything up to the highest it has seen
            sender.acknowledge(max(sender.seq.snd_una, value % (highest + 1)), window, now)
        elif what == "dup":
            sender.acknowledge(sender.seq.snd_una, window, now)
        elif what == "timeout" and sender.timer.rto_jiffy != -1:
            sender.timer_expired(now)
        elif what == "window":
            window = value
        assert all(0 < length <= MSS for length in send(sender, now))
        highest = max(highest, sender.seq.snd_nxt)
        assert sender.seq.snd_una <= sender.seq.snd_nxt <= sender.seq.write_seq
        assert (sender.packets_out() == 0) == (sender.seq.snd_nxt == sender.seq.snd_una)
        assert sender.packets_out() == 0 or sender.timer.rto_jiffy != -1


@pytest.mark.skipif(_engine.active() == "interpreted", reason="Python tracks all it interprets")
@pytest.mark.parametrize("sack", [True, False])
def test_the_collector_does_not_walk_through_connections(sack: bool) -> None:  # noqa: FBT001
    """They hold no cycles, and a machine may have ten thousand."""
    sender = make(sack=sack, rules=sender_rules("6.18"))
    parts = (
        sender,
        sender.board,
        sender.recovery,
        sender.sacks or sender.newreno,
        sender.timer.rtt,
    )
    assert not any(map(gc.is_tracked, parts))
