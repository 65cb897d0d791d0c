"""The search for a capacity: on queues whose capacity is known by formula, and on made-up ones."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.study.capacity.search import (
    GLANCES,
    LOOKS,
    Found,
    Judged,
    Measure,
    Plan,
    Run,
    roundest,
    search,
)
from simnet.study.capacity.verdict import Limits, Sample, criteria, verdict
from tests.kernel.queueing import Customers, Station

PS_PER_S = 10**12
LOSS = Limits(loss=0.001, p99_us=None, shortfall=0.01)
P99_US = 5_000.0
P99 = Limits(loss=None, p99_us=P99_US, shortfall=0.01)
SERVED_PER_S = 10_000
# short replications have other random numbers here
_OTHERS = 1_000


def plan(start: int = 1_000, limits: Limits = LOSS, **more: object) -> Plan:
    values = {"lowest": 1, "highest": 10**9, "precision": 0.02} | more
    return Plan(start, limits=limits, **values)  # type: ignore[arg-type]


def each(sample: Callable[[int, int], Sample]) -> Measure:
    """Measure by a function of load and replication."""

    def measure(runs: Sequence[Run]) -> Mapping[Run, Sample]:
        return {run: sample(run.load, run.number + _OTHERS * run.short) for run in runs}

    return measure


def simulated(judged: Judged) -> int:
    """Replications of a load, the short ones before the others included."""
    return judged.runs + (0 if judged.short else GLANCES[-1])


def certain(loss: Callable[[int], float]) -> Measure:
    """Loads whose loss is known without noise."""
    return each(lambda load, _: Sample(10**9, round(10**9 * loss(load)), 10**6, 10**6, 0))


def mm1_sample(load: int, number: int, seed: int) -> Sample:
    """Messages in a queue with one exponential server, from its stationary state on."""
    draws = np.random.default_rng((seed, number))
    count = 25_000
    rho = load / SERVED_PER_S
    gaps = draws.exponential(1 / load, count)
    services = draws.exponential(1 / SERVED_PER_S, count)
    first = draws.exponential(1 / (SERVED_PER_S - load)) if draws.random() < rho < 1 else 0.0
    # waiting times by Lindley's recursion, as a walk less its running minimum
    walk = first + np.concatenate(([0.0], np.cumsum(services[:-1] - gaps[1:])))
    waits = walk - np.minimum(np.minimum.accumulate(walk), 0.0)
    sojourns = waits + services
    delivered = int(np.count_nonzero(np.cumsum(gaps) + sojourns <= gaps.sum()))
    late = int(np.count_nonzero(1e6 * sojourns > P99_US))
    return Sample(count, 0, count, delivered, late)


def test_it_finds_where_the_p99_of_an_mm1_queue_crosses_the_limit() -> None:
    """Time in an M/M/1 queue is exponential: p99 = ln 100 / (mu - lambda)."""
    true = SERVED_PER_S - math.log(100) / (1e-6 * P99_US)
    searches = 8
    covered = 0
    for seed in range(searches):
        wanted = plan(3_000, P99, precision=0.05)
        found = search(wanted, each(lambda load, n, s=seed: mm1_sample(load, n, s)))  # type: ignore[misc]
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= true < found.high
        assert found.high / found.low < 1.3
    assert covered >= stats.binom.ppf(0.001, searches, 0.95)


def test_it_finds_where_an_mm1k_queue_of_the_kernel_loses_too_much() -> None:
    """Loss of M/M/1/K: (1 - rho) rho^K / (1 - rho^(K+1))."""
    places, limit, mean_ps, messages = 2, 0.15, PS_PER_S // SERVED_PER_S, 500

    def sample(load: int, number: int) -> Sample:
        sim = Simulator()
        services = stream(number, "services")
        queue = Customers(PS_PER_S // load, lambda: services.exponential_ps(mean_ps))
        station = Station(sim, f"station.{number}", [queue], capacity=places)
        sim.run_until(messages * PS_PER_S // load)
        offered, lost = len(queue.lost), sum(queue.lost)
        assert offered - lost == len(queue.sojourn_ps) + station.population
        return Sample(offered, lost, offered, offered, 0)

    def lost(rho: float) -> float:
        return (1 - rho) * rho**places / (1 - rho ** (places + 1))

    limits = Limits(loss=limit, p99_us=None, shortfall=0.01)
    found = search(plan(3_000, limits, precision=0.5), each(sample))
    assert found.low is not None
    assert found.high is not None
    assert lost(found.low / SERVED_PER_S) <= limit < lost(found.high / SERVED_PER_S)
    assert found.high <= 2 * found.low


@given(
    true=st.integers(1, 10**6), start=st.integers(1, 10**6), precision=st.sampled_from([0.005, 0.1])
)
def test_without_noise_the_interval_is_narrow_and_holds_the_capacity(
    true: int, start: int, precision: float
) -> None:
    wanted = plan(start, precision=precision)
    found = search(wanted, certain(lambda load: 0.0 if load <= true else 0.01))
    if 2**-9 < true / start < 2**9:
        assert found.low is not None
        assert found.high is not None
        assert found.low <= true < found.high
        assert found.narrow
    assert len(found.judged) <= wanted.most_loads
    assert found.exceptions == ()
    # 0.5 % of a load is told by three digits, and four where the first is a 1
    tried = {one.load for one in found.judged} - {start}
    assert max((len(str(load).rstrip("0")) for load in tried), default=1) <= 4


@given(st.floats(1, 1e9), st.floats(1.01, 3))
def test_a_round_load_lies_between_and_is_the_roundest(low: float, share: float) -> None:
    high = low * share
    found = roundest(low, high)
    if found is None:
        assert math.floor(high) < math.ceil(low)
        return
    assert low <= found <= high
    unit = 10 ** (len(str(found)) - len(str(found).rstrip("0")) + 1)
    nearest = round(math.sqrt(low * high) / unit) * unit
    assert not low <= nearest <= high


def test_the_ends_of_the_range_are_answers_too() -> None:
    never = search(plan(50, lowest=20), certain(lambda _: 0.5))
    assert (never.low, never.high) == (None, 20)
    always = search(plan(50, highest=150), certain(lambda _: 0.0))
    assert (always.low, always.high) == (150, None)


def test_what_passes_again_above_is_found_and_what_fails_below_is_told() -> None:
    bad = range(1_000, 1_400)
    found = search(plan(600), certain(lambda n: 0.01 if n in bad or n > 1_650 else 0.0))
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 1_650 < found.high
    assert found.exceptions
    assert set(found.exceptions) <= set(bad)


def test_where_nothing_can_be_told_the_interval_is_wide_and_says_so() -> None:
    """Around 1000, runs lose nothing or a lot, by chance."""
    runs: list[tuple[int, int]] = []

    def sample(load: int, number: int) -> Sample:
        runs.append((load, number))
        lucky = load < 900 or (load < 1_100 and number % 2 == 0)
        share = 0 if lucky else 0.002
        return Sample(10**6, round(10**6 * share), 10**5, 10**5, 0)

    found = search(plan(1_000), each(sample))
    assert found.low is not None
    assert found.high is not None
    assert found.low < 900
    assert found.high >= 1_100
    assert found.undecided
    assert not found.narrow
    assert {one.runs for one in found.judged if one.load in found.undecided} == {LOOKS[-1]}
    # later looks add to the runs of earlier ones
    assert len(runs) == len(set(runs)) == sum(simulated(one) for one in found.judged)


def test_what_is_far_from_its_limits_is_judged_by_short_runs_and_nothing_else_is() -> None:
    """Loss grows with the cube of the load, and reaches its limit at 10,000."""
    loss = certain(lambda load: 0.001 * (load / 10_000) ** 3)
    found = search(plan(3_000, precision=0.05), loss)
    assert found.narrow
    assert found.low is not None
    assert found.high is not None
    assert found.low <= 10_000 < found.high
    assert all(one.is_far == (not 0.5 < (one.load / 10_000) ** 3 < 2) for one in found.judged)
    # two lie beside the capacity: one at it could not be judged
    assert [one.load for one in found.judged if not one.short] == [found.low, found.high]
    assert not any(9_900 < one.load < 10_100 for one in found.judged)


def test_a_short_run_that_is_too_good_does_not_make_a_load_pass() -> None:
    """A queue that has not filled yet loses less than it will."""

    def measure(runs: Sequence[Run]) -> Mapping[Run, Sample]:
        lost = {run: 600_000 if run.short else 1_100_000 for run in runs}
        few = {run: lost[run] if run.load > 1_000 else 0 for run in runs}
        return {run: Sample(10**9, few[run], 10**6, 10**6, 0) for run in runs}

    found = search(plan(1_000, precision=0.05), measure)
    assert found.low is not None
    assert found.low <= 1_000


def test_too_few_packets_without_loss_prove_nothing() -> None:
    few, enough = (
        criteria([Sample(packets, 0, 100, 100, 0)] * 8, LOSS, 1e-4) for packets in (4_000, 10_000)
    )
    assert (verdict(few), verdict(enough)) == ("undecided", "pass")


def test_messages_that_pile_up_fail_whatever_is_lost() -> None:
    behind = [Sample(10**6, 0, 1_000, 900 + n, 0) for n in range(8)]
    assert verdict(criteria(behind, LOSS, 1e-4)) == "fail"


def test_a_load_at_which_nothing_arrives_fails() -> None:
    stuck = [Sample(100, 0, 100, 0, 0)] * 8
    assert verdict(criteria(stuck, P99, 1e-4)) == "fail"
    unseen = [Sample(0, 0, 0, 0, 0)] * 8
    assert verdict(criteria(unseen, LOSS, 1e-4)) == "undecided"


@pytest.mark.parametrize("burst", [1, 20, 50])
def test_a_limit_is_rarely_judged_wrongly_when_packets_are_lost_in_bursts(burst: int) -> None:
    """The true loss is the limit: it must be neither above nor below its interval."""
    draws = np.random.default_rng(1)
    tail, packets, true, trials = 0.01, 100_000, 0.001, 600
    wrong = {"pass": 0, "fail": 0, "undecided": 0}
    for _ in range(trials):
        lost = burst * draws.poisson(true * packets / burst, LOOKS[0])
        (loss, _) = criteria([Sample(packets, int(n), 1, 1, 0) for n in lost], LOSS, tail)
        wrong[loss.verdict] += 1
    most = stats.binom.ppf(0.999, trials, tail)
    assert max(wrong["pass"], wrong["fail"]) <= most


def test_loads_of_a_round_are_measured_together_and_told_as_they_are_judged() -> None:
    asked: list[int] = []
    said: list[Judged] = []

    def measure(runs: Sequence[Run]) -> Mapping[Run, Sample]:
        asked.append(len(runs))
        return certain(lambda load: 0.0 if load <= 1_500 else 0.01)(runs)

    found = search(plan(), measure, said.append)
    assert max(asked) > LOOKS[0]
    assert {one.load for one in said} == {one.load for one in found.judged}
    assert sum(asked) == sum(simulated(one) for one in found.judged)
    assert isinstance(found, Found)
