"""Partitions of half a processor: in each window of 10 ms each has one for 5 ms, if it has work."""

import pytest

from lessons.entitlement import dispatched


def test_nobody_gets_more_than_what_it_is_entitled_to() -> None:
    windows = dispatched("vlan-half-cpu", steps=200).groupby(lambda ms: ms // 10).mean()
    assert windows.max().max() <= 0.5 + 1e-6
    assert windows["sends"].mean() == pytest.approx(0.5, abs=0.02)


def test_a_window_begins_with_it_and_ends_without() -> None:
    found = dispatched("vlan-half-cpu", steps=100)["sends"]
    assert found.iloc[1:40].mean() > 0.9
    assert found.iloc[60:].max() < 0.1
