"""The scoreboard against `tcp_sacktag_write_queue` and its neighbours in tcp_input.c, written out.

Segments carry 1000 bytes and are counted from 0. The kernel walks through all of them for every
block; the scoreboard may take short cuts.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.tcp.recovery.counted_tags import CountedTags
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import SenderRules, sender_rules
from simnet.net.tcp.send.sequence import SendSequence
from tests.house.examples import examples
from tests.house.trees import ROOT

MSS = 1000
SACKED, RETRANS, LOST = 1, 2, 4
VERSIONS = ("2.6.18", "2.6.32", "4.17")


@dataclass
class Segment:
    """An sk_buff of the retransmission queue: `tags` of S, R, L and E(ver retransmitted)."""

    end: int
    sent: int
    tags: set[str] = field(default_factory=set)
    mark: int = 0

    @property
    def resent(self) -> bool:
        return bool(self.tags & {"R", "E"})


class Kernel:
    """What tcp_input.c keeps of a connection, and its functions."""

    def __init__(self, rules: SenderRules) -> None:
        self.queue: list[Segment] = []
        self.rules = rules
        self.fack = rules.fack
        self.reordering = 3
        self.fackets_out = 0
        self.undo_marker = -1
        self.undo_retrans = 0
        self.una = self.nxt = 0
        self.lost_place = self.lost_count = 0
        self.rtt: int | None = None

    def count(self, tag: str) -> int:
        return sum(tag in segment.tags for segment in self.queue)

    def update_reordering(self, metric: int) -> None:
        if metric > self.reordering:
            self.reordering = min(metric, self.rules.max_reordering)
            self.fack = False

    def sacktag(  # noqa: C901, PLR0912 - the kernel's function
        self, blocks: list[tuple[int, int]], ack: int, *, recovery: bool, loss: bool
    ) -> None:
        reord = len(self.queue)
        if not self.count("S"):
            self.fackets_out = 0
        prior_fackets, lost_retrans = self.fackets_out, 0
        dup = False
        for place, (start, end) in enumerate(blocks):
            # until 2.6.23 what the first block tells goes for all
            dup = dup and self.rules.dsack_goes_for_all
            if place == 0:
                inside = len(blocks) > 1 and blocks[1][0] <= start and end <= blocks[1][1]
                dup = start < ack or inside
                if dup and -1 < self.undo_marker < end <= self.una:
                    self.undo_retrans -= 1
            for count, segment in enumerate(self.queue, 1):
                tags = segment.tags
                within = start <= segment.end - MSS and segment.end <= end
                told = dup and within
                if told and segment.resent and -1 < self.undo_marker < segment.end:
                    self.undo_retrans -= 1
                if segment.end <= ack:
                    late = count < prior_fackets and "S" not in tags
                    if not self.rules.ack_shows_reordering and (
                        (told and "S" in tags) if segment.resent else late
                    ):
                        reord = min(count, reord)
                    continue
                lost_retrans = max(lost_retrans, end)
                if not within:
                    continue
                if "S" in tags:
                    if dup and segment.resent:
                        reord = min(count, reord)
                else:
                    if not segment.resent and count < prior_fackets:
                        reord = min(count, reord)
                    if "L" in tags:
                        # one not tagged as lost may still be on its way
                        tags -= {"L", "R"}
                    tags.add("S")
                    self.fackets_out = max(self.fackets_out, count)
                if dup:
                    tags.discard("R")
        if recovery and not (self.rules.counts_sacked and not self.fack):
            for segment in self.queue:
                room = 0 if self.fack else self.reordering * MSS
                past = lost_retrans > segment.mark and lost_retrans >= segment.mark + room
                if "R" in segment.tags and past:
                    segment.tags.discard("R")
                    if not segment.tags & {"L", "S"}:
                        segment.tags.add("L")
        undoing = self.rules.ack_shows_reordering and self.undo_marker >= 0
        if reord < self.fackets_out and (not loss or undoing):
            self.update_reordering(self.fackets_out + 1 - reord)

    def clean(self, ack: int, now: int) -> int:
        reord, prior_fackets = len(self.queue), self.fackets_out
        acked = 0
        self.rtt = None
        while self.queue and self.queue[0].end <= ack:
            segment = self.queue.pop(0)
            if segment.resent:
                self.rtt = None
            else:
                self.rtt = now - segment.sent if self.rtt is None else self.rtt
                if "S" not in segment.tags:
                    reord = min(acked, reord)
            acked += 1
        self.fackets_out = max(self.fackets_out - acked, 0)
        if self.rules.ack_shows_reordering and reord < prior_fackets:
            self.update_reordering(self.fackets_out - reord)
        if acked:
            self.lost_place = self.lost_count = 0
        self.una = max(self.una, ack)
        return acked

    def mark_head_lost(self, packets: int, high_seq: int) -> None:
        by_sacked = self.rules.counts_sacked and not self.fack
        spared = {"S", "L"} if self.rules.counts_sacked else {"S", "L", "R"}
        if by_sacked:
            self.lost_place = self.lost_count = 0
        for segment in self.queue[self.lost_place :]:
            if segment.end > high_seq:
                break
            if not by_sacked or "S" in segment.tags:
                if self.lost_count + 1 > packets:
                    break
                self.lost_count += 1
            if not segment.tags & spared:
                segment.tags.add("L")
            self.lost_place += 1

    def enter_loss(self, *, forget: bool) -> bool:
        ever = any(segment.resent for segment in self.queue)
        self.fackets_out = 0
        for count, segment in enumerate(self.queue, 1):
            held = "S" in segment.tags and not forget
            segment.tags = {"S" if held else "L", *(segment.tags & {"E"})}
            if held:
                self.fackets_out = count
        self.reordering = min(self.reordering, 3)
        self.lost_place = self.lost_count = 0
        return ever

    def next_lost(self) -> int:
        found = (n for n, s in enumerate(self.queue) if "L" in s.tags and not s.tags & {"S", "R"})
        return next(found, -1)

    def next_hole(self) -> int:
        below = enumerate(self.queue[: self.fackets_out])
        return next((n for n, segment in below if not segment.tags & {"S", "R", "L"}), -1)


class Both:
    """A connection on the scoreboard and in the kernel's words."""

    def __init__(self, version: str) -> None:
        rules = sender_rules(version)
        self.kernel = Kernel(rules)
        self.board = Scoreboard(rules, SendSequence(MSS), sack=True, reordering=3)
        self.tags = CountedTags(rules, self.board)
        self.now = 0

    def check(self) -> None:
        board, kernel = self.board, self.kernel
        assert board.packets_out() == len(kernel.queue)
        counts = (board.sacked_out, board.lost_out, board.retrans_out)
        assert counts == tuple(map(kernel.count, "SLR"))
        assert board.in_flight() == len(kernel.queue) - counts[0] - counts[1] + counts[2]
        assert self.tags.fackets_out == kernel.fackets_out
        assert (board.reordering, self.tags.fack) == (kernel.reordering, kernel.fack)
        assert board.undo.retrans == kernel.undo_retrans
        head = kernel.queue[0].tags if kernel.queue else set()
        assert board.head_is_held() == ("S" in head)
        assert board.head_was_resent() == bool(head & {"R", "E"})
        lost, hole = board.next_lost(), self.tags.next_hole()
        assert (lost - board.head if lost >= 0 else -1) == kernel.next_lost()
        assert (hole - board.head if hole >= 0 else -1) == kernel.next_hole()

    def send(self, count: int) -> None:
        for _ in range(count):
            self.kernel.nxt += MSS
            self.kernel.queue.append(Segment(self.kernel.nxt, self.now))
            self.board.seq.sent(MSS)
            self.board.append(self.kernel.nxt, self.now, 1000 * self.now)

    def ack(
        self, ahead: int, spans: list[tuple[int, ...]], *, dsack: int, recovery: bool, loss: bool
    ) -> None:
        """An ACK of so many more segments, with blocks of (first beyond it, how many, bytes less).

        `dsack`: the first block is 1: of what was acknowledged before, 2: part of the second.
        """
        kernel, board = self.kernel, self.board
        una = kernel.una
        ack = min(una + ahead * MSS, kernel.nxt)
        board.seq.acknowledge(ack, 1 << 20)
        blocks = []
        for place, (first, count, *less) in enumerate(spans):
            start = ack + first * MSS + sum(less)
            if dsack == 1 and place == 0:
                start = max(ack - (first + 1) * MSS, 0)
            elif dsack > 1 and place == 0 and len(spans) > 1:
                start = ack + spans[1][0] * MSS + (spans[1][1] > 1) * MSS
                count = min(count, max(spans[1][1] - 1, 1))  # noqa: PLW2901 - inside of it
            end = min(start + count * MSS, kernel.nxt)
            if start < end:
                blocks.append((start, end))
        if blocks:
            kernel.sacktag(blocks, ack, recovery=recovery, loss=loss)
            self.tags.tag_blocks(blocks, ack, una, recovery, loss)
            self.check_counts()
        if ack > una:
            acked = board.clean(ack, self.now)
            self.tags.acknowledged(acked)
            assert acked == kernel.clean(ack, self.now)
            assert board.rtt_jiffies == (-1 if kernel.rtt is None else kernel.rtt)

    def check_counts(self) -> None:
        counts = (self.board.sacked_out, self.board.lost_out, self.board.retrans_out)
        assert counts == tuple(map(self.kernel.count, "SLR"))

    def resend(self, number: int) -> None:
        if number < 0:
            return
        kernel = self.kernel
        if kernel.undo_marker < 0:
            kernel.undo_marker = kernel.una
            self.board.undo.mark(self.board.undo.retrans)
        segment = kernel.queue[number]
        segment.tags |= {"R", "E"}
        segment.mark, segment.sent = kernel.nxt, self.now
        kernel.undo_retrans += 1
        self.board.resent(self.board.head + number, self.now)


