"""What is taken for lost, sent again, and taken back: net/ipv4/tcp_input.c by version.

Segments carry 1000 bytes and are counted from 0; jiffies are 4 ms.
"""

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

from simnet.net.tcp.recovery.recovery import CWR, DISORDER, LOSS, OPEN, RECOVERY
from simnet.net.tcp.rules.sender_version import congestion_controls, sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.host.parts import US
from tests.net.tcp.send.test_sender import MSS, make, numbers

FIRST, LATER, PRR, COUNTING, LATEST = "2.6.18", "2.6.32", "3.2", "4.12", "6.18"


def started(segments: int, version: str = FIRST, **options: Any) -> TcpSender:
    """A sender with so many segments on their way, and nothing more to send."""
    usual: dict[str, Any] = {"cwnd": segments, "sack": True, "rules": sender_rules(version)}
    sender = make(**(usual | options))
    sender.seq.write(segments * MSS, end_of_send=True)
    assert len(numbers(sender)) == segments
    return sender


def ack(
    sender: TcpSender,
    una: int,
    *held: tuple[int, int],
    dsack: tuple[int, int] | None = None,
    jiffy: int = 10,
    echo: int = -1,
) -> list[int]:
    """An ACK with blocks of segments (first, last); return which segments are sent then."""
    blocks = [(first * MSS, (last + 1) * MSS) for first, last in ((dsack,) if dsack else ()) + held]
    sender.timer.set_time(4000 * jiffy * US)
    if sender.timer.rtt.fine and echo >= 0:
        echo *= 4
    sender.acknowledge(una * MSS, 1 << 20, jiffy, blocks or None, echo)
    return numbers(sender, jiffy)


