"""What runs leave behind is collected, and what is there is not looked at in vain."""

from __future__ import annotations

import gc
import weakref

import pytest

from simnet.scenario.system.collector import Collector


class Cycle:
    """Refers to itself, so only the collector frees it."""

    def __init__(self) -> None:
        self.ballast: list[list[Cycle]] = [[self] for _ in range(2000)]


def test_systems_of_earlier_runs_do_not_stay() -> None:
    collector = Collector()
    alive: list[weakref.ref[Cycle]] = []
    most = 0
    for _ in range(300):
        system = Cycle()
        alive.append(weakref.ref(system))
        with collector.spared():
            del system
        most = max(most, sum(one() is not None for one in alive))
    # a quarter of what was there before, in pieces of 2000
    assert most <= 10 + collector.kept // 8000


def test_what_is_there_is_frozen_meanwhile() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with Collector().spared():
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[0] > before[0][0]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_a_run_that_fails_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(KeyError), Collector().spared():
        raise KeyError
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_a_collector_that_is_switched_off_stays_off() -> None:
    gc.disable()
    threshold = gc.get_threshold()
    try:
        gc.set_threshold(0)
        with Collector().spared():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