SPANS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 5), st.sampled_from([0, 0, 0, 400])), max_size=3
)
ACKS = st.tuples(
    st.just("ack"),
    st.sampled_from([0, 0, 0, 1, 3]),
    SPANS,
    st.sampled_from([0, 0, 1, 2]),
    st.integers(0, 2),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.integers(1, 6)),
        ACKS,
        ACKS,
        st.tuples(st.just("lost"), st.integers(1, 6), st.integers(1, 12)),
        st.tuples(st.just("resend")),
        st.tuples(st.just("resend")),
        st.tuples(st.just("fill")),
        st.tuples(st.just("loss"), st.booleans()),
        st.tuples(st.just("undo")),
    ),
    max_size=40,
)
LOSSES = [
    *(("send", 6), ("ack", 0, [(1, 3)], False, 0), ("lost", 1, 12), ("resend",), ("send", 6)),
    *(("ack", 0, [(6, 3), (1, 3)], False, 1), ("resend",), ("ack", 5, [(2, 2)], False, 1)),
    *(("ack", 0, [(0, 1), (2, 3)], True, 1), ("loss", False), ("ack", 1, [(1, 1)], False, 2)),
]
REORDERED = [
    *(("send", 6), ("send", 6), ("ack", 0, [(5, 2)], False, 0), ("fill",), ("fill",)),
    *(("ack", 0, [(2, 1), (5, 2)], False, 0), ("ack", 0, [(0, 1), (5, 3)], True, 0)),
    *(("lost", 4, 12), ("resend",), ("resend",), ("ack", 3, [(1, 1)], True, 1), ("undo",)),
    *(("loss", True), ("resend",), ("ack", 1, [(3, 1)], False, 2), ("ack", 3, [], False, 0)),
]

