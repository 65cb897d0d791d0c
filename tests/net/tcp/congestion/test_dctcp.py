"""DCTCP: the share of marks, the window that it leaves, and what the receiver echoes (RFC 8257)."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import CE, CWR, ECE, ECT
from simnet.net.tcp.congestion.dctcp import Dctcp
from simnet.net.tcp.recovery.recovery import CWR as REDUCED
from simnet.net.tcp.recovery.recovery import LOSS, RECOVERY
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.net.tcp.rules.sender_version import congestion_controls, sender_rules
from tests.host.parts import MS, make_machine
from tests.net.parts import make_congestion, make_sender, make_socket, make_tg3, on_wire
from tests.net.parts import segment as frame
from tests.net.tcp.recovery.test_recovery import LATEST, ack, started


def dctcp(window: int, version: str = LATEST) -> Dctcp:
    made = make_congestion("dctcp", window, rules=sender_rules(version))
    assert isinstance(made, Dctcp)
    return made


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 100)), max_size=60))
def test_the_share_is_the_smoothed_one_of_the_rfc(rounds: list[tuple[int, int]]) -> None:
    window = dctcp(100)
    share, delivered, marked = Fraction(1), 0, 0
    window.ack_event(0, 1, 0, 0)
    # the handshake's is a round without marks
    share *= Fraction(15, 16)
    for una, (count, percent) in enumerate(rounds, start=1):
        delivered += count
        marked += count * percent // 100
        window.ack_event(una, una + 1, delivered, marked)
        share = share * Fraction(15, 16) + Fraction(count * percent // 100, 16 * count)
        share = min(share, Fraction(1))
    # integers of 1024, of which each round loses less than two
    assert abs(window.alpha - 1024 * share) <= 32


def test_it_changes_once_a_round_trip() -> None:
    window = dctcp(100)
    window.ack_event(0, 100, 0, 0)
    before = window.alpha
    for una in range(1, 100):
        window.ack_event(una, 100 + una, una, una)
        assert window.alpha == before
    window.ack_event(100, 200, 100, 100)
    assert window.alpha == before - (before >> 4) + 64


def test_a_share_that_fades_comes_to_nothing() -> None:
    window = dctcp(100)
    for una in range(100):
        window.ack_event(una, una + 1, una, 0)
    assert window.alpha == 0
    assert window.reduced() == window.cwnd


@pytest.mark.parametrize(("alpha", "left"), [(1024, 50), (512, 75), (128, 94), (0, 100)])
def test_marks_take_half_of_their_share_off_the_window(alpha: int, left: int) -> None:
    window = dctcp(100)
    while window.alpha > alpha:
        window.ack_event(window.next_seq, window.next_seq + 1, 0, 0)
    assert window.reduced() == pytest.approx(left, abs=2)
    assert dctcp(3).reduced() == 2


def marked(version: str = LATEST) -> tuple[Any, Ecn]:
    """A sender with twenty segments on their way and half of a share of marks."""
    sender, ecn = started(20, version, congestion=dctcp(20, version)), Ecn(True)  # noqa: FBT003
    sender.use_ecn(ecn)
    return sender, ecn


def test_what_a_mark_leaves_and_a_loss_after_it() -> None:
    sender, ecn = marked()
    sender.echoed(True)  # noqa: FBT003
    ack(sender, 1)
    # the share was 1 and has gone through a round
    assert (sender.recovery.state, sender.congestion.alpha) == (REDUCED, 960)
    assert sender.congestion.ssthresh == 20 - (20 * 960 >> 11)
    assert (ecn.delivered, ecn.delivered_ce) == (1, 1)
    sender.echoed(False)  # noqa: FBT003
    before = sender.congestion.cwnd
    for last in (3, 4, 5):
        ack(sender, 1, (2, last))
    # in spite of the reduction that is under way
    assert sender.recovery.state == RECOVERY
    assert sender.congestion.ssthresh <= before // 2


@pytest.mark.parametrize(("version", "halves"), [("4.19", False), ("5.4", True)])
def test_a_loss_halves_the_window_since_5_1(version: str, halves: bool) -> None:  # noqa: FBT001
    sender, _ = marked(version)
    for last in (2, 3, 4):
        ack(sender, 1, (2, last))
    before, alpha = sender.recovery.prior_cwnd, sender.congestion.alpha
    assert (sender.recovery.state, alpha) == (RECOVERY, 960)
    left = before >> 1 if halves else before - (before * alpha >> 11)
    assert sender.congestion.ssthresh == left


def test_a_timeout_is_a_loss() -> None:
    sender, _ = marked()
    while sender.congestion.alpha > 100:
        sender.congestion.ack_event(sender.congestion.next_seq, sender.congestion.next_seq, 0, 0)
    sender.recovery.timeout()
    assert (sender.recovery.state, sender.congestion.ssthresh) == (LOSS, 10)


class TestEchoes:
    def test_all_that_is_sent_may_be_marked(self) -> None:
        ecn = Ecn(True)  # noqa: FBT003
        assert (ecn.leaving(True), ecn.leaving(False)) == (ECT, ECT)  # noqa: FBT003
        assert Ecn().leaving(False) == 0  # noqa: FBT003

    def test_each_change_is_acknowledged_at_once(self) -> None:
        # the state machine of RFC 8257, section 3.2
        ecn = Ecn(True)  # noqa: FBT003
        found = []
        for number, bits in enumerate((ECT, CE, CE, ECT, ECT, CE | CWR, 0, CE)):
            ecn.arrives(bits)
            changed = ecn.follows(number + 1, number != 3)
            ecn.checked()
            found.append((changed, ecn.take_before(), ecn.echo()))
        assert found == [
            (False, -1, 0),
            (True, 1, ECE),
            (False, -1, ECE),
            (True, -1, 0),
            (False, -1, 0),
            (True, 5, ECE),
            # not to be marked: probably sent again
            (False, -1, ECE),
            (False, -1, ECE),
        ]

    def test_a_delayed_ack_goes_out_before_that_of_the_first_mark(self) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        nic = make_tg3(sim, machine)
        socket = make_socket(sim, machine, nic, receiver={"rules": receiver_rules(LATEST)})
        socket.use_ecn(Ecn(True))  # noqa: FBT003
        # past the quick ACKs of the beginning
        for number in range(40):
            one = frame(socket, number * 1000)
            one.ecn = ECT
            sim.run_until(number * MS)
            socket.receive(one, machine.cpus[0])
        on_wire(nic)
        before = socket.acks_sent
        delayed = 0
        for number in range(40, 43):
            one = frame(socket, number * 1000)
            one.ecn = CE if number == 42 else ECT
            delayed = number if socket.receiver.delack.timeout_jiffy >= 0 else delayed
            socket.receive(one, machine.cpus[0])
        sent = [(skb.ack, skb.ecn) for skb in on_wire(nic) if skb.seq == skb.end_seq]
        assert sent[-1] == (43_000, ECT | ECE)
        if delayed == 42:
            assert sent[-2] == (42_000, ECT)
        assert socket.acks_sent - before == len(sent)


def test_without_marks_it_is_reno() -> None:
    sender = make_sender(congestion=dctcp(100))
    assert sender.congestion.reduced() == 50


@pytest.mark.parametrize(("version", "offered"), [("4.17", False), ("4.18", True)])
def test_it_is_offered_where_marks_are_modelled(version: str, offered: bool) -> None:  # noqa: FBT001
    assert ("dctcp" in congestion_controls(version)) is offered
