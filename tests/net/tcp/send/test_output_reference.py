"""What is sent when nothing is lost, against tcp_output.c of Linux 2.6.18 and 2.6.32 in its words.

`tcp_write_xmit`, `tcp_nagle_test`, `tcp_tso_should_defer`, `tcp_cwnd_validate`, `tcp_cwnd_restart`,
`tcp_cwnd_application_limited` and `tcp_push`. Segments carry 1000 bytes, jiffies are 4 ms.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.link.skb import SkbQueue
from simnet.net.tcp.recovery.recovery import OPEN
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.host.parts import US
from tests.house.examples import examples
from tests.net.tcp.send.test_sender import CPU, MSS, make

GSO_MAX_SIZE = 65_536
DIVISOR = 3
WINDOWS = (1 << 20, 20_000, 5500, 2500)


@dataclass
class Kernel:
    """What tcp_output.c keeps of a connection in TCP_CA_Open."""

    two_ticks: bool
    tso: bool
    nodelay: bool
    initial_cwnd: int
    una: int = 0
    nxt: int = 0
    written: int = 0
    pushed: int = 0
    wnd: int = WINDOWS[0]
    max_window: int = WINDOWS[0]
    small: int = 0
    deferred: int | None = None
    burst: int = 0
    used: int = 0
    used_stamp: int = 0
    last_sent: int = 0
    cwnd: int = 0
    ssthresh: int = 0
    out: list[int] = field(default_factory=list)
    timer: int = -1
    stalls: list[int] = field(default_factory=list)
    waits_since: int | None = None

    def write(self, count: int, *, end: bool) -> None:
        self.written += count
        if end or self.written - self.pushed > self.max_window // 2:
            self.pushed = self.written

    def ack(self, segments: int, window: int) -> None:
        if segments:
            self.una = self.out[segments - 1]
            del self.out[:segments]
        if segments or window > self.wnd:
            self.wnd = window
        self.max_window = max(self.max_window, self.wnd)

    def nagle(self) -> bool:
        """Minshall's: a small one is on its way."""
        return not self.nodelay and bool(self.out) and self.small > self.una

    def defers(self, jiffies: int, window: int) -> bool:
        limit = min(window, (self.cwnd - len(self.out)) * MSS)
        stale = self.two_ticks and self.deferred is not None and jiffies - self.deferred > 1
        if self.out and not stale and limit < GSO_MAX_SIZE:
            chunk = min(self.wnd, self.cwnd * MSS) // DIVISOR
            if limit < chunk:
                self.deferred = jiffies if self.deferred is None else self.deferred
                return True
        self.deferred = None
        whole = min(limit, self.written - self.nxt) // MSS
        self.burst = min(whole, GSO_MAX_SIZE // MSS) - 1
        return False

    def current_ssthresh(self) -> int:
        return max(self.ssthresh, (self.cwnd >> 1) + (self.cwnd >> 2))

    def validate(self, jiffies: int, rto: int, *, no_space: bool) -> None:
        """Before a segment goes."""
        if not self.out and self.nxt and jiffies - self.last_sent > rto:
            delta, least = jiffies - self.last_sent, min(self.initial_cwnd, self.cwnd)
            self.ssthresh = self.current_ssthresh()
            while (delta := delta - rto) > 0 and self.cwnd > least:
                self.cwnd >>= 1
            self.cwnd = max(self.cwnd, least)
            self.used_stamp, self.used = jiffies, 0
        self.last_sent = jiffies
        if len(self.out) + 1 >= self.cwnd:
            self.used, self.used_stamp = 0, jiffies
            return
        self.used = max(self.used, len(self.out) + 1)
        if jiffies - self.used_stamp >= rto:
            if not no_space:
                win_used = max(self.used, self.initial_cwnd)
                if win_used < self.cwnd:
                    self.ssthresh = self.current_ssthresh()
                    self.cwnd = (self.cwnd + win_used) >> 1
                self.used = 0
            self.used_stamp = jiffies

    def xmit(self, jiffies: int, rto: int, *, no_space: bool) -> list[tuple[int, int, bool]]:
        sent: list[tuple[int, int, bool]] = []
        while self.nxt < self.written and len(self.out) < self.cwnd:
            length = min(MSS, self.written - self.nxt)
            window = self.una + self.wnd - self.nxt
            if length > window:
                break
            if length < MSS:
                if self.nagle():
                    break
            elif self.burst:
                self.burst -= 1
            elif self.tso and self.defers(jiffies, window):
                break
            self.validate(jiffies, rto, no_space=no_space)
            if not self.out:
                self.timer = jiffies + rto
            self.nxt += length
            self.out.append(self.nxt)
            self.small = self.nxt if length < MSS else self.small
            sent.append((self.nxt - length, self.nxt, self.nxt in {self.pushed, self.written}))
        return sent

    def note_waiting(self, jiffies: int, *, sent: bool) -> None:
        """Data that waited for more than a jiffy have stalled."""
        if self.waits_since is not None and sent:
            if jiffies - self.waits_since > 1:
                self.stalls.append(jiffies - self.waits_since)
            self.waits_since = None
        if self.waits_since is None and self.written > self.nxt:
            self.waits_since = jiffies


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            st.sampled_from([1, 400, 999, 1000, 1001, 2500, 30_000, 90_000]),
            st.booleans(),
        ),
        st.tuples(st.just("ack"), st.integers(0, 12), st.sampled_from(WINDOWS)),
        st.tuples(st.just("ack"), st.integers(1, 3), st.just(WINDOWS[0])),
        st.tuples(st.just("pass"), st.sampled_from([1, 2, 3, 30, 49, 51, 200]), st.none()),
    ),
    max_size=50,
)
GROWN: list[tuple[Any, ...]] = [("write", 90_000, True), *[("ack", 3, WINDOWS[0])] * 10]
IDLE = [*GROWN, *[("ack", 12, WINDOWS[0])] * 9, ("pass", 200, None), ("write", 30_000, False)]
LITTLE: list[tuple[Any, ...]] = [
    *GROWN,
    *[("ack", 12, WINDOWS[0])] * 9,
    *[("write", 2500, True), ("pass", 30, None), ("ack", 3, WINDOWS[0])] * 9,
]


