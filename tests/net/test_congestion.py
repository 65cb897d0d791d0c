"""Congestion windows against the kernel's functions, written out (tcp_bic.c, tcp_cong.c)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simnet.net.congestion import Congestion, make_congestion


class KernelWindow:
    """`snd_cwnd` and what belongs to it, as Linux 2.6.18 keeps them; `bic` or `reno`."""

    def __init__(self, name: str, cwnd: int) -> None:
        self.bic = name == "bic"
        self.snd_cwnd = cwnd
        self.snd_ssthresh = 0x7FFFFFFF
        self.snd_cwnd_cnt = 0
        self.last_max_cwnd = 0
        self.loss_cwnd = 0

    def cnt(self) -> int:
        """`bictcp_update`, in which `delayed_ack` has no part."""
        cwnd, last_max = self.snd_cwnd, self.last_max_cwnd
        if not self.bic or cwnd <= 14:
            return cwnd
        if cwnd < last_max:
            dist = (last_max - cwnd) // 4
            if dist > 16:
                cnt = cwnd // 16
            elif dist <= 1:
                cnt = cwnd * 20 // 4
            else:
                cnt = cwnd // dist
        elif cwnd < last_max + 4:
            cnt = cwnd * 20 // 4
        elif cwnd < last_max + 16 * 3:
            cnt = cwnd * 3 // (cwnd - last_max)
        else:
            cnt = cwnd // 16
        if self.loss_cwnd == 0:
            cnt = min(cnt, 20)
        return max(cnt, 1)

    def cong_avoid(self) -> None:
        if self.snd_cwnd <= self.snd_ssthresh:
            self.snd_cwnd += 1
        elif self.snd_cwnd_cnt >= self.cnt():
            self.snd_cwnd += 1
            self.snd_cwnd_cnt = 0
        else:
            self.snd_cwnd_cnt += 1

    def ssthresh(self) -> int:
        if not self.bic:
            return max(self.snd_cwnd >> 1, 2)
        if self.snd_cwnd < self.last_max_cwnd:
            self.last_max_cwnd = self.snd_cwnd * (1024 + 819) // 2048
        else:
            self.last_max_cwnd = self.snd_cwnd
        self.loss_cwnd = self.snd_cwnd
        if self.snd_cwnd <= 14:
            return max(self.snd_cwnd >> 1, 2)
        return max(self.snd_cwnd * 819 // 1024, 2)

    def fast_retransmit(self) -> None:
        self.snd_ssthresh = self.ssthresh()
        self.snd_cwnd = self.snd_ssthresh
        self.snd_cwnd_cnt = 0

    def enter_loss(self) -> None:
        self.snd_ssthresh = self.ssthresh()
        self.snd_cwnd = 1
        self.snd_cwnd_cnt = 0
        # bictcp_state: TCP_CA_Loss forgets
        self.last_max_cwnd = 0
        self.loss_cwnd = 0


def replay(name: str, cwnd: int, steps: list[tuple[str, int]]) -> None:
    kernel, window = KernelWindow(name, cwnd), make_congestion(name, cwnd)
    for what, times in steps:
        for _ in range(times if what == "ack" else 1):
            if what == "ack":
                kernel.cong_avoid()
                window.acked()
            elif what == "loss":
                kernel.fast_retransmit()
                window.loss(window.cwnd)
            else:
                kernel.enter_loss()
                window.timeout(window.cwnd)
            assert (window.cwnd, window.ssthresh) == (kernel.snd_cwnd, kernel.snd_ssthresh)


@given(
    st.sampled_from(["bic", "reno"]),
    st.integers(1, 10),
    st.lists(
        st.tuples(st.sampled_from(["ack", "ack", "loss", "timeout"]), st.integers(1, 600)),
        max_size=25,
    ),
)
@example("bic", 3, [("ack", 200), ("loss", 1), ("ack", 2000), ("loss", 1), ("ack", 3000)])
@example("bic", 3, [("ack", 40), ("loss", 1), ("loss", 1), ("ack", 5000)])
def test_window_is_the_kernels(name: str, cwnd: int, steps: list[tuple[str, int]]) -> None:
    replay(name, cwnd, steps)


def acks_for_one(window: Congestion) -> int:
    """Count the ACKs until the window grows."""
    before, acks = window.cwnd, 0
    while window.cwnd == before:
        window.acked()
        acks += 1
    return acks


class TestSlowStart:
    @pytest.mark.parametrize("name", ["bic", "reno"])
    def test_one_segment_for_each_ack(self, name: str) -> None:
        window = make_congestion(name, 3)
        for _ in range(100):
            window.acked()
        assert window.cwnd == 103

    def test_up_to_the_clamp(self) -> None:
        window = make_congestion("reno", 65_530)
        for _ in range(10):
            window.acked()
        assert window.cwnd == 65_535


class TestBic:
    def test_reduces_to_819_1024(self) -> None:
        window = make_congestion("bic", 1000)
        window.loss(1000)
        assert window.cwnd == window.ssthresh == 1000 * 819 // 1024

    def test_small_windows_are_halved_as_in_reno(self) -> None:
        window = make_congestion("bic", 14)
        window.loss(14)
        assert window.cwnd == 7

    def test_climbs_fast_far_below_the_last_maximum_and_slowly_near_it(self) -> None:
        window = make_congestion("bic", 1000)
        window.loss(1000)
        window.acked()  # to one above the threshold, where avoidance begins
        assert acks_for_one(window) == 800 // 16 + 1
        while window.cwnd < 997:
            window.acked()
        assert acks_for_one(window) == 997 * 5 + 1

    def test_unknown_algorithm_is_an_error(self) -> None:
        with pytest.raises(KeyError):
            make_congestion("vegas", 3)
