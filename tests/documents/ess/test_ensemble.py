"""The workloads that are consistent with what was measured, and what they are held to."""

from pathlib import Path

import pytest

import simnet
from simnet._share import folder
from simnet.documents.ess import ensemble
from simnet.documents.ess.answers import ANSWERS
from simnet.documents.ess.ensemble import (
    WorkloadDraw,
    consistent,
    kept,
    of_length,
    solved,
    workloads_for,
)
from simnet.documents.ess.numbers import FASTER, TWENTY, numbers, of_faster
from simnet.study.run.result import Result
from simnet.study.validate.measurements import measurement, wanted
from simnet.study.whatif.plan import TIMES, Plan
from simnet.study.whatif.whatif import whatif
from simnet.study.work.cases import Case, Member, runs_to_completion

SHORT = {"length": "0.01", "sas.jobs_20": "22", "sas.data": "6 GB"}
CPU, DATA = "sas-mixed-analytics.cpu_ps", "sas-mixed-analytics.data_bytes"
PAUSE, DAEMON = "sas-mixed-analytics.pause_permille", "ess-clients.daemon_mib_ps"


@pytest.fixture(scope="module")
def result() -> Result:
    return simnet.run("ess-sas", settings=SHORT)


def test_numbers_are_of_whole_jobs(result: Result) -> None:
    found = numbers(result)
    real_s = sum(job.real_s or 0.0 for job in result.jobs)
    assert found["real_minutes"] == pytest.approx(real_s / 60 / 0.01)
    assert set(found) == set(measurement("ess.sas20_one_node_40gbe").value)


def test_what_is_too_little_is_raised(result: Result) -> None:
    """Of a run with hardly any data and jobs, everything has to grow but the CPU time of a job."""
    before = WorkloadDraw(1, {CPU: 10**15, DATA: 10**10, PAUSE: 100, DAEMON: 10**9})
    after = solved(before, result)
    found, asked = numbers(result), measurement("ess.sas20_one_node_40gbe").value
    assert after.values[CPU] / 10**15 == pytest.approx(
        asked["cpu_minutes"] / found["cpu_minutes"], rel=1e-6
    )
    assert after.values[DATA] > 10**10
    assert after.values[PAUSE] > 100


def test_every_workload_that_was_kept_can_be_simulated() -> None:
    assert len(kept()) >= 5
    for workload in kept():
        effective = of_length(workload.member(TWENTY["run"]), 0.01).effective()
        assert effective.run.seed == workload.seed
        assert effective.sas
        assert effective.sas.cpu_ps == workload.values[CPU]
        assert effective.workload.length_permille == 10


def test_a_comparison_draws_the_kept_workloads_and_keeps_what_is_set() -> None:
    settings = {**SHORT, "filesystem.extent": "0.3"}
    found = whatif(
        "ess-sas", ["56gbe", "sas.data=5 GB"], settings=settings, seeds=2, members=24, jobs=1
    )
    assert found.members == len(kept())
    base = Case("ess-sas", tuple(settings.items()))
    plan = Plan(base, 1, 2, 2, None, None, None)
    for case, data in ((base, {6_000_000_000}), (Case("ess-sas"), None)):
        members = plan._drawn(case, TIMES)
        assert [member.seed for member in members] == [one.seed for one in kept()[:2]]
        read = [member.effective() for member in members]
        assert {e.sas.data_bytes for e in read if e.sas} == (
            data or {one.values[DATA] for one in kept()[:2]}
        )
        extents = {e.filesystem.extent_permille for e in read if e.filesystem}
        assert (extents == {300}) == (case == base)
        assert {e.sas.merge_ways for e in read if e.sas} == {
            one.values["sas-mixed-analytics.merge_ways"] for one in kept()[:2]
        }


def test_other_models_are_not_what_the_workloads_were_fitted_to(tmp_path: Path) -> None:
    assert workloads_for(Case("ess-sas")) == kept()
    text = (folder("scenarios") / "ess-sas.toml").read_text("utf-8")
    other = tmp_path / "8-3p.toml"
    other.write_text(text.replace("gnr-8-2p", "gnr-8-3p"), "utf-8")
    assert workloads_for(Case(str(other))) == ()
    assert workloads_for(Case("x460-out-of-box")) == ()


def test_gpfsperf_has_no_jobs_to_shorten() -> None:
    whole = Member(Case("ess-sas", (("type", "gpfsperf"), ("test", "read-seq"))))
    assert of_length(whole, 0.1) == whole
    assert runs_to_completion(whole.case)


def test_numbers_near_what_was_measured_are_consistent() -> None:
    measured = measurement("ess.56gbe").value
    assert consistent(measured, "ess.56gbe")
    for key in measured:
        share = 0 if key.endswith("gain") else 0.1 * measured[key]
        for sign in (-1, 1):
            near = {**measured, key: measured[key] + sign * (share or 0.039)}
            far = {**measured, key: measured[key] + sign * (share * 1.2 or 0.041)}
            assert consistent(near, "ess.56gbe")
            assert not consistent(far, "ess.56gbe")
            assert consistent(far, "ess.56gbe", wider=1.5)


def test_a_part_of_the_tests_gives_a_part_of_the_numbers(result: Result) -> None:
    some = {name: result for name in FASTER if "gpfsperf" in name}
    assert of_faster(some) == {"gpfsperf_gain": 0.0}


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_have_the_keys_that_are_asked_for(name: str, result: Result) -> None:
    of = ANSWERS[name]
    found = of.numbers(dict.fromkeys(of.cases, result))
    keys = wanted()[name].keys if name in wanted() else measurement(name).value
    assert set(found) == set(keys)


@pytest.mark.parametrize("without", [None, "ess.56gbe", "ess.sas30_four_nodes_40gbe"])
def test_what_is_left_out_chooses_no_workload(
    monkeypatch: pytest.MonkeyPatch, without: str | None
) -> None:
    """Nor do the ranges that are left out at once because such draws gain nothing."""
    asked: list[str] = []
    first: list[int] = []

    def keep_all(
        _self: object, workloads: list[WorkloadDraw], name: str, *_: object
    ) -> list[WorkloadDraw]:
        first.append(len(workloads))
        asked.append(name)
        return workloads

    def nothing(_self: object, workloads: list[WorkloadDraw], *_: object) -> list[dict[str, None]]:
        return [{"run": None} for _ in workloads]

    monkeypatch.setattr(ensemble._Trials, "consistent", keep_all)
    monkeypatch.setattr(ensemble._Trials, "results", nothing)
    monkeypatch.setattr(ensemble, "solved", lambda workload, _result: workload)
    found, solvable = ensemble.search(40, without=without)
    names = {"ess.sas20_one_node_40gbe", "ess.sas30_four_nodes_40gbe", "ess.56gbe"}
    assert set(asked) == names - {without}
    assert len(found) == solvable == first[0]
    assert (first[0] == 40) == (without == "ess.56gbe")
