"""The workloads that are consistent with what was measured, and what they are held to."""

from __future__ import annotations

import pytest

import simnet
from simnet.study.answers_ess import ANSWERS
from simnet.study.cases import Case, Member, ends_itself
from simnet.study.measurements import measurement, wanted
from simnet.study.result import Result
from simnet.study.sas_ensemble import CALIBRATION, Workload, kept, numbers, of_length, solved

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
    before = Workload(1, {CPU: 10**15, DATA: 10**10, PAUSE: 100, DAEMON: 10**9})
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
        effective = workload.member(CALIBRATION["ess.sas20_one_node_40gbe"], 0.01).effective()
        assert effective.run.seed == workload.seed
        assert effective.sas
        assert effective.sas.cpu_ps == workload.values[CPU]
        assert effective.workload.length_permille == 10


def test_gpfsperf_has_no_jobs_to_shorten() -> None:
    whole = Member(Case("ess-sas", (("type", "gpfsperf"), ("test", "read-seq"))))
    assert of_length(whole, 0.1) == whole
    assert ends_itself(whole.case)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_answers_have_the_keys_that_are_asked_for(name: str, result: Result) -> None:
    cases, of = ANSWERS[name]
    found = of(dict.fromkeys(cases, result))
    keys = wanted()[name].keys if name in wanted() else measurement(name).value
    assert set(found) == set(keys)
