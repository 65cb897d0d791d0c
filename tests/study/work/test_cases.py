"""Many simulations described by data: varied, kept, spread over processes."""

from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.study.run.result import Result
from simnet.study.work import cases, task
from simnet.study.work import store as kept
from simnet.study.work.cases import Case, Member, simulate_all, uncertain
from simnet.study.work.store import Store
from simnet.study.work.vary import canonical_name, ranged, with_values

CASE = Case("x460-out-of-box", (("message", "8 KiB"), ("nodes", "4")))
HARDIRQ = "intel-xeon-7040.costs.hardirq_cycles"


@pytest.fixture
def simulated(
    monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Result]
) -> list[tuple[int, int]]:
    """Replace the simulation; the list says which (seed, hard interrupt cycles) it was asked."""
    asked: list[tuple[int, int]] = []

    def simulate(effective: Effective, *, settings: dict[str, str]) -> Result:
        asked.append((effective.run.seed, effective.cpu.costs.hardirq_cycles))
        return measure(seed=effective.run.seed, settings=settings)

    monkeypatch.setattr(task, "simulate", simulate)
    return asked


def test_a_parameter_has_one_value_wherever_its_model_is_used() -> None:
    effective = Member(CASE).effective()
    name = canonical_name(effective, "host.ports[3].nic.rx_usecs_ps")
    assert name == "broadcom-bcm5704.rx_usecs_ps"
    changed = with_values(effective, {name: 5_000_000})
    assert {vars(port.nic)["rx_usecs_ps"] for port in changed.ports} == {5_000_000}
    assert {vars(port.nic)["rx_usecs_ps"] for port in effective.ports} != {5_000_000}


def test_parameters_are_found_by_model_and_by_short_or_long_path() -> None:
    effective = Member(CASE).effective()
    for name in (HARDIRQ, "cpu.costs.hardirq_cycles", "host.cpu.costs.hardirq_cycles"):
        assert canonical_name(effective, name) == HARDIRQ
    changed = with_values(effective, {HARDIRQ: 1})
    assert changed.cpu.costs.hardirq_cycles == 1
    assert changed.digest() != effective.digest()


def test_an_unknown_parameter_names_the_nearest() -> None:
    with pytest.raises(InputError, match=rf"did you mean {HARDIRQ}\?"):
        canonical_name(Member(CASE).effective(), "intel-xeon-7040.costs.hardirg_cycles")


def test_a_value_outside_the_legal_range_is_refused() -> None:
    with pytest.raises(InputError, match="outside the legal range"):
        with_values(Member(CASE).effective(), {HARDIRQ: -1})


def test_what_is_not_one_number_is_refused() -> None:
    with pytest.raises(InputError, match="expected a parameter with one number"):
        with_values(Member(CASE).effective(), {"host.kernel.tcp_rmem_bytes": 1})


def test_only_what_is_uncertain_and_ranged_enters_the_ensemble() -> None:
    effective = Member(CASE).effective()
    for parameter in ranged(effective):
        assert parameter.low <= parameter.value <= parameter.high
        for path in parameter.paths:
            assert effective.provenance[path].state in {"assumed", "calibrated"}
    names = {found.path for found in uncertain(CASE)}
    assert names == {parameter.name for parameter in ranged(effective)}
    assert any(name.startswith("intel-xeon-7040.") for name in names)


def test_numbers_that_fit_each_other_are_drawn_by_name_only() -> None:
    case = Case("ess-sas")
    fitting = {parameter.name for parameter in ranged(Member(case).effective()) if parameter.fits}
    assert {name.rpartition(".")[2] for name in fitting} >= {"arrays", "vdisks"}
    assert not fitting & {found.path for found in uncertain(case)}
    asked = {found.path for found in uncertain(case, fitting={"gnr-8-2p.vdisks"})}
    assert asked & fitting == {"gnr-8-2p.vdisks"}


def test_equal_members_are_simulated_once_and_kept(
    simulated: list[tuple[int, int]], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    seen: list[tuple[int, int]] = []
    members = [Member(CASE, seed=1), Member(CASE, seed=2), Member(CASE, seed=1)]
    results = simulate_all(
        members, jobs=1, store=store, progress=lambda *counts: seen.append(counts)
    )
    assert [result.seed for result in results] == [1, 2, 1]
    assert results[0].settings == {"message": "8 KiB", "nodes": "4"}
    assert [seed for seed, _ in simulated] == [1, 2]
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert simulate_all(members, jobs=1, store=store) == results
    assert len(simulated) == 2


def test_workers_outlive_the_folder_that_they_were_started_in(tmp_path: Path) -> None:
    for first in (0, 2):
        folder = tmp_path / str(first)
        folder.mkdir()
        members = [
            Member(CASE, seed, duration="1 ms", warm_up="0 s") for seed in range(first, first + 2)
        ]
        with chdir(folder):
            assert len(simulate_all(members, jobs=2, store=Store(None))) == 2
        folder.rmdir()


def test_another_value_or_duration_is_another_simulation(
    simulated: list[tuple[int, int]], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    members = [
        Member(CASE, seed=1),
        Member(CASE, seed=1, values=((HARDIRQ, 1234),)),
        Member(CASE, seed=1, duration="7 ms"),
        Member(Case("x460-out-of-box", (("nodes", "1"),)), seed=1),
    ]
    for member in members:
        simulate_all([member], jobs=1, store=store)
    assert len(simulated) == 4
    assert simulated[1] == (1, 1234)


def test_an_edited_source_never_meets_an_old_result(
    simulated: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_all([Member(CASE)], jobs=1, store=Store(tmp_path))
    monkeypatch.setattr(kept, "sources_digest", lambda: "another")
    simulate_all([Member(CASE)], jobs=1, store=Store(tmp_path))
    assert len(simulated) == 2


def test_a_case_with_tunings_is_another_case() -> None:
    tuned = Case("x460-out-of-box", (("nodes", "1"),), ("affinity",))
    effective = Member(tuned, seed=3).effective()
    assert effective.irqbalance == "off"
    assert effective.tunings == ("affinity",)
    assert cases._key(Member(tuned)) != cases._key(Member(Case(tuned.scenario, tuned.settings)))
