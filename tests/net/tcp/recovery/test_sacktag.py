"""What SACK tells against `tcp_sacktag_one`, `tcp_sacktag_walk` and `tcp_clean_rtx_queue`.

Segments carry 1000 bytes and are counted from 0. The kernel's functions are written out below.
"""

from dataclasses import dataclass, field
from operator import itemgetter
from random import Random

import pytest

from simnet.net.tcp.recovery.rack import Rack
from simnet.net.tcp.recovery.sacktag import SackTags
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.timer import RttEstimator
from tests.host.parts import MS

MSS = 1000
FAR = 1 << 62
Block = tuple[int, int]


@dataclass
class Segment:
    """An sk_buff of the retransmission queue: `tags` of S, R, L and E(ver retransmitted).

    `awaited` is unset when RACK has found it lost, until it is sent again.
    """

    end: int
    sent_us: int
    awaited: bool = True
    tags: set[str] = field(default_factory=set)

    @property
    def resent(self) -> bool:
        return bool(self.tags & {"R", "E"})


@dataclass
class Kernel:
    """What tcp_input.c keeps of a connection, and of the ACK that it processes."""

    queue: list[Segment] = field(default_factory=list)
    una: int = 0
    nxt: int = 0
    high_seq: int = 0
    highest: int = 0
    reordering: int = 3
    reordering_seen: int = 0
    undo_marker: int = -1
    undo_retrans: int = 0
    sacked: bool = False
    originals: bool = False
    retransmitted: bool = False
    delivered: int = 0
    latest_us: int = -1
    rack: Block = (0, 0)
    rack_rtt_us: int = 0
    now_us: int = 0
    reord: int = 0
    cache: list[tuple[int, int, bool]] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    sack_first: list[int] = field(default_factory=list)

    def count(self, tag: str) -> int:
        return sum(tag in segment.tags for segment in self.queue)

    def highest_held(self) -> int:
        return self.highest if self.count("S") else self.una

    def begin(self, una: int, high_seq: int, now_us: int) -> None:
        self.una, self.high_seq, self.now_us = una, high_seq, now_us
        self.sacked = self.originals = self.retransmitted = False
        self.delivered, self.latest_us = 0, -1
        self.first, self.sack_first = [], []

    def came(self, segment: Segment) -> None:
        self.latest_us = max(self.latest_us, segment.sent_us)
        if not segment.resent:
            # no round trip has been measured, so one that was sent again tells nothing
            self.rack_rtt_us = self.now_us - segment.sent_us
            self.rack = max(self.rack, (segment.sent_us, segment.end))

    def sacktag_one(self, segment: Segment, *, dup: bool) -> None:
        tags, start = segment.tags, segment.end - MSS
        if dup and segment.resent:
            if self.undo_retrans > 0 and -1 < self.undo_marker < segment.end:
                self.undo_retrans -= 1
            if "S" in tags:
                self.reord = min(self.reord, start)
        if segment.end <= self.una:
            return
        if "S" not in tags:
            self.came(segment)
            if not segment.resent:
                if start < self.highest_held():
                    self.reord = min(self.reord, start)
                self.originals |= segment.end <= self.high_seq
                self.sack_first.append(segment.sent_us)
            if "L" in tags:
                tags -= {"L", "R"}
            tags.add("S")
            self.highest = max(self.highest, segment.end)
            self.sacked = True
            self.delivered += 1
        if dup:
            tags.discard("R")

    def sacktag(  # noqa: C901, PLR0912 - in one piece, as in the kernel
        self, blocks: list[Block], prior_una: int, *, dup: bool, lossy: bool
    ) -> None:
        """`tcp_sacktag_write_queue`; None is a NULL sk_buff, `cache` is recv_sack_cache."""
        self.reord = self.nxt
        if not self.count("S"):
            self.highest, self.cache = self.una, []
        if dup:
            start, end = blocks[0]
            self.delivered += -(-(end - start) // MSS)
            if self.undo_retrans > 0 and -1 < self.undo_marker < end <= prior_una:
                self.undo_retrans = max(0, self.undo_retrans + (start - end) // MSS)
        told = [(*block, dup and i == 0) for i, block in enumerate(blocks)]
        used = [block for block in told if block[1] > prior_una and self.valid(*block)]
        used.sort(key=itemgetter(0))
        cache, at, i = 0, None, 0
        while self.queue and i < len(used):
            start, end, dup = used[i]
            following = used[i + 1] if i + 1 < len(used) and used[i + 1][2] else None
            while cache < len(self.cache) and start >= self.cache[cache][1]:
                cache += 1
            if cache < len(self.cache) and not dup and end > self.cache[cache][0]:
                known = self.cache[cache]
                if start < known[0]:
                    at = self.walk(self.skip(at, start), following, (start, known[0]), dup=dup)
                if end <= known[1]:
                    i += 1
                    continue
                if following and following[0] < known[1]:
                    at = self.walk(self.skip(at, following[0]), None, following[:2], dup=True)
                cache += 1
                if self.highest_held() != known[1]:
                    at = self.skip(at, known[1])
                    continue
                at = self.at(self.highest_held())
            else:
                if start >= self.highest_held():
                    at = self.at(self.highest_held())
                at = self.skip(at, start)
            at = self.walk(at, following, (start, end), dup=dup)
            i += 1
        self.cache = used
        if not lossy:
            self.reordered(self.reord)

    def valid(self, start: int, end: int, dup: bool) -> bool:  # noqa: FBT001
        """`tcp_is_sackblock_valid`."""
        return start > self.una or (dup and -1 < self.undo_marker < end <= self.una)

    def at(self, seq: int) -> int | None:
        """`tcp_sacktag_bsearch`."""
        return next((n for n, s in enumerate(self.queue) if s.end - MSS <= seq < s.end), None)

    def skip(self, at: int | None, seq: int) -> int | None:
        behind = at is not None and self.queue[at].end - MSS > seq
        return at if behind else self.at(seq)

    def walk(
        self, at: int | None, following: tuple[int, ...] | None, block: Block, *, dup: bool
    ) -> int | None:
        while at is not None:
            segment = self.queue[at]
            start = segment.end - MSS
            if start >= block[1]:
                return at
            twice = following and following[0] <= start and segment.end <= following[1]
            if twice or (block[0] <= start and segment.end <= block[1]):
                self.sacktag_one(segment, dup=dup or bool(twice))
            at = at + 1 if at + 1 < len(self.queue) else None
        return None

    def reordered(self, low: int) -> None:
        metric = self.highest_held() - low
        if metric > 0:
            if metric > self.reordering * MSS:
                self.reordering = min(-(-metric // MSS), 300)
            self.reordering_seen += 1

    def clean(self, prior_highest: int) -> int:
        reord, acked = FAR, 0
        while self.queue and self.queue[0].end <= self.una:
            segment = self.queue[0]
            if segment.resent:
                self.retransmitted = True
            elif "S" not in segment.tags:
                reord = min(reord, segment.end - MSS)
                self.first.append(segment.sent_us)
                self.originals |= segment.end <= self.high_seq
            if "S" not in segment.tags:
                self.delivered += 1
                self.came(segment)
            del self.queue[0]
            acked += 1
        if self.retransmitted:
            self.first = []
        if reord < prior_highest:
            self.reordered(reord)
        return acked

    def detect(self) -> int:
        """`tcp_rack_detect_loss` without a reordering window, as no round trip is known."""
        timeout = 0
        for segment in sorted(self.queue, key=lambda segment: (segment.sent_us, segment.end)):
            if not segment.awaited or "S" in segment.tags:
                continue
            if "L" in segment.tags and "R" not in segment.tags:
                continue
            if (segment.sent_us, segment.end) >= self.rack:
                break
            left = self.rack_rtt_us - (self.now_us - segment.sent_us)
            if left > 0:
                timeout = max(timeout, left)
                continue
            segment.awaited = False
            if "L" in segment.tags:
                segment.tags.discard("R")
            else:
                segment.tags.add("L")
        return timeout


def estimator() -> RttEstimator:
    return RttEstimator(MS, 200 * MS, 120_000 * MS)


class Both:
    """A connection in simnet and in the kernel's words."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)  # noqa: S311 (inputs, no secrets)
        self.kernel = Kernel()
        self.board = Scoreboard(sender_rules("6.18"), SendSequence(MSS), sack=True, reordering=3)
        self.rack = Rack(self.board, estimator())
        self.tags = SackTags(self.board, self.rack)
        # D-SACKs are believed as long as there are not more of them than were sent again
        self.tags.resent = FAR
        self.now_us = 0
        self.told: list[Block] = []

    def send(self) -> None:
        kernel = self.kernel
        for _ in range(self.draw.randint(1, 5)):
            kernel.nxt += MSS
            kernel.queue.append(Segment(kernel.nxt, self.now_us))
            self.board.seq.sent(MSS)
            self.board.append(kernel.nxt, 0, self.now_us)

    def lose(self) -> None:
        for number, segment in enumerate(self.kernel.queue):
            if self.draw.random() < 0.3 and "S" not in segment.tags:
                if "L" in segment.tags:
                    segment.tags.discard("R")
                segment.tags.add("L")
                self.rack.link()
                self.rack.lose(self.board.head + number)

    def detect(self) -> None:
        self.kernel.now_us = self.now_us
        assert self.rack.detect(3, self.now_us) == self.kernel.detect()
        self.check()

    def resend(self) -> None:
        kernel = self.kernel
        for number, segment in enumerate(kernel.queue):
            if self.draw.random() < 0.3 and not segment.tags & {"S", "R"}:
                if kernel.undo_marker < 0:
                    kernel.undo_marker = kernel.una
                    self.board.undo.mark(self.board.undo.retrans)
                segment.tags |= {"R", "E"}
                segment.sent_us, segment.awaited = self.now_us, True
                kernel.undo_retrans += 1
                self.board.resent(self.board.head + number, 0)
                self.rack.resent(self.board.head + number, self.now_us)

    def undo(self) -> None:
        if self.draw.random() < 0.5:
            self.kernel.undo_marker = -1
            self.board.undo.forget()
        self.kernel.undo_retrans = 0
        self.board.undo.found_needless(self.board.undo.retrans)

    def blocks(self, ack: int) -> tuple[list[Block], bool]:
        """Disjoint ones beyond `ack`, at times with a D-SACK below it or in the first one."""
        kernel, draw = self.kernel, self.draw
        room = (kernel.nxt - ack) // MSS
        found: list[Block] = []
        at = ack + MSS
        for _ in range(draw.randint(1, 3)):
            start = at + MSS * draw.randint(0, 3)
            end = start + MSS * draw.randint(1, 4)
            if room and end <= kernel.nxt:
                found.append((start, end))
            at = end + MSS
        draw.shuffle(found)
        if draw.random() < 0.5:
            # as before, and one grown
            found = [block for block in self.told if block[0] > ack] or found
            start, end = found[0] if found else (0, 0)
            found[:1] = [(start, min(end + MSS * draw.randint(0, 3), kernel.nxt))] if end else []
        self.told = found
        kind = draw.randint(0, 3)
        if kind == 1 and ack:
            start = max(0, ack - MSS * draw.randint(1, 4))
            return [(start, min(start + MSS * draw.randint(1, 4), ack)), *found], True
        if kind == 2 and found:
            start, end = found[0]
            start = draw.choice([start, draw.randrange(start, end, MSS)])
            # one that is retransmitted may be cut in other places
            end = draw.choice([end, draw.randrange(start, end, MSS) + MSS, start + MSS // 2])
            return [(start, end), *found], True
        return found, False

    def ack(self) -> None:
        kernel, board, tags = self.kernel, self.board, self.tags
        prior = kernel.una
        una = min(prior + MSS * self.draw.choice([0, 0, 0, 1, 3]), kernel.nxt)
        board.seq.acknowledge(una, 1 << 20)
        prior_highest = kernel.highest_held()
        assert tags.highest_held() == prior_highest
        high_seq = MSS * self.draw.randint(prior // MSS, kernel.nxt // MSS)
        kernel.begin(una, high_seq, self.now_us)
        tags.begin(una, high_seq, self.now_us)
        blocks, dup = self.blocks(una)
        lossy = self.draw.random() < 0.2
        if blocks:
            kernel.sacktag(blocks, prior, dup=dup, lossy=lossy)
            tags.tag(blocks, una, prior, kernel.nxt, lossy)
            assert tags.dsack == dup
            self.check()
        if una > prior:
            if board.tagged:
                acked = tags.clean(prior_highest, -1)
            else:
                acked = board.clean(una, 0)
                tags.in_order(acked)
            assert acked == kernel.clean(prior_highest)
            self.check()

    def check(self) -> None:
        kernel, board, tags = self.kernel, self.board, self.tags
        counts = (board.sacked_out, board.lost_out, board.retrans_out)
        assert counts == tuple(map(kernel.count, "SLR"))
        assert (tags.sacked, tags.originals) == (kernel.sacked, kernel.originals)
        assert (tags.delivered, tags.retransmitted) == (kernel.delivered, kernel.retransmitted)
        ends = [*kernel.first[:1], *kernel.first[-1:]] or [-1, -1]
        assert [tags.first_us, tags.last_us] == ends
        ends = [*kernel.sack_first[:1], *kernel.sack_first[-1:]] or [-1, -1]
        assert [tags.sack_first_us, tags.sack_last_us] == ends
        assert board.undo.retrans == kernel.undo_retrans
        assert tags.highest_held() == kernel.highest_held()
        rack = self.rack
        assert board.reordering == kernel.reordering
        assert rack.reordering_seen == kernel.reordering_seen
        assert rack.latest_us == kernel.latest_us
        assert (rack.sent_us, rack.end_seq) == kernel.rack
        assert rack.rtt_us == kernel.rack_rtt_us
        lost = (n for n, s in enumerate(kernel.queue) if "L" in s.tags and not s.tags & {"S", "R"})
        found = board.next_lost()
        assert (found - board.head if found >= 0 else -1) == next(lost, -1)


@pytest.mark.parametrize("seed", range(8))
def test_what_sack_tells_is_the_kernels(seed: int) -> None:
    for case in range(12):
        both = Both(100 * seed + case)
        both.send()
        steps = [both.send, both.lose, both.detect, both.resend, both.undo, *3 * [both.ack]]
        for _ in range(30):
            both.now_us += 1000
            both.draw.choice(steps)()


@pytest.mark.parametrize("kind", ["same start", "within", "up to the end of the queue"])
def test_a_dsack_counts_its_segments_once_where_the_walk_goes_on(kind: str) -> None:
    blocks, undone, seen = {
        "same start": ([(1000, 2000), (1000, 4000)], 4, 0),
        "within": ([(2000, 3000), (1000, 4000)], 4, 0),
        # the walk has come to nothing, and begins anew
        "up to the end of the queue": ([(2000, 3000), (1000, 6000)], 3, 1),
    }[kind]
    tags = sent(6)
    tags.resent = 5
    tags.board.undo.mark(0)
    tags.rack.link()
    for number in range(1, 6):
        tags.board.resent(number, 0)
        tags.rack.resent(number, 9)
    tags.begin(0, 6000, 10)
    tags.tag(blocks, 0, 0, 6000, lossy=False)
    assert (tags.board.undo.retrans, tags.rack.reordering_seen) == (undone, seen)


def sent(segments: int, size: int = MSS, rtt: RttEstimator | None = None) -> SackTags:
    board = Scoreboard(sender_rules("6.18"), SendSequence(MSS), sack=True, reordering=3)
    for number in range(segments):
        board.append((number + 1) * size, 0, number)
    return SackTags(board, Rack(board, rtt or estimator()))


def test_only_segments_wholly_within_a_block_are_held() -> None:
    tags = sent(6)
    tags.begin(0, 0, 10)
    tags.tag([(1500, 4500)], 0, 0, 6000, lossy=False)
    assert (tags.board.sacked_out, tags.sack_first_us, tags.sack_last_us) == (2, 2, 3)
    assert tags.highest_held() == 4000


@pytest.mark.parametrize(
    ("end", "resent", "probe_end", "counted", "undone"),
    [
        *((1000, 1, -1, 1, 4), (1001, 2, -1, 2, 3), (2000, 2, -1, 2, 3), (2001, 3, -1, 3, 2)),
        # more copies than were sent again: the network makes them
        *((1000, 0, -1, 0, 5), (2001, 2, -1, 0, 5)),
        *((6000, 9, -1, 6, 0), (1000, 1, 1000, 1, 4), (1001, 2, 1001, 2, 3)),
    ],
)
def test_a_dsack_counts_in_segments_as_long_as_so_many_were_sent_again(
    end: int, resent: int, probe_end: int, counted: int, undone: int
) -> None:
    tags = sent(8)
    board, rack = tags.board, tags.rack
    tags.resent = resent
    tags.probe(probe_end)
    rack.came_late()
    board.undo.mark(5)
    tags.begin(7000, 8000, 10)
    tags.tag([(0, end)], 7000, 7000, 8000, lossy=False)
    probe = end == probe_end == MSS
    assert (tags.dsack, tags.delivered, board.undo.retrans) == (counted > 0, counted, undone)
    assert (tags.dsack_probe, rack.dsack_seen) == (probe, counted > 0 and not probe)


def test_a_dsack_widens_no_window_before_reordering_has_been_seen() -> None:
    tags = sent(8)
    tags.resent = 1
    tags.begin(7000, 8000, 10)
    tags.tag([(0, 1000)], 7000, 7000, 8000, lossy=False)
    assert tags.dsack
    assert not tags.rack.dsack_seen


@pytest.mark.parametrize(
    ("block", "ack", "held"),
    [
        # what begins where the acknowledged ends would have been acknowledged
        *(((1000, 2000), 1000, 0), ((2000, 3000), 1000, 1), ((500, 500), 1000, 0)),
        *(((7000, 8000), 1000, 1), ((7000, 8001), 1000, 0), ((3000, 2000), 1000, 0)),
    ],
)
def test_blocks_that_no_receiver_sends_are_left_out(block: Block, ack: int, held: int) -> None:
    tags = sent(8)
    tags.resent = 9
    tags.begin(ack, 8000, 10)
    tags.tag([block], ack, 0, 8000, lossy=False)
    assert (tags.board.sacked_out, tags.sacked, tags.dsack) == (held, held > 0, False)


@pytest.mark.parametrize(
    ("size", "held", "reordering"),
    # bytes from the one that came late to the end of the highest that is held
    [(1, 2, 3), (500, 6, 3), (501, 6, 4), (1000, 4, 4), (1001, 4, 5), (1667, 3, 6), (1000, 9, 9)],
)
def test_reordering_is_as_many_full_segments_as_the_bytes_that_one_was_late(
    size: int, held: int, reordering: int
) -> None:
    tags = sent(12, size)
    for start, end in ((2, held + 1), (1, 2)):
        tags.begin(0, 0, 100)
        tags.tag([(start * size, end * size)], 0, 0, 12 * size, lossy=False)
    assert (tags.board.reordering, tags.rack.reordering_seen) == (reordering, 1)


def test_a_partial_ack_that_came_late_shows_reordering_from_one_byte_on() -> None:
    tags = sent(3, 1)
    tags.begin(1, 0, 100)
    for prior_una, seen in ((1, 0), (0, 1)):
        tags.delayed(prior_una)
        assert tags.rack.reordering_seen == seen


@pytest.mark.parametrize(("echo_ms", "rtt_us"), [(-1, 2000), (0, 0), (4, 0), (5, 2000)])
def test_an_echo_of_the_first_copy_tells_nothing_of_the_second(echo_ms: int, rtt_us: int) -> None:
    rtt = estimator()
    rtt.bound(1000, 0)
    tags = sent(1, rtt=rtt)
    board, rack = tags.board, tags.rack
    board.resent(0, 0)
    rack.resent(0, 5000)
    tags.begin(1000, 1000, 7000)
    assert tags.clean(0, echo_ms) == 1
    # the network has delivered the second copy or the first
    assert (rack.latest_us, rack.rtt_us) == (5000, rtt_us)
