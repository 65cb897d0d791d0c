"""Explicit congestion notification: RFC 3168 as Linux has it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.link.skb import CE, CWR, ECE, ECT
from simnet.net.tcp.recovery.recovery import CWR as REDUCED
from simnet.net.tcp.recovery.recovery import OPEN, RECOVERY
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.send.sender import TcpSender
from tests.house.examples import examples
from tests.net.tcp.recovery.test_rack import Connection
from tests.net.tcp.recovery.test_recovery import LATEST, ack, started
from tests.net.tcp.send.test_sender import MSS


def echoing(sack: bool = True, **options: Any) -> tuple[TcpSender, Ecn]:  # noqa: FBT001, FBT002
    """A sender with twenty segments on their way whose marks are echoed."""
    sender, ecn = started(20, LATEST, sack=sack, **options), Ecn()
    sender.use_ecn(ecn)
    return sender, ecn


class TestMarks:
    def test_they_are_echoed_until_the_peer_has_reduced(self) -> None:
        ecn = Ecn()
        found = []
        for bits in (ECT, CE, ECT, ECT | CWR, ECT):
            ecn.arrives(bits)
            ecn.checked()
            found.append(ecn.leaving(False))  # noqa: FBT003 - a cdef function has no keywords
        assert found == [0, ECE, ECE, 0, 0]

    def test_nothing_has_come_at_first(self) -> None:
        ecn = Ecn()
        assert not any((ecn.reduced, ecn.echoes, ecn.seen, ecn.checked()))
        assert (ecn.arriving, ecn.marks, ecn.leaving(False)) == (0, 0, 0)  # noqa: FBT003

    def test_the_first_mark_is_acknowledged_at_once_and_what_may_be_sent_again(self) -> None:
        ecn = Ecn()
        found = []
        # data without ECT after some with it are probably sent again
        for bits in (0, ECT, 0, CE, CE, ECT | CE, ECT | CWR, ECT | CE, 0):
            reduced = ecn.arrives(bits)
            assert (ecn.arriving, reduced) == (bits, bool(bits & CWR))
            found.append(ecn.checked())
        assert found == [False, False, True, True, False, False, False, True, True]
        assert (ecn.marks, ecn.seen, ecn.echoes) == (4, True, True)

    def test_a_mark_alone_shows_that_there_is_ecn(self) -> None:
        ecn = Ecn()
        ecn.arrives(CE)
        ecn.checked()
        ecn.arrives(0)
        assert ecn.checked()

    def test_an_echo_and_an_answer_go_together(self) -> None:
        ecn = Ecn()
        ecn.arrives(CE)
        ecn.checked()
        ecn.reduce()
        assert ecn.leaving(True) == ECT | CWR | ECE  # noqa: FBT003
        assert ecn.leaving(True) == ECT | ECE  # noqa: FBT003
        assert (ECT, CE, ECE, CWR) == (1, 2, 4, 8)

    def test_a_marked_segment_with_cwr_begins_anew(self) -> None:
        ecn = Ecn()
        assert ecn.arrives(CE | CWR)
        assert ecn.checked()
        assert ecn.echoes

    def test_only_new_data_may_be_marked(self) -> None:
        ecn = Ecn()
        ecn.reduce()
        assert ecn.leaving(False) == 0  # noqa: FBT003
        assert ecn.leaving(True) == ECT | CWR  # noqa: FBT003
        assert ecn.leaving(True) == ECT  # noqa: FBT003

    @settings(max_examples=examples(200))
    @given(st.lists(st.sampled_from([0, ECT, CE, ECT | CWR, CE | CWR])))
    def test_an_echo_means_a_mark_since_the_last_answer(self, arriving: list[int]) -> None:
        ecn = Ecn()
        open_mark = False
        for bits in arriving:
            ecn.arrives(bits)
            ecn.checked()
            open_mark = bool(bits & CE) or (open_mark and not bits & CWR)
            assert ecn.echoes == open_mark
        assert ecn.marks == sum(bool(bits & CE) for bits in arriving)


class TestTheSender:
    @pytest.mark.parametrize("sack", [True, False])
    def test_an_echo_halves_the_window_once_a_round_trip(self, sack: bool) -> None:  # noqa: FBT001
        sender, ecn = echoing(sack)
        sender.echoed(True)  # noqa: FBT003
        for una in range(1, 21):
            ack(sender, una)
        assert (sender.recovery.state, sender.congestion.ssthresh) == (REDUCED, 10)
        assert ecn.reduced
        assert sender.output.retransmissions == 0
        sender.echoed(False)  # noqa: FBT003
        sender.seq.write(5 * MSS, end_of_send=True)
        ack(sender, 20, jiffy=11)
        ack(sender, 25, jiffy=40)
        assert sender.recovery.state == OPEN
        assert sender.congestion.cwnd in {10, 11}

    def test_without_agreement_it_means_nothing(self) -> None:
        sender = started(20, LATEST)
        sender.echoed(True)  # noqa: FBT003
        ack(sender, 2)
        assert sender.recovery.state == OPEN

    def test_a_loss_after_it_reduces_no_further(self) -> None:
        sender, _ = echoing()
        sender.echoed(True)  # noqa: FBT003
        ack(sender, 1)
        for last in (3, 4, 5):
            ack(sender, 1, (2, last))
        assert (sender.recovery.state, sender.congestion.ssthresh) == (RECOVERY, 10)

    def test_a_loss_that_a_probe_repaired_reduces_no_further(self) -> None:
        tcp = Connection(4)
        tcp.sender.use_ecn(Ecn())
        tcp.ack(200, 3)
        cwnd = tcp.sender.congestion.cwnd
        assert tcp.timer()[1] == [3]
        tcp.write(1)
        tcp.sender.echoed(True)  # noqa: FBT003
        tcp.ack(450, 3)
        tcp.sender.echoed(False)  # noqa: FBT003
        tcp.ack(502, 4)
        tcp.ack(602, 5)
        assert tcp.sender.congestion.ssthresh == cwnd // 2
        assert tcp.sender.sacks is not None
        assert (tcp.sender.sacks.probe.sent, tcp.sender.sacks.probe.repaired) == (1, 0)

    def test_a_loss_without_it_says_so_too(self) -> None:
        sender, ecn = echoing()
        for last in (2, 3, 4):
            ack(sender, 1, (2, last))
        assert sender.recovery.state == RECOVERY
        assert ecn.reduced