class TestWhatIsLost:
    def test_three_segments_behind_a_hole(self) -> None:
        sender = started(10)
        assert [ack(sender, 0, (1, last)) for last in (1, 2, 3)] == [[], [], [0]]
        assert sender.recovery.state == RECOVERY

    def test_fack_takes_the_distance_for_the_number(self) -> None:
        sender = started(10)
        assert ack(sender, 0, (3, 3)) == [0]
        assert sender.board.lost_out == 1

    def test_without_fack_it_is_the_number(self) -> None:
        sender = started(10, LATEST)
        assert ack(sender, 0, (3, 3)) == []
        assert sender.recovery.state == DISORDER

    @pytest.mark.parametrize("version", [FIRST, LATER, PRR, LATEST])
    def test_several_holes_are_filled_in_one_round_trip(self, version: str) -> None:
        sender = started(30, version)
        sent: list[int] = []
        for last in range(6, 30):
            sent += ack(sender, 0, (5, last), (3, 3), (1, 1))
        assert sent == [0, 2, 4]
        assert sender.recovery.entered == 1

    def test_holes_beyond_the_tolerated_distance_are_left_alone(self) -> None:
        sender = started(30)
        sent = []
        for last in range(12, 14):
            sent += ack(sender, 0, (last, last), (1, 10))
        # 14 segments up to the highest, of which the last three may just be late
        assert sender.board.lost_out == 1
        assert sent == [0]

    def test_a_retransmission_that_is_lost_too_is_sent_again(self) -> None:
        sender = started(10, cwnd=20)
        sender.seq.write(10 * MSS, end_of_send=True)
        sent = [number for last in range(1, 10) for number in ack(sender, 0, (1, last))]
        assert 0 in sent[:-1]
        assert sent.count(0) == 1
        # what was sent after it has come
        assert sent[-1] > 9
        assert 0 in ack(sender, 0, (1, sent[-1]))

    def test_copies_of_an_ack_tell_nothing(self) -> None:
        sender = started(10)
        for _ in range(8):
            assert ack(sender, 0, (1, 1)) == []
        assert sender.recovery.state == DISORDER

    def test_an_old_ack_is_looked_at_for_its_blocks_only(self) -> None:
        sender = started(10)
        ack(sender, 5)
        ack(sender, 3, (7, 7))
        assert (sender.seq.snd_una, sender.board.sacked_out) == (5 * MSS, 1)

    def test_a_timeout_spares_what_the_receiver_holds(self) -> None:
        sender = started(8)
        ack(sender, 0, (2, 2))
        sender.timer_expired(800)
        sent = numbers(sender, 800)
        for una in (1, 3, 4, 5, 6):
            sent += ack(sender, una, jiffy=801)
        assert 2 not in sent
        assert sent == [0, 1, 3, 4, 5, 6, 7]

    def test_a_receiver_that_drops_what_it_held_gets_all_again(self) -> None:
        sender = started(8)
        ack(sender, 0, (1, 2))
        # it acknowledges 1, which it held, no further
        assert ack(sender, 1) == [1]
        assert sender.recovery.state == LOSS

    def test_holes_are_filled_when_there_is_nothing_else_to_send(self) -> None:
        first, last = started(20), started(20, COUNTING)
        for sender in (first, last):
            sent = [n for highest in range(6, 20) for n in ack(sender, 0, (5, highest), (1, 3))]
            assert sent == [0, 4]
        # one is overtaken by the last alone, which may mean nothing
        found = []
        for version in (FIRST, COUNTING):
            sender = started(20, version)
            sent = [n for highest in range(1, 18) for n in ack(sender, 0, (1, highest))]
            found.append(sent + ack(sender, 0, (19, 19), (1, 17)))
        assert found == [[0, 18], [0]]

    def test_what_was_sent_later_shows_losses_on_any_ack(self) -> None:
        """A window update is no duplicate, so that only FLAG_DATA_LOST tells."""
        sender = started(20)
        sender.seq.write(10 * MSS, end_of_send=True)
        sent = [number for last in range(1, 8) for number in ack(sender, 0, (1, last))]
        assert sent == [20, 21, 0, 22, 23]
        lost = []
        for window, highest in enumerate((12, 22), 1):
            blocks = [(highest * MSS, (highest + 1) * MSS), (MSS, 8 * MSS)]
            sender.acknowledge(0, (1 << 20) + window * MSS, 10, blocks, -1)
            lost.append(sender.board.lost_out)
        # all but the last three, and of the twenty eight are held
        assert lost == [1, 12]

    def test_half_of_a_short_flight_is_enough_where_much_is_tolerated(self) -> None:
        found = []
        for segments in (8, 9):
            sender = started(segments)
            sender.board.update_reordering(8)
            found.append([ack(sender, 0, (1, last)) for last in range(1, segments)])
        # with nine it takes the distance
        assert found == [[[], [], [], [0], [], [], []], [[], [], [], [], [], [], [], [0]]]


