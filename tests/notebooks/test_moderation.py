"""Batches of frames: what ends them, and why the sender's throttle decides what they carry."""

from lessons.moderation import THROTTLE, over_rx_frames

SCENARIO = "x460-out-of-box"


def test_batches_of_six_wait_for_a_throttled_sender_and_batches_of_ten_do_not() -> None:
    found = over_rx_frames(SCENARIO, [6, 10])["carried"]
    assert found[6] < 0.9 * found[10]


def test_without_the_throttle_both_carry_what_the_wire_can() -> None:
    found = over_rx_frames(SCENARIO, [6, 10], **{THROTTLE: "0"})["carried"]
    assert min(found) > 975


def test_large_counts_are_not_reached() -> None:
    found = over_rx_frames(SCENARIO, [20])
    assert found["interrupts"][20] > 1.5 * found["frames"][20] / 20
