"""RACK-TLP (RFC 8985) and F-RTO (RFC 5682) as Linux 4.18 and later have them.

Segments carry 1000 bytes and are counted from 0; a jiffy is a millisecond, the round trip 100 ms.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.link.skb import SkbQueue
from simnet.net.tcp.congestion.cubic import Cubic
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.net.tcp.recovery.recovery import DISORDER, LOSS, OPEN, RECOVERY
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.timer import RttEstimator
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath
from tests.host.parts import MS, US
from tests.net.parts import make_congestion
from tests.net.tcp.send.test_sender import CPU, MSS, make

RTO, PROBE, REORDERING = 0, 1, 2
SECOND = 1000 * MS


class Connection:
    """A sender with segments on their way, sent at 100 ms; the handshake has measured 100 ms."""

    def __init__(self, segments: int, *, cwnd: int = 0, timestamps: bool = False) -> None:
        rules = sender_rules("6.18")
        self.sender: TcpSender = make(
            cwnd=cwnd or segments, sack=True, rules=rules, jiffy_ps=MS, timestamps=timestamps
        )
        self.sender.measured(100_000)
        self.sender.seq.write(segments * MSS, end_of_send=True)
        assert len(self.sent(100)) == segments

    def sent(self, ms: int) -> list[int]:
        """Segments that go out now."""
        queue = SkbQueue()
        self.sender.timer.set_time(1000 * ms * US)
        self.sender.output.stage(queue, CPU, ms)
        return [queue.pop().seq // MSS for _ in range(queue.count)]

    def ack(
        self,
        ms: int,
        una: int,
        *held: tuple[int, int],
        dsack: tuple[int, int] | None = None,
        echo: int = -1,
    ) -> list[int]:
        """An ACK with blocks of segments (first, last); return which segments are sent then."""
        told = ((dsack,) if dsack else ()) + held
        blocks = [(first * MSS, (last + 1) * MSS) for first, last in told]
        self.sender.timer.set_time(1000 * ms * US)
        self.sender.acknowledge(una * MSS, 1 << 20, ms, blocks or None, echo)
        return self.sent(ms)

    def timer(self) -> tuple[int, list[int]]:
        """Let the timer run when it is due; return when that is, and what is sent."""
        ms = self.sender.timer.rto_jiffy
        self.sender.timer.set_time(1000 * ms * US)
        return ms, self.sent(ms) if self.sender.timer_expired(ms) else []

    def write(self, segments: int) -> None:
        self.sender.seq.write(segments * MSS, end_of_send=True)


def test_the_tail_is_lost() -> None:
    """RFC 8985, the example of section 3.3: of four segments only the first comes."""
    tcp = Connection(4)
    assert tcp.ack(200, 1) == []
    # two round trips later the last one is sent again
    assert tcp.timer() == (402, [3])
    assert tcp.sender.timeouts == 0
    # which comes, and tells by its time that what was sent before it is lost; for one that has
    # come one may be sent
    assert tcp.ack(502, 1, (3, 3)) == [1]
    assert (tcp.sender.recovery.state, tcp.sender.board.lost_out) == (RECOVERY, 2)
    assert tcp.ack(602, 2, (3, 3)) == [2]
    assert tcp.ack(702, 4) == []
    assert (tcp.sender.recovery.state, tcp.sender.timeouts) == (OPEN, 0)


def test_a_retransmission_that_is_lost_is_sent_again() -> None:
    tcp = Connection(10)
    assert tcp.ack(200, 0, (1, 2)) == []
    assert tcp.ack(201, 0, (1, 3)) == [0]
    tcp.write(2)
    assert tcp.sent(202) == []
    sent = [number for last in range(4, 10) for number in tcp.ack(200 + last, 0, (1, last))]
    assert 10 in sent
    # sent later than the retransmission, which has not come
    assert 0 in tcp.ack(310, 0, (1, 10))


class TestRack:
    def test_three_behind_a_hole_mean_that_it_is_lost(self) -> None:
        tcp = Connection(10)
        assert [tcp.ack(200, 0, (1, last)) for last in (1, 2, 3)] == [[], [], [0]]

    def test_a_round_trip_shorter_than_any_before_counts_of_what_was_sent_once(self) -> None:
        tcp = Connection(10)
        assert tcp.ack(150, 0, (1, 3)) == [0]

    def test_an_ack_that_comes_late_tells_of_what_was_sent_since_the_last(self) -> None:
        tcp = Connection(4, cwnd=20)
        tcp.ack(200, 2)
        tcp.write(4)
        assert tcp.sent(201) == [4, 5, 6, 7]
        tcp.ack(300, 1, (5, 5))
        assert tcp.sender.board.sacked_out == 1

    def test_fewer_may_have_overtaken_it_for_a_quarter_of_a_round_trip(self) -> None:
        tcp = Connection(10)
        assert tcp.ack(200, 0, (1, 1)) == []
        assert (tcp.sender.timer.pending, tcp.sender.recovery.state) == (REORDERING, DISORDER)
        # 25 ms, and two against rounding
        assert tcp.timer() == (227, [0])
        assert tcp.sender.recovery.state == RECOVERY

    def test_what_comes_within_that_time_is_not_sent_again(self) -> None:
        tcp = Connection(10)
        assert tcp.ack(200, 0, (1, 2)) == []
        assert tcp.ack(224, 3) == []
        assert (tcp.sender.output.retransmissions, tcp.sender.recovery.state) == (0, OPEN)
        assert tcp.sender.timer.pending == PROBE
        assert tcp.sender.sacks is not None
        assert tcp.sender.sacks.rack.reordering_seen == 1

    def test_once_reordering_was_seen_their_number_means_nothing(self) -> None:
        tcp = Connection(20)
        tcp.ack(200, 0, (1, 1))
        tcp.ack(201, 2)
        assert [tcp.ack(202, 2, (3, last)) for last in (3, 4, 5, 6, 7)] == [[]] * 5
        assert tcp.sender.timer.pending == REORDERING
        ms, sent = tcp.timer()
        assert (229 <= ms <= 231, sent) == (True, [2])

    def test_the_window_is_no_longer_than_a_round_trip(self) -> None:
        tcp = Connection(10)
        assert tcp.sender.sacks is not None
        rack = tcp.sender.sacks.rack
        assert rack.window_us(OPEN) == 25_000
        rack.came_late()
        for _ in range(9):
            rack.came_twice()
            rack.came(10**9)
            rack.adjust(1)
        assert (rack.steps, rack.window_us(OPEN)) == (10, 100_000)

    def test_needless_retransmissions_widen_the_window_and_are_undone(self) -> None:
        tcp = Connection(20)
        tcp.ack(200, 0, (1, 1))
        tcp.ack(201, 2)
        before = tcp.sender.congestion.cwnd
        assert tcp.ack(202, 2, (3, 5)) == []
        ms, sent = tcp.timer()
        assert sent == [2]
        # the original comes, then the copy
        tcp.ack(ms + 1, 6)
        assert tcp.sender.sacks is not None
        assert tcp.sender.sacks.rack.steps == 1
        tcp.ack(ms + 100, 6, dsack=(2, 2))
        # with the next segment that comes
        tcp.ack(ms + 101, 7)
        assert tcp.sender.sacks.rack.steps == 2
        assert tcp.sender.sacks.rack.window_us(OPEN) == pytest.approx(50_000, rel=0.02)
        assert tcp.sender.congestion.cwnd >= before

    def test_it_shrinks_again_after_sixteen_recoveries_without(self) -> None:
        tcp = Connection(4)
        assert tcp.sender.sacks is not None
        rack = tcp.sender.sacks.rack
        rack.came_late()
        rack.came_twice()
        rack.came(10**9)
        rack.adjust(1)
        steps = []
        for _ in range(17):
            steps.append(rack.steps)
            rack.recovered(False)  # noqa: FBT003 - a cdef function has no keywords
            rack.came(10**9)
            rack.adjust(1)
        assert steps == [2] * 16 + [1]

    def test_a_round_trip_too_short_is_that_of_the_original(self) -> None:
        tcp = Connection(10)
        assert [tcp.ack(200, 0, (1, last)) for last in (1, 2, 3)][-1] == [0]
        assert tcp.sender.sacks is not None
        # 3 ms after it was sent again: nothing that was sent before that is lost for it
        assert tcp.ack(203, 1, (2, 3)) == []
        assert tcp.sender.sacks.rack.sent_us == 100_000

    def test_holes_in_recovery_are_lost_without_waiting(self) -> None:
        tcp = Connection(20)
        for last in (2, 3, 4):
            tcp.ack(200, 1, (2, last))
        assert tcp.sender.recovery.state == RECOVERY
        assert 6 in tcp.ack(201, 1, (7, 9), (2, 5))


class TestTailLossProbe:
    def test_it_is_a_new_segment_if_there_is_one_whatever_the_window(self) -> None:
        tcp = Connection(4)
        tcp.write(2)
        assert tcp.sent(101) == []
        assert tcp.timer() == (302, [4])
        assert tcp.sender.output.retransmissions == 0

    def test_one_segment_may_wait_for_a_delayed_ack(self) -> None:
        tcp = Connection(1)
        # not later than the timeout, 100 ms and the least variance of 200 ms
        assert (tcp.sender.timer.pending, tcp.sender.timer.rto_jiffy) == (PROBE, 400)

    def test_it_does_not_help_if_all_is_lost(self) -> None:
        tcp = Connection(4)
        assert tcp.timer() == (302, [3])
        assert tcp.sender.timer.pending == RTO
        ms, sent = tcp.timer()
        assert (ms, sent) == (302 + 300, [0])
        assert (tcp.sender.timeouts, tcp.sender.recovery.state) == (1, LOSS)

    def test_a_loss_that_it_repaired_halves_the_window(self) -> None:
        tcp = Connection(4)
        tcp.ack(200, 3)
        cwnd = tcp.sender.congestion.cwnd
        assert tcp.timer()[1] == [3]
        tcp.write(1)
        tcp.ack(502, 4)
        tcp.ack(602, 5)
        assert tcp.sender.congestion.ssthresh == cwnd // 2
        assert tcp.sender.recovery.state == OPEN

    @pytest.mark.parametrize("dsack", [True, False])
    def test_a_needless_one_changes_nothing(self, dsack: bool) -> None:  # noqa: FBT001
        tcp = Connection(4)
        tcp.ack(200, 3)
        cwnd = tcp.sender.congestion.cwnd
        assert tcp.timer()[1] == [3]
        tcp.ack(501, 4)
        if dsack:
            tcp.ack(502, 4, dsack=(3, 3))
        else:
            tcp.ack(502, 4)
        assert tcp.sender.congestion.cwnd >= cwnd
        assert tcp.sender.congestion.ssthresh > cwnd
        assert tcp.sender.sacks is not None
        probe = tcp.sender.sacks.probe
        assert (probe.sent, probe.repaired, tcp.sender.sacks.tags.probe_end) == (1, 0, -1)

    def test_there_is_none_in_recovery(self) -> None:
        tcp = Connection(10)
        for last in (2, 3, 4):
            tcp.ack(200, 1, (2, last))
        assert tcp.sender.timer.pending != PROBE

    def test_in_recovery_what_is_sent_does_not_put_the_timeout_off(self) -> None:
        tcp = Connection(10)
        assert tcp.ack(200, 0, (1, 3)) == [0]
        tcp.ack(210, 0, (1, 9))
        due = tcp.sender.timer.rto_jiffy
        tcp.write(2)
        assert tcp.sent(250) == [10, 11]
        assert (tcp.sender.timer.pending, tcp.sender.timer.rto_jiffy) == (RTO, due)


class TestTimeouts:
    def test_only_what_is_older_than_a_round_trip_is_lost(self) -> None:
        tcp = Connection(4, cwnd=20)
        tcp.ack(200, 1)
        tcp.write(2)
        assert tcp.sent(350) == [4, 5]
        assert tcp.sender.sacks is not None
        tcp.sender.timer.set_time(410_000 * US)
        tcp.sender.sacks.timeout()
        assert (tcp.sender.board.lost_out, tcp.sender.recovery.state) == (3, LOSS)

    def test_the_congestion_control_begins_anew(self) -> None:
        tcp = Connection(8)
        window = make_congestion("cubic", 8, hz=1000, rules=sender_rules("6.18"))
        assert isinstance(window, Cubic)
        sender = make(
            congestion=window, sack=True, rules=sender_rules("6.18"), jiffy_ps=MS, timestamps=False
        )
        tcp.sender = sender
        sender.measured(100_000)
        sender.seq.write(8 * MSS, end_of_send=True)
        tcp.sent(100)
        tcp.timer()
        tcp.timer()
        # bictcp_state: what it knew of the last maximum is gone
        assert (sender.timeouts, window.ssthresh, window.last_max_cwnd) == (1, 8 * 717 // 1024, 0)

    def test_what_comes_though_never_sent_again_undoes_one(self) -> None:
        """F-RTO, without timestamps: all was only late."""
        tcp = Connection(8)
        cwnd = tcp.sender.congestion.cwnd
        tcp.timer()
        ms, sent = tcp.timer()
        assert sent == [0]
        tcp.write(4)
        # the first ACK may be for the retransmission; two new segments find out
        assert tcp.ack(ms + 10, 1) == [8, 9]
        assert tcp.sender.recovery.state == LOSS
        tcp.ack(ms + 20, 2)
        assert tcp.sender.recovery.state == OPEN
        assert (tcp.sender.congestion.cwnd >= cwnd, tcp.sender.recovery.spurious) == (True, 1)
        assert tcp.sender.output.retransmissions == 2

    def test_a_duplicate_after_two_segments_shows_that_it_was_none(self) -> None:
        """RFC 5682, 2.1, step 3a: another ACK for what never went again does not change that."""
        tcp = Connection(8)
        tcp.timer()
        ms, _ = tcp.timer()
        tcp.write(4)
        assert tcp.ack(ms + 10, 1) == [8, 9]
        tcp.ack(ms + 15, 1)
        tcp.ack(ms + 20, 2)
        assert (tcp.sender.recovery.state, tcp.sender.recovery.spurious) == (LOSS, 0)

    def test_a_receiver_that_drops_what_it_held_gets_it_again_after_a_while(self) -> None:
        tcp = Connection(8)
        tcp.ack(200, 0, (1, 2))
        assert tcp.ack(201, 1) == []
        ms, sent = tcp.timer()
        assert (ms in {251, 252}, sent) == (True, [1])
        assert tcp.sender.recovery.state == LOSS


def test_the_shortest_round_trip_is_forgotten_after_five_minutes() -> None:
    rtt = RttEstimator(MS, 200 * MS, 120 * SECOND)
    rtt.bound(10, 0)
    for second in range(1, 299):
        rtt.bound(50, second * 10**6)
    assert rtt.least_us == 10
    for second in range(299, 602):
        rtt.bound(50, second * 10**6)
    assert rtt.least_us == 50


@given(
    loss=st.integers(0, 10**8),
    late=st.integers(0, 2 * 10**8),
    late_us=st.integers(0, 20_000),
    queue=st.sampled_from([0, 8_000, 60_000]),
    timestamps=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(max_examples=15)
def test_what_is_counted_is_what_is_there(**drawn: Any) -> None:
    """Over any path all arrives, and at no time is more lost or in flight than was sent."""
    path = PathOptions(
        rate_bps=10**8,
        delay_ps=2 * MS,
        queue_bytes=drawn["queue"],
        loss_ppb=drawn["loss"],
        late_ppb=drawn["late"],
        late_ps=drawn["late_us"] * US,
    )
    tcp = TcpOptions(kernel="6.18", initial_cwnd=10, timestamps=drawn["timestamps"])
    run = TcpPath(path, tcp, BulkSource(600_000), Sink(), seed=drawn["seed"])
    sender, board = run.left.sender, run.left.sender.board
    for step in range(4000):
        run.run_for((2 if step < 50 else 500) * MS)
        out = board.packets_out()
        assert 0 <= board.sacked_out + board.lost_out <= out
        assert 0 <= board.retrans_out <= out
        assert sender.congestion.cwnd >= 1
        assert board.in_flight() >= 0
        if run.right.delivered == 600_000 and out == 0:
            break
    assert run.right.delivered == run.right.receiver.seq.rcv_nxt == 600_000
    assert sender.seq.snd_una == sender.seq.snd_nxt == 600_000
