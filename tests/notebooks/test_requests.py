"""What the lesson about waiting for an ACK calls: stalls, routes, and the law of Mathis."""

import pytest

from lessons.requests import linux_ms, request_ms, ways
from lessons.routes import behind, behind_after
from lessons.sawtooth import mathis_mbit


def test_a_stall_is_in_whole_jiffies_of_the_kernel() -> None:
    assert request_ms(5) == pytest.approx(12, abs=0.1)
    assert request_ms(5, hz=1000) == pytest.approx(6, abs=0.1)


def test_what_was_tried_is_what_linux_was_measured_with() -> None:
    assert set(linux_ms()) == {40.0, 20.0, 5.0}
    assert all(simulated <= measured + 0.1 for simulated, measured in ways().values())


def test_a_window_as_wide_as_a_packet_is_late_mends_the_order() -> None:
    late_by_three = [1, 2, 3, 0, 4, 5, 6, 7, 8, 9]
    assert behind(late_by_three) == pytest.approx(0.1)
    assert behind_after(late_by_three, 3) == 0.0
    assert behind_after(late_by_three, 1) > 0.0


def test_four_times_the_loss_is_half_the_goodput() -> None:
    much, little = mathis_mbit([4e-4, 1e-4])
    assert little == pytest.approx(2 * much)
