"""What is sent over a device that holds something: tcp_output.c of Linux 5.4 to 6.18 in its words.

`tcp_write_xmit` over large segments (`sk_buff`s of several MSS): `tcp_tso_should_defer`,
`tcp_tso_autosize`, `tcp_small_queue_check`, `tcp_should_autocork`, `tcp_update_skb_after_send` and
`tcp_cwnd_validate`. Segments carry 1000 bytes in 1250, jiffies are 4 ms; nothing is lost.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.recovery.recovery import OPEN
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.host.parts import US
from tests.net.tcp.send.test_sender import CPU, MSS, make

GSO_MAX_SIZE = 65_536
OVERHEAD = 250
HEADERS = 90
LEAST_FRAME = 84
DIVISOR = 3
JIFFY_US = 4000
WINDOWS = (1 << 20, 30_000, 5500)
HELD = (0, 1250, 2500, 9000, 100_000, 1 << 20, (1 << 20) + 1, 5 << 20)


@dataclass
class Kernel:
    """A connection in TCP_CA_Open, with the queue below it."""

    version: tuple[int, ...]
    paces: bool
    una: int = 0
    nxt: int = 0
    written: int = 0
    wnd: int = WINDOWS[0]
    small: int = 0
    last_us: int = 0
    wstamp_ps: int = 0
    limited: bool = False
    most_out: int = 0
    usage: int = 0
    out: deque[tuple[int, int]] = field(default_factory=deque)
    sent: list[tuple[int, int, int]] = field(default_factory=list)
    """First byte, last plus one, and when fq lets it go."""
    total: int = 0

    # what the test says of the connection and of its device at this moment
    cwnd: int = 0
    srtt: int = 0
    least_us: int = 0
    rate: int = 0
    held: int = 0
    nodelay: bool = False
    pushing: bool = False

    def goal(self, pacing: int) -> int:
        """`tcp_tso_autosize`."""
        most = pacing
        if self.version >= (5, 18) and self.least_us >= 0:
            most += GSO_MAX_SIZE >> min(self.least_us >> 9, 63)
        return max(min(most, GSO_MAX_SIZE) // MSS, 2)

    def defers(self, now: int, window: int) -> bool:
        """`tcp_tso_should_defer`."""
        limit = min(window, (self.cwnd - len(self.out)) * MSS)
        if not self.out or limit >= GSO_MAX_SIZE:
            return False
        if self.version >= (5, 1):
            head_us = self.out[0][1]
            if now - self.last_us > 1000 or now - head_us < self.srtt >> 4:
                return False
        return limit < min(self.wnd, self.cwnd * MSS) // DIVISOR

    def truesize(self, length: int) -> int:
        return length + -(-length // MSS) * OVERHEAD

    def waits(self, length: int, left: int, goal: int, pacing: int, staged: int) -> str:
        """Whether what the device holds keeps a large segment back, and why."""
        alloc = self.held + staged
        if self.pushing and left < goal * MSS and self.out and alloc > self.truesize(left):
            return "corked"
        limit = max(2 * self.truesize(length), pacing)
        if not self.paces:
            limit = min(limit, 4 << 20 if self.version >= (6, 16) else 1 << 20)
        large = -(-len(self.out) // goal)
        passes = 1 if self.version >= (6, 7) else 0
        return "throttled" if alloc > limit and large > passes else ""

    def xmit(self, now: int, pacing: int) -> tuple[int, str]:
        """`tcp_write_xmit`: return how many large segments went, and what stopped it."""
        self.sent = []
        frames = staged = 0
        stopped, by_window = "", False
        while self.nxt < self.written and len(self.out) < self.cwnd:
            left, window = self.written - self.nxt, self.una + self.wnd - self.nxt
            quota = self.cwnd - len(self.out)
            if min(left, MSS) > window:
                break
            goal = self.goal(pacing)
            length = min(left, MSS)
            if left < MSS:
                if not self.nodelay and self.small > self.una and self.out:
                    break
            else:
                if self.defers(now, window):
                    by_window = quota * MSS < window and quota * MSS <= min(left, goal * MSS)
                    break
                length = min(left // MSS, window // MSS, quota, goal) * MSS
            stopped = self.waits(length, left, goal, pacing, staged)
            if stopped:
                break
            # less than a segment at the end is of the same large one
            tail = left - length
            room = 0 < tail < MSS and left <= goal * MSS and length >= MSS
            held = (
                tail > window - length
                or (not self.nodelay and self.small > self.una)
                or length // MSS == quota
            )
            if room and not held:
                length = left
            self.transmit(length, now)
            frames += 1
            staged += self.truesize(length)
        limited = by_window or len(self.out) >= self.cwnd
        if self.sent or limited:
            self.validate(limited=limited)
        return frames, stopped

    def transmit(self, length: int, now: int) -> None:
        depart_ps = max(self.wstamp_ps, now * US)
        credit = depart_ps - self.wstamp_ps
        for start in range(0, length, MSS):
            seq, end = self.nxt + start, self.nxt + min(start + MSS, length)
            self.out.append((end, depart_ps // US if self.paces else now))
            self.sent.append((seq, end, depart_ps))
            self.total += 1
        self.nxt += length
        if length % MSS:
            self.small = self.nxt
        self.last_us = now
        self.wstamp_ps = depart_ps
        # the first ten segments are not paced (sk_pacing_rate)
        if self.total > 10 and self.rate:
            length_ps = length * 10**12 // self.rate
            self.wstamp_ps += length_ps - min(length_ps // 2, credit)

    def validate(self, *, limited: bool) -> None:
        """`tcp_cwnd_validate` of 3.16, and since 6.1."""
        out, keeps = len(self.out), self.version >= (6, 1)
        if (
            self.una >= self.usage
            or (keeps and limited)
            or (out > self.most_out and not (keeps and self.limited))
        ):
            self.limited, self.most_out, self.usage = limited, out, self.nxt

    def ack(self, segments: int, window: int) -> None:
        for _ in range(segments):
            self.una = self.out.popleft()[0]
        if segments or window > self.wnd:
            self.wnd = window


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            st.sampled_from([1, 400, 999, 1000, 1001, 2500, 30_000, 90_000]),
            st.sampled_from(HELD),
        ),
        st.tuples(st.just("ack"), st.integers(0, 12), st.sampled_from(WINDOWS)),
        st.tuples(st.just("ack"), st.integers(1, 3), st.just(WINDOWS[0])),
        st.tuples(st.just("hold"), st.sampled_from(HELD), st.none()),
        st.tuples(st.just("pass"), st.sampled_from([1, 20, 200, 700, 1000, 1001, 5000]), st.none()),
    ),
    max_size=40,
)


def sent_by(sender: TcpSender, now: int) -> tuple[list[Skb], int]:
    """Have it send what may go; return the segments, and the number of large ones."""
    queue = SkbQueue()
    sender.timer.set_time(now * US)
    frames = int(sender.output.stage(queue, CPU, now // JIFFY_US))
    return [queue.pop() for _ in range(queue.count)], frames


RISING: list[tuple[Any, ...]] = [
    ("write", 90_000, 0),
    *[("pass", 200, None), ("ack", 4, WINDOWS[0])] * 12,
    ("write", 90_000, 9000),
    *[("pass", 20, None), ("ack", 7, WINDOWS[0]), ("hold", 2500, None)] * 8,
]


@pytest.mark.parametrize("version", ["5.0", "5.4", "5.18", "6.7", "6.18"])
@settings(max_examples=12)
@given(
    steps=STEPS,
    nodelay=st.booleans(),
    pushing=st.booleans(),
    paces=st.booleans(),
    cwnd=st.sampled_from([10, 40, 200]),
)
@example(steps=RISING, nodelay=False, pushing=True, paces=False, cwnd=10)
@example(steps=RISING, nodelay=True, pushing=False, paces=True, cwnd=40)
def test_large_segments_go_when_the_kernel_sends_them(
    version: str,
    steps: list[tuple[Any, ...]],
    cwnd: int,
    *,
    nodelay: bool,
    pushing: bool,
    paces: bool,
) -> None:
    sender = make(
        cwnd=cwnd,
        tso=True,
        sack=True,
        timestamps=True,
        rules=sender_rules(version),
        tso_win_divisor=DIVISOR,
        paces=paces,
    )
    output, below = sender.output, sender.output.small_queue
    output.nodelay, below.pushing, output.overhead_bytes = nodelay, pushing, HEADERS
    kernel = Kernel(tuple(map(int, version.split("."))), paces, nodelay=nodelay, pushing=pushing)
    now = 4_000_000
    corked = 0
    for what, *rest in steps:
        now += 7
        if what == "pass":
            now += rest[0]
            continue
        if what == "write":
            sender.seq.write(rest[0], end_of_send=True)
            kernel.written += rest[0]
        if what in {"write", "hold"}:
            kernel.held = below.wmem_alloc = rest[-1] if what == "write" else rest[0]
        else:
            segments = min(rest[0], len(kernel.out))
            if segments == 0 and kernel.out and rest[1] <= kernel.wnd:
                continue
            kernel.ack(segments, rest[1])
            sender.timer.set_time(now * US)
            sender.acknowledge(kernel.una, rest[1], now // JIFFY_US)
            sender.update_pacing()
        assert sender.recovery.state == OPEN
        kernel.cwnd, kernel.rate = sender.congestion.cwnd, below.rate
        kernel.srtt, kernel.least_us = sender.timer.rtt.srtt, sender.timer.rtt.least_us
        below.throttled = False
        frames, stopped = kernel.xmit(now, below.pacing)
        skbs, counted = sent_by(sender, now)
        assert [(skb.seq, skb.end_seq) for skb in skbs] == [its[:2] for its in kernel.sent]
        assert counted == frames
        assert below.throttled == (stopped != "")
        corked += stopped == "corked"
        assert below.corked == corked
        assert below.staged == sum(kernel.truesize(end - seq) for seq, end, _ in kernel.sent)
        assert {skb.tsval for skb in skbs} <= {now // 1000}
        assert [skb.wire_bytes for skb in skbs] == [
            max(LEAST_FRAME, HEADERS + end - seq) for seq, end, _ in kernel.sent
        ]
        assert sender.validation.cwnd_limited == kernel.limited
        if paces:
            assert [skb.arrival_ps for skb in skbs] == [its[2] for its in kernel.sent]
    assert output.retransmissions == 0
    assert output.segments == kernel.total