class TestTheWindow:
    def test_one_segment_less_for_every_second_ack(self) -> None:
        sender = started(20)
        cwnds = []
        for last in range(1, 20):
            ack(sender, 0, (1, last))
            cwnds.append(sender.congestion.cwnd)
        assert all(before - after in (0, 1) for before, after in pairwise(cwnds[3:]))
        assert sender.congestion.ssthresh == 10

    def test_as_long_as_there_is_something_to_send(self) -> None:
        sender = started(20)
        sender.seq.write(40 * MSS, end_of_send=True)
        cwnds = []
        for last in range(1, 16):
            ack(sender, 0, (1, last))
            cwnds.append(sender.congestion.cwnd)
        assert [before - after for before, after in pairwise(cwnds[3:])] == [0, 1] * 5 + [0]

    def test_what_is_below_the_threshold_stays_there_at_the_end(self) -> None:
        sender = started(20)
        for last in range(1, 17):
            ack(sender, 0, (1, last))
        # one more than the four in flight
        assert (sender.congestion.cwnd, sender.congestion.ssthresh) == (5, 10)
        sender.seq.write(10 * MSS, end_of_send=True)
        assert numbers(sender) == [20]
        sent = [number for last in (17, 18, 19) for number in ack(sender, 0, (1, last))]
        assert sent == [21, 22, 23]
        # four are in flight, to which a burst of three might be added
        ack(sender, 20)
        assert sender.congestion.cwnd == 5

    def test_recovery_ends_at_the_threshold(self) -> None:
        sender = started(20, LATEST)
        for last in (1, 2, 3):
            ack(sender, 0, (1, last))
        assert (sender.congestion.cwnd, sender.congestion.ssthresh) == (17, 10)
        ack(sender, 20)
        # which the 17 segments of that ACK raise by one
        assert (sender.recovery.state, sender.congestion.cwnd) == (OPEN, 11)

    @pytest.mark.parametrize("version", [PRR, COUNTING, LATEST])
    def test_proportional_rate_reduction(self, version: str) -> None:
        sender = started(20, version)
        sender.seq.write(40 * MSS, end_of_send=True)
        sent = [len(ack(sender, 0, (1, last))) for last in range(1, 20)]
        # limited transmit of two, the retransmission, then one for every two
        assert sent[:3] == [1, 1, 1]
        assert sum(sent[3:]) in (6, 7, 8)
        assert sum(sent[3:11]) in (3, 4, 5)
        ack(sender, 20 + sum(sent[:2]))
        # the ACK that ends it may raise the window in later ones
        assert sender.congestion.cwnd - sender.congestion.ssthresh == int(version == LATEST)

    def test_does_not_grow_in_recovery(self) -> None:
        sender = started(20)
        for last in range(1, 12):
            ack(sender, 0, (1, last))
        before = sender.congestion.cwnd
        ack(sender, 12)
        assert sender.congestion.cwnd <= before


class TestReordering:
    def test_a_late_segment_in_a_hole_is_tolerated_from_then_on(self) -> None:
        sender = started(20, reordering=10)
        ack(sender, 0, (1, 7))
        ack(sender, 0, (9, 12), (1, 7))
        # segment 8, the ninth, after 12, the thirteenth
        ack(sender, 0, (1, 12))
        assert sender.board.reordering == 10
        sender = started(20)
        for blocks in [((1, 1),), ((3, 3), (1, 1)), ((1, 3),)]:
            ack(sender, 0, *blocks)
        assert sender.board.reordering == 3

    def test_fack_ends_with_the_first(self) -> None:
        sender = started(30, reordering=5)
        assert sender.counted is not None
        ack(sender, 0, (2, 2))
        ack(sender, 0, (12, 12), (2, 2))
        assert sender.counted.tags.fack
        ack(sender, 0, (1, 2), (12, 12))
        # the second segment after the thirteenth; it had been taken for lost, but not sent again
        assert sender.board.reordering == 13 + 1 - 2
        assert not sender.counted.tags.fack

    @pytest.mark.parametrize(("version", "limit"), [(FIRST, 127), (LATEST, 300)])
    def test_there_is_a_limit(self, version: str, limit: int) -> None:
        sender = started(10, version)
        sender.board.update_reordering(5000)
        assert sender.board.reordering == limit

    def test_a_plain_ack_shows_it_in_later_versions(self) -> None:
        boards = []
        for version in (FIRST, LATER):
            sender = started(20, version, reordering=10)
            ack(sender, 0, (3, 8))
            ack(sender, 9)
            boards.append(sender.board.reordering)
        assert boards == [10, 10]

    def test_more_duplicates_than_segments_without_sack(self) -> None:
        sender = started(5, sack=False)
        for _ in range(6):
            ack(sender, 0)
        assert sender.board.reordering == 5