TWICE = [
    *(("send", 6), ("lost", 4, 12), ("resend",), ("resend",), ("resend",), ("resend",)),
    # of four that are held, the second and third came twice
    *(("ack", 0, [(1, 3, 0), (1, 3, 0)], 2, 1), ("ack", 1, [(1, 1, 0), (1, 3, 0)], 2, 2)),
]


@pytest.mark.parametrize("version", VERSIONS)
@settings(max_examples=examples(600))
@given(STEPS)
@example(LOSSES)
@example(REORDERED)
@example(TWICE)
def test_what_is_held_lost_and_on_its_way_is_the_kernels(
    version: str, steps: list[tuple[Any, ...]]
) -> None:
    both = Both(version)
    kernel, board = both.kernel, both.board
    both.send(4)
    for what, *rest in steps:
        both.now += 1
        if what == "send":
            both.send(*rest)
        elif what == "ack":
            ahead, spans, dsack, state = rest
            both.ack(ahead, spans, dsack=int(dsack), recovery=state == 1, loss=state == 2)
        elif what == "lost":
            packets, upto = rest
            high = kernel.una + upto * MSS
            kernel.mark_head_lost(packets, high)
            both.tags.mark_head_lost(packets, high)
        elif what == "resend":
            both.resend(kernel.next_lost())
        elif what == "fill":
            both.resend(kernel.next_hole())
        elif what == "loss":
            assert board.all_lost(rest[0]) == kernel.enter_loss(forget=bool(rest[0]))
            both.tags.restart(rest[0])
        else:
            board.none_lost()
            for segment in kernel.queue:
                segment.tags.discard("L")
        both.check()