@pytest.mark.parametrize("version", ["2.6.18", "2.6.32"])
@pytest.mark.parametrize("tso", [False, True])
@settings(max_examples=examples(150))
@given(steps=STEPS, nodelay=st.booleans(), cwnd=st.sampled_from([2, 10, 30]))
@example(steps=GROWN, nodelay=False, cwnd=3)
@example(steps=IDLE, nodelay=False, cwnd=10)
@example(steps=LITTLE, nodelay=True, cwnd=3)
def test_what_is_sent_when_is_the_kernels(
    version: str, steps: list[tuple[Any, ...]], cwnd: int, *, tso: bool, nodelay: bool
) -> None:
    sender = make(cwnd=cwnd, tso=tso, rules=sender_rules(version), tso_win_divisor=DIVISOR)
    sender.output.nodelay = nodelay
    kernel = Kernel(version != "2.6.18", tso, nodelay, cwnd)
    jiffies = 1000
    for what, *rest in steps:
        if what == "pass":
            jiffies += rest[0]
            continue
        if what == "write":
            sender.seq.write(rest[0], rest[1])
            kernel.write(rest[0], end=rest[1])
        else:
            segments = min(rest[0], len(kernel.out))
            if segments == 0 and kernel.out and rest[1] <= kernel.wnd:
                # a duplicate, which may mean a loss
                continue
            kernel.ack(segments, rest[1])
            sender.acknowledge(kernel.una, rest[1], jiffies)
            if segments:
                kernel.timer = jiffies + sender.timer.rto if kernel.out else -1
        assert sender.recovery.state == OPEN
        # what grows by acknowledgements is tested elsewhere
        kernel.cwnd, kernel.ssthresh = sender.congestion.cwnd, sender.congestion.ssthresh
        expected = kernel.xmit(jiffies, sender.timer.rto, no_space=sender.seq.no_space)
        kernel.note_waiting(jiffies, sent=bool(expected))
        queue = SkbQueue()
        sender.timer.set_time(4000 * jiffies * US)
        sender.output.stage(queue, CPU, jiffies)
        sent = [queue.pop() for _ in range(queue.count)]
        assert [(skb.seq, skb.end_seq, skb.push) for skb in sent] == expected
        assert [skb.wire_bytes >= skb.end_seq - skb.seq for skb in sent] == [True] * len(sent)
        assert (sender.congestion.cwnd, sender.congestion.ssthresh) == (
            kernel.cwnd,
            kernel.ssthresh,
        )
        assert sender.timer.rto_jiffy == kernel.timer
        assert sender.packets_out() == len(kernel.out)
        assert (sender.output.stalls, sender.output.stalled_jiffies) == (
            len(kernel.stalls),
            sum(kernel.stalls),
        )
        # truesizes of 1250 bytes, whose tail is filled before another is begun
        queued = -(-(kernel.written - kernel.una) // MSS) * 1250
        assert sender.seq.wmem_queued() == queued
        tail = (kernel.written - kernel.una) % MSS
        rest_of_tail = MSS - tail if tail and kernel.written > kernel.nxt else 0
        whole = -(-max(sender.seq.sndbuf - queued, 0) // 1250) * MSS
        assert sender.seq.room() == rest_of_tail + whole
        assert sender.seq.no_space == (rest_of_tail + whole == 0)
        sender.seq.write_space(0)