class TestUndo:
    def late(self, version: str = FIRST, **options: Any) -> TcpSender:
        """The first segment comes after the fourth, and has been sent again for nothing."""
        sender = started(20, version, **options)
        for last in (1, 2, 3):
            ack(sender, 0, (1, last), jiffy=10)
        assert (sender.recovery.state, sender.congestion.ssthresh) == (RECOVERY, 10)
        return sender

    def test_dsack_for_all_that_was_sent_again_when_all_has_come(self) -> None:
        sender = self.late()
        ack(sender, 20)
        ack(sender, 20, dsack=(0, 0))
        sender.seq.write(5 * MSS, end_of_send=True)
        numbers(sender)
        assert sender.recovery.undone == 0
        ack(sender, 21)
        assert (sender.recovery.undone, sender.recovery.state) == (1, OPEN)
        assert sender.congestion.ssthresh > 1 << 30

    def test_dsack_while_others_are_on_their_way(self) -> None:
        sender = self.late()
        ack(sender, 10)
        ack(sender, 12, dsack=(0, 0))
        assert sender.recovery.undone == 1
        # 20 again, but still in recovery no more than one beyond what is on its way
        assert sender.congestion.cwnd == 8 + 1

    def test_a_loss_is_not_undone(self) -> None:
        sender = self.late()
        ack(sender, 20)
        assert sender.recovery.undone == 0

    def test_eifel_an_echo_older_than_the_retransmission(self) -> None:
        sender = self.late()
        # answers the segment that was sent in jiffy 0, not the retransmission of jiffy 10
        ack(sender, 20, jiffy=12, echo=0)
        assert sender.recovery.undone == 1
        sender = self.late()
        ack(sender, 20, jiffy=12, echo=10)
        assert sender.recovery.undone == 0

    def test_a_partial_ack_that_undoes_raises_what_is_tolerated(self) -> None:
        sender = self.late()
        ack(sender, 4, (6, 6), jiffy=12, echo=0)
        assert sender.board.reordering > 3
        assert sender.recovery.undone == 1
        assert sender.recovery.state == RECOVERY

    def test_a_timeout_that_was_none(self) -> None:
        sender = started(10)
        sender.timer_expired(800)
        assert numbers(sender, 800) == [0]
        ack(sender, 4, jiffy=801, echo=0)
        assert (sender.recovery.state, sender.board.lost_out) == (OPEN, 0)
        assert sender.congestion.ssthresh > 1 << 30
        assert sender.congestion.cwnd == 6 + 3


class TestFrto:
    """RFC 4138 with SACK, in 2.6.24 to 3.9."""

    def test_acks_that_go_on_show_that_nothing_was_lost(self) -> None:
        sender = started(10, LATER)
        sender.seq.write(10 * MSS, end_of_send=True)
        sender.timer_expired(800)
        assert numbers(sender, 800) == [0]
        assert ack(sender, 1, jiffy=801) == [10, 11]
        ack(sender, 2, jiffy=801)
        assert (sender.recovery.spurious, sender.recovery.state) == (1, CWR)
        assert sender.output.retransmissions == 1

    def test_otherwise_all_is_sent_again(self) -> None:
        sender = started(10, LATER)
        sender.seq.write(10 * MSS, end_of_send=True)
        sender.timer_expired(800)
        assert numbers(sender, 800) == [0]
        assert ack(sender, 1, jiffy=801) == [10, 11]
        # what was sent since then has come, and 1 has not
        assert ack(sender, 1, (10, 10), jiffy=801) == [1, 2, 3]
        assert (sender.recovery.state, sender.recovery.spurious) == (LOSS, 0)

    def test_a_duplicate_says_nothing_about_the_first_segment(self) -> None:
        sender = started(10, LATER)
        sender.seq.write(10 * MSS, end_of_send=True)
        sender.timer_expired(800)
        assert numbers(sender, 800) == [0]
        # nothing else is sent: nine and the one sent again are in flight, and that is the window
        assert ack(sender, 0, (5, 5), jiffy=801) == []
        assert sender.congestion.cwnd == sender.board.in_flight() == 10
        assert ack(sender, 1, (5, 5), jiffy=802) == [10, 11]

    def test_a_loss_after_a_spurious_timeout_does_not_lower_the_threshold_again(self) -> None:
        sender = started(10, LATER)
        sender.seq.write(10 * MSS, end_of_send=True)
        sender.timer_expired(800)
        numbers(sender, 800)
        ack(sender, 1, jiffy=801)
        ack(sender, 2, jiffy=801)
        for una in range(3, 7):
            ack(sender, una, jiffy=801)
        assert (sender.recovery.state, sender.congestion.cwnd) == (CWR, 9)
        ack(sender, 6, (8, 11), jiffy=802)
        assert (sender.recovery.state, sender.congestion.ssthresh) == (RECOVERY, 5)

    def test_not_in_the_first_versions(self) -> None:
        sender = started(10)
        sender.seq.write(10 * MSS, end_of_send=True)
        sender.timer_expired(800)
        numbers(sender, 800)
        assert ack(sender, 1, jiffy=801) == [1, 2]