def test_nobody_else_writes_tags_or_counts() -> None:
    """An attribute that Python may only read can still be written by a compiled module."""
    kept = {"sacked_out", "lost_out", "retrans_out", "tagged", "head", "tail", "hint"}
    written = []
    for file in sorted((ROOT / "simnet" / "net" / "tcp").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                continue
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                match target:
                    case ast.Attribute(value=owner, attr=name) if name in kept:
                        of_board = ast.unparse(owner).endswith("board")
                    case ast.Subscript(value=owner, slice=place) if "TAG" in ast.unparse(place):
                        of_board = ast.unparse(owner).endswith("board.ring")
                    case _:
                        of_board = False
                if of_board:
                    written.append(f"{file.name}:{node.lineno}: {ast.unparse(target)}")
    assert written == []


CHANGES = st.tuples(
    st.sampled_from(
        [
            *("append", "append", "take_first", "lose", "lose", "mark_sacked", "resent", "resent"),
            *("retransmission_gone", "mark_first_lost", "all_lost", "none_lost", "forget_held"),
        ]
    ),
    st.integers(0, 9),
    st.booleans(),
)


@settings(max_examples=examples(200))
@given(st.lists(CHANGES, max_size=80))
@example([("append", 0, False), ("append", 0, False), ("lose", 1, False), ("resent", 1, False)])
def test_counts_are_those_of_tags_after_each_change(changes: list[tuple[str, int, bool]]) -> None:
    board = Scoreboard(sender_rules("6.18"), SendSequence(MSS), sack=True, reordering=3)
    for what, place, forget in changes:
        number = board.head + place % max(board.packets_out(), 1)
        if what == "append":
            board.append((board.tail + 1) * MSS, 0, 0)
        elif board.packets_out() == 0:
            continue
        elif what == "all_lost":
            board.all_lost(forget)
        elif what == "resent":
            # only what is not on its way already
            if not board.tags_of(number) & (SACKED | RETRANS):
                board.resent(number, 1)
        elif what == "mark_sacked":
            if not board.tags_of(number) & SACKED:
                board.mark_sacked(number)
        elif what in {"lose", "retransmission_gone"}:
            getattr(board, what)(number)
        else:
            getattr(board, what)()
        tags = [board.tags_of(each) for each in range(board.head, board.tail)]
        counts = [sum(tag & kind > 0 for tag in tags) for kind in (SACKED, LOST, RETRANS)]
        assert counts == [board.sacked_out, board.lost_out, board.retrans_out]
        assert not any(tag & SACKED and tag & LOST for tag in tags)


@pytest.mark.parametrize(
    ("held", "acked", "left"),
    # one of those acknowledged was the hole; no more may be held than all but one
    [(3, 1, 3), (3, 2, 2), (3, 3, 1), (3, 4, 0), (8, 1, 8), (9, 1, 8)],
)
def test_duplicate_acks_that_have_been_accounted_for(held: int, acked: int, left: int) -> None:
    board = Scoreboard(sender_rules("2.6.18"), SendSequence(MSS), sack=False, reordering=3)
    for number in range(9 + acked):
        board.append((number + 1) * MSS, 0, 0)
    for _ in range(held):
        assert not board.count_duplicate()
    board.clean(acked * MSS, 1)
    # without SACK the count is kept apart from the segments
    assert board.sacked_out == held
    assert board.eat_duplicates(acked) == (held == 9)
    assert board.sacked_out == left


def test_more_duplicates_than_segments_can_come_are_not_counted() -> None:
    board = Scoreboard(sender_rules("2.6.18"), SendSequence(MSS), sack=False, reordering=3)
    for number in range(6):
        board.append((number + 1) * MSS, 0, 0)
    for _ in range(5):
        assert not board.count_duplicate()
    assert board.sacked_out == 5
    assert board.count_duplicate()
    assert board.sacked_out == 5


@pytest.mark.parametrize(("rto", "lost"), [(7, 3), (8, 2), (9, 1), (10, 0)])
def test_segments_older_than_the_timeout_are_lost(rto: int, lost: int) -> None:
    board = Scoreboard(sender_rules("2.6.18"), SendSequence(MSS), sack=True, reordering=3)
    for number in range(3):
        board.append((number + 1) * MSS, number, 0)
    tags = CountedTags(sender_rules("2.6.18"), board)
    assert tags.head_age(10) == 10
    tags.mark_timed_out(10, rto)
    assert board.lost_out == lost


def test_a_board_begins_with_nothing_sent() -> None:
    board = Scoreboard(sender_rules("6.18"), SendSequence(MSS), sack=True, reordering=5)
    assert (board.head, board.tail, board.packets_out(), board.in_flight()) == (0, 0, 0, 0)
    assert (board.sacked_out, board.lost_out, board.retrans_out, board.hint) == (0, 0, 0, 0)
    assert (board.acked_hole, board.acked_sent_us, board.rtt_jiffies) == (0, 0, -1)
    assert (board.reordering, board.least_reordering) == (5, 5)
    assert not board.tagged
    assert not board.retrans_acked
    # which an acknowledgement of nothing leaves so
    board.begin_tags()
    assert board.clean(0, 0) == 0
    assert (board.acked_hole, board.acked_sent_us, board.hint) == (0, 0, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_held_is_no_longer(version: str) -> None:
    """Tags, their counts and what follows from both, after the receiver has forgotten."""
    board = Scoreboard(sender_rules(version), SendSequence(MSS), sack=True, reordering=3)
    for number in range(6):
        board.append((number + 1) * MSS, 0, 0)
    board.mark_lost(0)
    board.resent(0, 1)
    for number in (0, 1, 3, 4):
        board.mark_sacked(number)
    assert (board.in_flight(), board.head_is_held()) == (2, True)
    board.forget_held()
    assert [board.tags_of(number) & SACKED for number in range(6)] == [0] * 6
    assert (board.sacked_out, board.lost_out, board.retrans_out) == (0, 0, 0)
    assert (board.in_flight(), board.head_is_held(), board.head_was_resent()) == (6, False, True)
    # so each of them may be lost again
    assert [board.lose(number) for number in range(6)] == [True] * 6
    assert (board.lost_out, board.next_lost(), board.hint) == (6, 0, 0)
