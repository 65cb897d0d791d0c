"""A reorder window before a TCP receiver, beside what Linux did."""

from functools import cache

import pytest

from simnet.study.validate.reorder_comparison import Simulated, measured, simulate

WIDE = (24, 32, 80, 256)
US = 10**6


@cache
def row(window: int, loss: float = 0.0) -> Simulated:
    return simulate(window, loss=loss)


@pytest.mark.parametrize("window", WIDE)
def test_a_window_wider_than_the_reordering_removes_it(window: int) -> None:
    """20 packets overtake a late one: 24 are enough, and the line is full."""
    found, linux = row(window), measured()[0.0, window]
    assert found.out_of_order == linux.out_of_order == 0
    assert found.mbit_per_s == pytest.approx(linux.mbit_per_s, rel=0.005)
    assert found.out_of_order_before > 3000


@pytest.mark.parametrize("window", [0, 4, 8, 16])
def test_a_window_narrower_than_the_reordering_leaves_some(window: int) -> None:
    found, linux = row(window), measured()[0.0, window]
    assert found.out_of_order > 500
    assert linux.out_of_order > 500
    assert found.retransmissions > 0
    assert found.mbit_per_s < row(24).mbit_per_s


@pytest.mark.parametrize("window", [0, 4, 8, 16])
def test_spurious_retransmissions_cost_what_they_cost_linux(window: int) -> None:
    """How near: see docs/reordering.md."""
    found, linux = row(window), measured()[0.0, window]
    assert found.mbit_per_s == pytest.approx(linux.mbit_per_s, rel=0.08)
    assert found.out_of_order == pytest.approx(linux.out_of_order, rel=0.12)


@pytest.mark.parametrize("window", [0, 4, 16])
def test_late_packets_are_sent_again_as_often_as_by_linux(window: int) -> None:
    found, linux = row(window), measured()[0.0, window]
    per_late_packet = found.retransmissions / found.out_of_order
    assert per_late_packet == pytest.approx(linux.retransmissions / linux.out_of_order, rel=0.3)


def test_windows_much_narrower_than_the_reordering_do_not_matter() -> None:
    rates = [row(window).mbit_per_s for window in (0, 4, 8)]
    assert max(rates) < 1.06 * min(rates)


@pytest.mark.parametrize("window", [0, 16, *WIDE])
def test_loss_makes_a_wide_window_wait(window: int) -> None:
    """A lost packet's number never comes: each loss costs a timeout."""
    found, linux = row(window, 0.001), measured()[0.001, window]
    assert 0.1 < found.mbit_per_s / linux.mbit_per_s < 12
    if window in WIDE:
        assert found.mbit_per_s < row(0, 0.001).mbit_per_s / 2
        assert found.timeouts > 0
        assert found.out_of_order == 0


def test_a_flush_timer_ends_the_wait() -> None:
    patient = row(80, 0.001)
    prompt = simulate(80, loss=0.001, flush_timeout_ps=1500 * US)
    assert prompt.timeouts < patient.timeouts
    assert prompt.mbit_per_s > 3 * patient.mbit_per_s


def test_the_letter_of_the_algorithm_strands_packets() -> None:
    """Once slid, the window runs behind for good: the end of each flight waits for a timeout."""
    letter = simulate(80, loss=0.001, drain_after_slide=False)
    assert letter.mbit_per_s <= row(80, 0.001).mbit_per_s