class TestVersions:
    @pytest.mark.parametrize(
        ("version", "offered"),
        [("2.6.5", ("reno",)), ("2.6.9", ("reno", "bic")), ("2.6.19", ("reno", "bic", "cubic"))],
    )
    def test_algorithms_that_exist(self, version: str, offered: tuple[str, ...]) -> None:
        assert congestion_controls(version) == offered

    def test_rules_of_2_6_18(self) -> None:
        rules = asdict(sender_rules("2.6.18"))
        holding = {"fack", "head_timeout", "forward_retransmit", "moderates_open", "bic_start"}
        holding |= {"delayed_ack", "minshall", "half_window", "dsack_goes_for_all"}
        assert {name for name, value in rules.items() if value is True} == holding
        numbers = {name: value for name, value in rules.items() if value not in {True, False}}
        assert numbers == {"max_reordering": 127}

    @pytest.mark.parametrize(
        ("before", "since", "changed"),
        [
            ("2.6.14", "2.6.15", {"bic_start", "delayed_ack"}),
            (
                "2.6.23",
                "2.6.24",
                {
                    *("counts_sacked", "head_timeout_fack", "ack_shows_reordering", "frto"),
                    *("moderates_open", "near_limit", "defers_two_ticks", "dsack_goes_for_all"),
                },
            ),
            ("2.6.28", "2.6.29", {"hystart", "bic_start"}),
            ("2.6.35", "2.6.36", {"whole_window_bytes"}),
            ("3.0", "3.1", {"keeps_handshake"}),
            ("3.1", "3.2", {"reduction"}),
            ("3.9", "3.10", {"head_timeout"}),
            ("3.12", "3.13", {"counts_slow_start"}),
            ("3.15", "3.16", {"limited_when_sent"}),
            ("3.17", "3.18", {"max_reordering"}),
            ("3.19", "4.0", {"counts_segments"}),
            ("4.2", "4.3", {"reduction", "slow_start_below"}),
            ("4.10", "4.11", {"forward_retransmit"}),
            ("4.12", "4.13", {"clock_us"}),
            ("4.14", "4.15", {"fack"}),
            ("4.17", "4.18", {"newreno", "rack"}),
            (
                "4.20",
                "5.0",
                {
                    *("limit_output_bytes", "min_tso_segs", "autocorking"),
                    *("pacing_ss_ratio", "pacing_ca_ratio"),
                },
            ),
            ("5.0", "5.1", {"defers_briefly", "dctcp_halves"}),
            ("5.17", "5.18", {"tso_rtt_log"}),
            ("6.0", "6.1", {"keeps_limit"}),
            ("6.5", "6.6", {"rack_margin_us"}),
            ("6.6", "6.7", {"single_passes"}),
            ("6.15", "6.16", {"limit_output_bytes"}),
            ("6.16", "6.18", set()),
        ],
    )
    def test_each_rule_came_with_its_version(
        self, before: str, since: str, changed: set[str]
    ) -> None:
        old, later = asdict(sender_rules(before)), asdict(sender_rules(since))
        assert {name for name in old if old[name] != later[name]} == changed

    def test_distributions_count_as_their_version(self) -> None:
        assert sender_rules("2.6.32-131.0.15.el6") == sender_rules("2.6.32")
