"""CUBIC against tcp_cubic.c of Linux 2.6.18, 2.6.32 and 4.0, written out with the kernel's names.

The cube root of the kernel is off by a little; the largest integer below it stands for it here.
"""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.congestion.cubic import Cubic
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.house.examples import examples
from tests.net.parts import make_congestion

HZ = {"2.6.18": 250, "2.6.32": 1000, "4.4": 1000, "6.18": 250}


def root(value: int) -> int:
    low, high = 0, 1 << 24
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= value else (low, middle - 1)
    return low


@dataclass
class Kernel:
    """`struct bictcp` and what of `struct tcp_sock` it changes."""

    version: str
    snd_cwnd: int
    snd_ssthresh: int = 0x7FFFFFFF
    snd_cwnd_cnt: int = 0
    cnt: int = 0
    last_max_cwnd: int = 0
    loss_cwnd: int = 0
    last_cwnd: int = 0
    last_time: int = 0
    origin: int = 0
    bic_k: int = 0
    delay_min: int = 0
    epoch_start: int = 0
    ack_cnt: int = 0
    tcp_cwnd: int = 0
    delayed_ack: int = 32
    found: int = 0
    round_start: int = 0
    last_ack: int = 0
    end_seq: int = 0
    curr_rtt: int = 0
    sample_cnt: int = 0
    now_ms: int = 0

    def __post_init__(self) -> None:
        self.hz = HZ[self.version]
        self.first = self.version == "2.6.18"  # version 2.0 of the algorithm
        self.segments = self.version in {"4.4", "6.18"}
        self.beta = 819 if self.first else 717
        if self.first:
            self.snd_ssthresh = 100

    def slow_start(self) -> bool:
        if self.segments:
            return self.snd_cwnd < self.snd_ssthresh
        return self.snd_cwnd <= self.snd_ssthresh

    def reset(self) -> None:
        """`bictcp_reset`."""
        self.cnt = self.last_max_cwnd = self.last_cwnd = self.last_time = 0
        self.loss_cwnd = 0 if self.first else self.loss_cwnd
        self.origin = self.bic_k = self.delay_min = self.epoch_start = 0
        self.ack_cnt = self.tcp_cwnd = self.found = 0
        self.delayed_ack = 32

    def lose(self) -> None:
        """`bictcp_recalc_ssthresh`, and the window reduced to it."""
        self.epoch_start = 0
        fast = self.snd_cwnd < self.last_max_cwnd
        self.last_max_cwnd = self.snd_cwnd * (1024 + self.beta) // 2048 if fast else self.snd_cwnd
        self.loss_cwnd = self.snd_cwnd
        self.snd_ssthresh = max(self.snd_cwnd * self.beta // 1024, 2)

    def acked(self, cnt: int, rtt_us: int, now: int) -> None:
        """`bictcp_acked`."""
        self.delayed_ack += cnt - (self.delayed_ack >> 4)
        if not self.first:
            self.delayed_ack = min(self.delayed_ack, 512)
        if rtt_us < 0 or (self.epoch_start and now - self.epoch_start < self.hz):
            return
        delay = rtt_us * self.hz // 1_000_000 if self.first else rtt_us * 8 // 1000
        delay = max(delay, 1)
        self.delay_min = min(self.delay_min or delay, delay)
        if not self.first and self.slow_start() and self.snd_cwnd >= 16:
            self.hystart_update(delay)

    def hystart_update(self, delay: int) -> None:
        if self.found:
            return
        if self.now_ms - self.last_ack <= 2:
            self.last_ack = self.now_ms
            if self.now_ms - self.round_start > self.delay_min >> 4:
                self.found |= 1
        if self.sample_cnt < 8:
            self.curr_rtt = min(self.curr_rtt or delay, delay)
            self.sample_cnt += 1
        elif self.curr_rtt > self.delay_min + min(max(self.delay_min >> 4, 32), 128):
            self.found |= 2
        if self.found:
            self.snd_ssthresh = self.snd_cwnd

    def avoid(self, ack: int, snd_nxt: int, now: int, acked: int) -> None:
        """`bictcp_cong_avoid`."""
        if self.slow_start():
            if not self.first and ack > self.end_seq:
                self.round_start = self.last_ack = self.now_ms
                self.end_seq, self.curr_rtt, self.sample_cnt = snd_nxt, 0, 0
            if not self.segments:
                self.snd_cwnd += 1
                return
            grown = min(self.snd_cwnd + acked, self.snd_ssthresh)
            acked -= grown - self.snd_cwnd
            self.snd_cwnd = grown
            if not acked:
                return
        self.update(now, acked if self.segments else 1)
        if not self.segments:
            self.snd_cwnd_cnt += 1
            if self.snd_cwnd_cnt > self.cnt:
                self.snd_cwnd, self.snd_cwnd_cnt = self.snd_cwnd + 1, 0
            return
        if self.snd_cwnd_cnt >= self.cnt:
            self.snd_cwnd, self.snd_cwnd_cnt = self.snd_cwnd + 1, 0
        more, self.snd_cwnd_cnt = divmod(self.snd_cwnd_cnt + acked, self.cnt)
        self.snd_cwnd += more

    def update(self, now: int, acked: int) -> None:
        """`bictcp_update`."""
        cwnd = self.snd_cwnd
        self.ack_cnt += acked
        if self.last_cwnd == cwnd and now - self.last_time <= self.hz // 32:
            return
        self.last_cwnd, self.last_time = cwnd, now
        if not self.epoch_start:
            self.epoch_start, self.ack_cnt, self.tcp_cwnd = now, acked, cwnd
            missing = max(self.last_max_cwnd - cwnd, 0)
            self.bic_k = root((1 << 40) // 410 * missing)
            self.origin = cwnd + missing
        # in 1/1024 s; the target is a round trip ahead
        ahead = self.delay_min if self.first else (self.delay_min >> 3) * self.hz // 1000
        t = (now - self.epoch_start + ahead << 10) // self.hz
        scale = 41 * 8 // 10 if self.first else 410
        delta = scale * min(abs(self.bic_k - t), 1 << 17) ** 3 >> 40
        target = self.origin + (delta if t >= self.bic_k else -delta)
        self.cnt = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
        if not self.first:
            if not self.last_max_cwnd:
                self.cnt = min(self.cnt, 20)
        else:
            if self.delay_min:
                self.cnt = max(self.cnt, cwnd * self.hz * 8 // (160 * self.delay_min))
            if not self.loss_cwnd:
                self.cnt = 50
        # tcp_friendliness
        step = cwnd * (8 * (1024 + self.beta) // 3 // (1024 - self.beta)) >> 3
        while step and self.ack_cnt > step:
            self.ack_cnt -= step
            self.tcp_cwnd += 1
        if self.tcp_cwnd > cwnd:
            self.cnt = min(self.cnt, cwnd // (self.tcp_cwnd - cwnd))
        if self.segments:
            self.cnt = max(self.cnt, 2)
        else:
            self.cnt = max((self.cnt << 4) // self.delayed_ack, 1)

    def undo(self) -> int:
        return max(self.snd_cwnd, self.last_max_cwnd if self.first else self.loss_cwnd)


steps = st.lists(
    st.tuples(
        st.sampled_from(["ack"] * 6 + ["loss", "loss", "timeout", "rest"]),
        st.sampled_from([1, 5, 40, 200]),  # ACKs
        st.sampled_from([1, 1, 2, 3, 9, 40]),  # segments that each takes off
        st.sampled_from([-1, 300, 8_000, 30_000, 64_000, 150_000, 400_000]),  # round trip, us
        st.sampled_from([0, 0, 1, 2, 3, 8, 40]),  # jiffies between two
    ),
    min_size=3,
    max_size=24,
)


@pytest.mark.parametrize("version", HZ)
@given(st.sampled_from([1, 10, 16, 40, 300, 2000]), st.integers(1, 5000), steps)
@settings(max_examples=examples(80))
def test_each_window_is_the_kernels(
    version: str, cwnd: int, begin: int, found: list[tuple[str, int, int, int, int]]
) -> None:
    kernel = Kernel(version, cwnd)
    window = make_congestion("cubic", cwnd, hz=HZ[version], rules=sender_rules(version))
    assert isinstance(window, Cubic)
    now, ack = begin, 0
    for what, times, count, rtt_us, gap in found:
        if what == "loss":
            kernel.lose()
            kernel.snd_cwnd, kernel.snd_cwnd_cnt = kernel.snd_ssthresh, 0
            window.lower_threshold()
            window.set_window(window.ssthresh)
            window.restart_count()
        elif what == "timeout":
            kernel.lose()
            kernel.reset()
            kernel.snd_cwnd, kernel.snd_cwnd_cnt = 1, 0
            window.lower_threshold()
            window.forget()
            window.set_window(1)
            window.restart_count()
        for _ in range(times if what == "ack" else 0):
            now += gap
            ack += count
            ms = now * 1000 // kernel.hz
            kernel.now_ms = ms
            kernel.acked(count, rtt_us, now)
            window.segments_acked(count, rtt_us, now, ms * 1000 + 999, open_state=True)
            assert (window.found, window.delay_min) == (kernel.found, kernel.delay_min)
            kernel.avoid(ack, ack + kernel.snd_cwnd, now, count)
            window.avoid(ack, ack + window.cwnd, now, count)
            assert (window.cwnd, window.ssthresh) == (kernel.snd_cwnd, kernel.snd_ssthresh)
            if kernel.snd_cwnd > 30_000:
                break
        now += 700 if what == "rest" else 0
        assert (window.count, window.k, window.origin) == (kernel.cnt, kernel.bic_k, kernel.origin)
        assert (window.last_max_cwnd, window.ack_ratio) == (
            kernel.last_max_cwnd,
            kernel.delayed_ack,
        )
        assert window.undo_cwnd() == kernel.undo()
        assert window.least() == kernel.snd_ssthresh
        if kernel.snd_cwnd > 30_000:
            break
