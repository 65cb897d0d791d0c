"""Proportional rate reduction against `tcp_cwnd_reduction` of Linux 3.2 and 6.18 (RFC 6937, 9937).

Segments carry 1000 bytes and are counted from 0; a jiffy is 4 ms.
"""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.tcp.recovery.recovery import RECOVERY
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.host.parts import US
from tests.house.examples import examples
from tests.net.tcp.send.test_sender import MSS, make, numbers

LOST_ONCE, ON_ITS_WAY_AGAIN, SACKED = 4, 2, 1


def tags(sender: TcpSender) -> dict[int, int]:
    board = sender.board
    return {number: board.tags_of(number) for number in range(board.head, board.tail)}


def newly_lost(before: dict[int, int], after: dict[int, int]) -> int:
    """Segments, and retransmissions, that an ACK has shown to be lost."""
    return sum(
        now & LOST_ONCE > before[number] & LOST_ONCE
        or (before[number] & LOST_ONCE > 0 and before[number] & ~now & ON_ITS_WAY_AGAIN > 0)
        for number, now in after.items()
        if not now & SACKED
    )


class Reduction:
    """What the kernel keeps of a recovery that has begun with so large a window."""

    def __init__(self, version: str, cwnd: int, ssthresh: int) -> None:
        self.first = version == "3.2"
        self.cwnd, self.ssthresh = cwnd, ssthresh
        self.delivered = self.out = 0

    def window(self, flight: int, delivered: int, *, advanced: bool, lost: int, fast: bool) -> int:
        self.delivered += delivered
        if flight > self.ssthresh:
            count = -(-self.ssthresh * self.delivered // self.cwnd) - self.out
        else:
            count = max(self.delivered - self.out, delivered)
            # slow start; later only with progress and nothing lost
            count += self.first or (advanced and not lost)
            count = min(count, self.ssthresh - flight)
        return flight + max(count, int(fast if self.first else self.out == 0))


acks = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=6, max_size=40
)


@pytest.mark.parametrize("version", ["3.2", "6.18"])
@given(st.integers(8, 40), st.integers(1, 12), acks)
@example(20, 1, [(0, 1, 0)] * 16 + [(1, 1, 0)] * 8)
@example(30, 9, [(0, 2, 0)] * 8 + [(1, 0, 1)] * 12)
@settings(max_examples=examples(150))
def test_each_window_in_recovery_is_the_kernels(
    version: str, segments: int, hole: int, found: list[tuple[int, int, int]]
) -> None:
    sender = make(cwnd=segments, sack=True, rules=sender_rules(version))
    sender.seq.write(400 * MSS, end_of_send=True)
    assert len(numbers(sender)) == segments
    una, held_from, held_to = 0, min(hole, segments - 2), min(hole, segments - 2)
    reduction, undone = None, sender.recovery.undone
    for jiffy, (filled, came, later) in enumerate(found, 2):
        before, sacked = tags(sender), sender.board.sacked_out
        flown, state, window = una, sender.recovery.state, sender.congestion.cwnd
        una = min(una + filled, held_from)
        held_to = min(held_to + came, sender.board.tail)
        if una == held_from:
            una = held_from = max(held_to, una)
        if una == sender.board.tail or (una == flown and came == 0):
            continue
        sender.timer.set_time(4000 * (jiffy + later) * US)
        blocks = [(held_from * MSS, held_to * MSS)] if held_to > held_from else None
        sender.acknowledge(una * MSS, 1 << 20, jiffy + later, blocks, -1)
        again = sender.recovery.entered > 1 or sender.recovery.undone > undone
        if again or (state == RECOVERY != sender.recovery.state):
            break
        if sender.recovery.state != RECOVERY:
            numbers(sender, jiffy + later)
            continue
        if state != RECOVERY:
            reduction = Reduction(version, window, sender.congestion.ssthresh)
            assert reduction.ssthresh == window // 2
        assert reduction is not None
        covered = sum(tag & SACKED for number, tag in before.items() if number < una)
        if version == "3.2" and covered:
            break
        delivered = una - flown - covered + sender.board.sacked_out - (sacked - covered)
        assert sender.congestion.cwnd == reduction.window(
            sender.board.in_flight(),
            delivered,
            advanced=una > flown,
            lost=newly_lost(before, tags(sender)),
            fast=state != RECOVERY,
        )
        reduction.out += len(numbers(sender, jiffy + later))
