"""What runs leave behind is collected, and what is there is not looked at in vain."""

import gc
import weakref

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.collector import Collector


class Cycle:
    """Refers to itself, so only the collector frees it."""

    def __init__(self, objects: int) -> None:
        self.ballast: list[list[Cycle]] = [[self] for _ in range(objects)]


@pytest.mark.nightly
def test_systems_of_earlier_runs_do_not_stay() -> None:
    collector = Collector()
    with collector.spared(grown=True):
        pass
    alive: list[weakref.ref[Cycle]] = []
    most = 0
    for _ in range(8):
        # a tenth of what is there, of two blocks each: three of them are more than a quarter
        system = Cycle(collector.kept // 20)
        alive.append(weakref.ref(system))
        with collector.spared(grown=True):
            del system
        most = max(most, sum(one() is not None for one in alive))
    assert most <= 4


def test_a_system_that_goes_on_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = Collector()
    counts = []
    monkeypatch.setattr(collector, "_look", lambda: counts.append(1))
    for grown in (True, False, False):
        with collector.spared(grown=grown):
            pass
    assert counts == [1]


def test_no_object_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    count, counts = gc.get_freeze_count, list[int]()

    def counted() -> int:
        counts.append(count())
        return counts[-1]

    monkeypatch.setattr(gc, "get_freeze_count", counted)
    collector = Collector()
    for _ in range(3):
        with collector.spared(grown=True):
            pass
    assert set(counts) == {0}


@pytest.mark.parametrize("grown", [False, True])
def test_what_is_there_is_frozen_meanwhile(*, grown: bool) -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with Collector().spared(grown=grown):
        assert gc.get_freeze_count() > 0
        assert (gc.get_threshold()[0] == 0) if grown else gc.get_threshold()[0] > before[0][0]
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_nothing_is_collected_while_a_system_is_made() -> None:
    looks: list[str] = []

    def looked(phase: str, _: dict[str, int]) -> None:
        looks.append(phase)

    gc.callbacks.append(looked)
    try:
        with Collector().spared(grown=True):
            kept = [[number] for number in range(2 * gc.get_threshold()[1] + 5000)]
    finally:
        gc.callbacks.remove(looked)
    assert (len(kept) > 5000, looks) == (True, [])


def test_a_run_that_fails_leaves_the_collector_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(KeyError), Collector().spared(grown=True):
        raise KeyError
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_threads_that_end_in_any_order_leave_the_collector_as_it_was() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    collector = Collector()
    first, second = collector.spared(grown=False), collector.spared(grown=True)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


@pytest.mark.parametrize(
    ("scenario", "settings"), [("vlan-half-cpu", {}), ("ess-sas", {"length": "0.01"})]
)
def test_every_system_runs_without_looks_at_what_is_there(
    scenario: str, settings: dict[str, str]
) -> None:
    system = build(load(scenario, settings=settings), seed=1)
    frozen: list[int] = []
    system.env.timeout(1).callbacks.append(lambda _event: frozen.append(gc.get_freeze_count()))
    system.run(1_000_000)
    assert frozen[0] > 0


def test_a_collector_that_is_switched_off_stays_off() -> None:
    gc.disable()
    threshold = gc.get_threshold()
    try:
        gc.set_threshold(0)
        with Collector().spared(grown=True):
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*threshold)
        gc.enable()


def test_what_has_come_meanwhile_is_not_looked_at_afterwards() -> None:
    looks: list[str] = []

    def looked(phase: str, _: dict[str, int]) -> None:
        looks.append(phase)

    gc.collect()
    gc.callbacks.append(looked)
    try:
        with Collector().spared(grown=True):
            system = [Cycle(0) for _ in range(10_000)]
        del system[0]
        [Cycle(0) for _ in range(100)]
    finally:
        gc.callbacks.remove(looked)
    assert looks == []
