import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy import stats

import simnet
from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.study.run.measures import TAIL
from simnet.study.run.result import Result
from simnet.study.validate import anchored
from simnet.study.whatif import alternative
from simnet.study.whatif import whatif as study
from simnet.study.whatif.aim import Aim, aim_of
from simnet.study.whatif.mechanism import Moved, moved, moved_text
from simnet.study.whatif.plan import looks
from simnet.study.whatif.tuning import read_tuning
from simnet.study.whatif.verdict import Answer, Interval, Verdict, changes, verdict
from simnet.study.whatif.whatif import WhatIf, schema, whatif
from simnet.study.work import cases, task
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.store import Store
from tests.study.synthetic import known_change, replaced, result, simulated

SCENARIO = "x460-out-of-box"
MS = 10**9
NOWHERE = Store(None)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[Effective]:
    monkeypatch.setattr(study, "known_changes", tuple)
    return replaced(monkeypatch, simulated)


def _answers(found: WhatIf) -> list[tuple[str, str]]:
    return [(one.tuning, one.verdict) for one in found.tunings]


def _ask(*tunings: str, members: int = 0, **options: Any) -> WhatIf:
    return whatif(SCENARIO, tunings, seeds=3, members=members, jobs=1, store=NOWHERE, **options)


def test_tunings_are_ranked_and_judged(made_up: list[Effective]) -> None:
    found = _ask("numactl", "affinity+numactl", "affinity")
    assert _answers(found) == [("affinity", "yes"), ("affinity+numactl", "yes"), ("numactl", "no")]
    assert [one.rank for one in found.tunings] == [1, 2, 3]
    assert found.exit_status == 0
    assert len(made_up) == 4 * 3
    throughput = found.tunings[0].change("throughput")
    assert throughput.before == pytest.approx(1e9, rel=1e-3)
    assert throughput.percent == pytest.approx(10)
    assert found.tunings[0].settings["irqbalance"] == "off"
    assert found.tunings[0].commands[0].apply[0] == "/etc/init.d/irq_balancer stop"


@pytest.mark.usefixtures("made_up")
def test_what_does_exactly_the_same_is_said() -> None:
    both = "affinity+ethtool -C eth7 rx-usecs=9"
    found = _ask("affinity", both, "net.ipv4.tcp_fack=0", "net.ipv4.tcp_dsack=0")
    reasons = {one.tuning: one.reason for one in found.tunings}
    assert reasons[both] == f"{reasons['affinity']}; to the last bit what affinity does"
    assert reasons["net.ipv4.tcp_dsack=0"] == "nothing of it is modelled"


@pytest.mark.usefixtures("made_up")
def test_how_far_off_the_model_was_goes_into_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _ask("affinity").model == 0
    known = [known_change(0.0, 0.01), *(known_change(0.5, 0.61, sort="load") for _ in range(8))]
    monkeypatch.setattr(study, "known_changes", lambda: known)
    found = _ask("affinity")
    assert found.model == pytest.approx(0.2)
    model = found.tunings[0].change("throughput").model
    assert model is not None
    assert model.low == pytest.approx(100 * (1.1**0.8 * math.exp(-0.01) - 1))
    assert "model_low" in found.to_frame().columns


class TestLooks:
    def test_a_clear_verdict_ends_the_simulations(self, made_up: list[Effective]) -> None:
        lines: list[str] = []
        found = whatif(SCENARIO, "affinity", members=0, jobs=1, store=NOWHERE, looked=lines.append)
        assert (found.seeds, found.tunings[0].pairs, len(made_up)) == (4, 4, 8)
        assert lines == ["after 4 pairs of runs: affinity: yes"]

    def test_an_answer_that_the_model_keeps_open_ends_them_too(
        self, made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known = [known_change(0.0, 0.9) for _ in range(8)]
        monkeypatch.setattr(study, "known_changes", lambda: known)
        found = whatif(SCENARIO, "affinity", members=0, jobs=1, store=NOWHERE)
        one = found.tunings[0]
        assert (one.verdict, one.more_may_tell, len(made_up)) == ("cannot tell", False, 8)

    def test_what_is_not_clear_goes_on_alone(
        self, made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def undecided(changed: object, aim: Aim, **options: Any) -> Verdict:
            decided = verdict(changed, aim, **options)  # type: ignore[arg-type]
            return replace(decided, answer="cannot tell") if decided.answer == "no" else decided

        monkeypatch.setattr(study, "verdict", undecided)
        found = whatif(SCENARIO, ["numactl", "affinity"], members=0, jobs=1, store=NOWHERE)
        assert _answers(found) == [("affinity", "yes"), ("numactl", "cannot tell")]
        assert [one.pairs for one in found.tunings] == [4, 8]
        assert (found.seeds, len(made_up)) == (8, 3 * 4 + 2 * 2 + 2 * 8)

    def test_looks_before_the_last_have_short_pairs_unless_their_time_was_said(
        self, made_up: list[Effective]
    ) -> None:
        def simulated(**given: Any) -> set[tuple[int, int]]:
            made_up.clear()
            whatif(SCENARIO, "affinity", members=4, jobs=1, store=NOWHERE, **given)
            runs = [effective.run for effective in made_up]
            return {(run.duration_ps // 10**9, run.warm_up_ps // 10**9) for run in runs}

        assert simulated() == {(160, 160), (80, 80)}
        assert simulated(seeds=4) == {(500, 300), (80, 80)}
        assert simulated(duration="50 ms") == {(50, 300), (50, 80)}
        assert simulated(warm_up="50 ms") == {(500, 50), (80, 50)}

    def test_what_short_looks_cannot_tell_is_told_by_long_runs(
        self, made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def inconclusive(_runs: object) -> tuple[bool, str]:
            return made_up[-1].run.duration_ps < 200 * 10**9, "too short"

        monkeypatch.setattr(study, "inconclusive", inconclusive)
        found = whatif(SCENARIO, "affinity", members=0, jobs=1, store=NOWHERE)
        assert _answers(found) == [("affinity", "yes")]
        assert found.tunings[0].pairs == 8
        assert len(made_up) == 2 * 6 + 2 * 8

    def test_draws_are_simulated_once_for_all_looks(
        self, made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(study, "inconclusive", lambda _runs: (True, "too short"))
        whatif(SCENARIO, "affinity", members=6, jobs=1, store=NOWHERE)
        drawn = [effective.digest() for effective in made_up if effective.run.seed >= 1000]
        assert len(drawn) == len(set(drawn)) == 2 * (1 + 6)

    @pytest.mark.parametrize(("seeds", "members"), [(2, 24), (3, 0), (4, 3), (8, 24), (100, 0)])
    def test_errors_add_up_to_five_percent(self, seeds: int, members: int) -> None:
        found = looks(seeds, members)
        # what has equal pairs has equal intervals of chance
        shares = {look.pairs: look.error for look in found}
        assert all(look.error == shares[look.pairs] for look in found)
        assert 0.05 <= sum(shares.values()) < 0.065  # looks share their pairs
        assert (found[-1].pairs, found[-1].members) == (seeds, members)
        assert [look.last for look in found] == [False] * (len(found) - 1) + [True]
        assert all(look.members <= members for look in found)

    @pytest.mark.parametrize(
        ("pairs", "apart"), [((4, 8, 14, 24), False), ((4, 6, 8), False), ((4, 6, 8), True)]
    )
    def test_all_looks_together_are_wrong_in_five_percent(
        self,
        pairs: tuple[int, ...],
        apart: bool,  # noqa: FBT001 - of a parameter's values
    ) -> None:
        found = looks(pairs[-1], 0, [(number, 0) for number in pairs[:-1]])
        draw = np.random.default_rng(1)
        early, late = (draw.standard_normal((100_000, pairs[-1])) for _ in range(2))
        wrong = np.zeros(len(early), bool)
        for look in found:
            seen = (late if apart and look.last else early)[:, : look.pairs]
            t = np.mean(seen, 1) / np.std(seen, 1, ddof=1) * math.sqrt(look.pairs)
            wrong |= np.abs(t) > stats.t.ppf(1 - look.error / 2, look.pairs - 1)
        assert 0.04 < wrong.mean() < 0.0505

    @pytest.mark.parametrize(
        "load",
        ["bulk", *(pytest.param(x, marks=pytest.mark.nightly) for x in ("requests", "offered"))],
    )
    def test_of_a_hundred_verdicts_on_equal_systems_at_most_five_see_a_difference(
        self, load: str
    ) -> None:
        trials, draw = 1000, np.random.default_rng(1)
        made = draw.standard_normal((200, 3))
        runs = [
            result(
                1e9 * (1 + carried / 20),
                50 * (1 + worked / 20) * (1 + carried / 20),
                p99_us=80 * math.exp(late / 2),
            )
            for carried, worked, late in made.tolist()
        ]

        assert _seen(runs, draw, trials, aim_of(load)) / trials < 0.05

    @pytest.mark.compiled
    @pytest.mark.nightly
    def test_nor_do_more_of_two_hundred_on_real_runs(self) -> None:
        case = Case(SCENARIO, (("nodes", "1"),))
        members = [Member(case, seed=seed, duration="10 ms", warm_up="15 ms") for seed in range(64)]
        runs = simulate_all(members, jobs=1, store=NOWHERE, lean=True)
        assert _seen(runs, np.random.default_rng(1), 200, aim_of("bulk")) <= 10


def _seen(runs: list[Result], draw: np.random.Generator, trials: int, aim: Aim) -> int:
    """How often two groups of runs of one system are taken for different systems."""

    def answer() -> Answer:
        chosen = draw.permutation(len(runs))[:16]
        before, after = ([runs[i] for i in half] for half in (chosen[:8], chosen[8:]))
        for look in looks(8, 0):
            pairs, deciding = look.pairs, len(aim.criteria)
            changed = changes(before[:pairs], after[:pairs], error=look.error, deciding=deciding)
            found = verdict(changed, aim, last=look.last).answer
            if look.last or found != "cannot tell":
                return found
        raise AssertionError

    return sum(answer() in {"yes", "no"} for _ in range(trials))


def test_pairs_share_their_seeds(made_up: list[Effective]) -> None:
    _ask("affinity", seed=7)
    seeds = [(effective.irqbalance, effective.run.seed) for effective in made_up]
    assert seeds == [(state, seed) for state in ("settled", "off") for seed in (7, 8, 9)]


def test_runs_end_by_precision_on_demand(made_up: list[Effective]) -> None:
    _ask("affinity", precision="2 %", members=1)
    paired = [e.run for e in made_up if e.run.seed < 1000]
    drawn = [e.run for e in made_up if e.run.seed >= 1000]
    assert {(run.precision_permille, run.duration_ps) for run in paired} == {(20, 2 * 10**12)}
    assert {(run.precision_permille, run.duration_ps) for run in drawn} == {(0, 80 * 10**9)}


def test_pairs_share_their_parameters(made_up: list[Effective]) -> None:
    _ask("affinity", members=4)
    drawn = [e for e in made_up if e.run.seed >= 1000]
    assert len(drawn) == 2 * (1 + 4)
    before = [e.cpu.costs for e in drawn if e.irqbalance != "off"]
    assert before == [e.cpu.costs for e in drawn if e.irqbalance == "off"]
    assert len(set(before)) == 1 + 4
    assert before[0] == load(SCENARIO).cpu.costs


@pytest.mark.usefixtures("made_up")
def test_what_depends_on_an_uncertain_parameter_cannot_be_told() -> None:
    frames = "ethtool -C eth0 rx-frames=20"
    assert _answers(_ask(frames)) != [(frames, "cannot tell")]
    found = _ask(frames, members=8)
    assert _answers(found) == [(frames, "cannot tell")]
    assert found.exit_status == 3


def test_a_parameter_that_the_tuning_sets_does_not_vary(made_up: list[Effective]) -> None:
    _ask("cpu.costs.driver_rx=3100 cycles", members=3)
    drawn = [e for e in made_up if e.run.seed > 1000]
    tuned = [e for e in drawn if e.provenance["host.cpu.costs.driver_rx_cycles"].source == "--set"]
    assert {e.cpu.costs.driver_rx_cycles for e in tuned} == {3100}
    assert len({e.cpu.costs.tcp_rx_cycles for e in tuned}) == 3


def test_what_is_not_modelled_cannot_be_told_and_is_not_simulated(made_up: list[Effective]) -> None:
    for name in ("net.ipv4.tcp_fack=0", "ethtool -K eth0 sg=off"):
        made_up.clear()
        found = _ask(name)
        assert _answers(found) == [(name, "cannot tell")]
        assert found.tunings[0].reason == "nothing of it is modelled"
        assert "accepted, but not modelled" in found.tunings[0].warnings[0]
        assert (found.exit_status, len(made_up)) == (3, 3)


@pytest.mark.parametrize(("duration", "verdict"), [(None, "yes"), ("80 ms", "cannot tell")])
def test_a_draw_in_which_nothing_came_is_simulated_for_longer(
    monkeypatch: pytest.MonkeyPatch, duration: str | None, verdict: str
) -> None:
    def stalls(effective: Effective, **options: Any) -> Result:
        found = simulated(effective, **options)
        nothing = effective.run.seed == 1002 and effective.irqbalance == "off"
        if nothing and effective.run.duration_ps < 500 * MS:
            return found.model_copy(update={"conclusive": False, "warnings": ("nothing came",)})
        return found

    asked = replaced(monkeypatch, stalls)
    monkeypatch.setattr(study, "known_changes", tuple)
    assert _answers(_ask("affinity", members=4, duration=duration)) == [("affinity", verdict)]
    longer = [e.irqbalance for e in asked if e.run.seed == 1002 and e.run.duration_ps == 500 * MS]
    # what is, and the tuning: a pair has equal lengths
    assert longer == ([] if duration else ["settled", "off"])


@pytest.mark.usefixtures("made_up")
def test_what_is_so_already_makes_no_difference() -> None:
    found = _ask("net.ipv4.tcp_low_latency=0")
    assert _answers(found) == [("net.ipv4.tcp_low_latency=0", "no difference")]
    assert found.tunings[0].reason == "that is how the system is already"
    assert found.exit_status == 1


@pytest.mark.usefixtures("made_up")
def test_one_refused_tuning_does_not_refuse_the_others() -> None:
    found = _ask("nodes=9", "affinity", "nmactl")
    assert _answers(found) == [("affinity", "yes")]
    assert found.refused == (
        "nodes=9: 9 nodes: ibm-x460 has 4",
        "nmactl: unknown tuning; did you mean numactl?",
    )
    assert found.exit_status == 0


def test_progress_never_goes_back_within_a_phase(
    made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "inconclusive", lambda _runs: (True, "too short"))
    seen: dict[str, list[tuple[int, int]]] = {}
    whatif(
        SCENARIO, "affinity", members=4, jobs=1, store=NOWHERE,
        progress=lambda done, of, phase="", /: seen.setdefault(phase, []).append((done, of)),
    )  # fmt: skip
    assert [*seen][:2] == [f"up to {pairs} pairs, 4 with other values" for pairs in (4, 6)]
    assert all(phase == sorted(phase) for phase in seen.values())
    assert sum(phase[-1][0] for phase in seen.values()) == len(made_up)


@pytest.mark.parametrize(
    ("tuning", "why"),
    [
        ("irqbalance=off", "irqbalance is not simulated here, its map is frozen"),
        ("net.ipv4.tcp_sack=0", "nothing in these runs made use of it"),
        ("vm.dirty_ratio=10", "nothing of this system reads it"),
    ],
)
def test_what_changes_nothing_to_the_last_bit_says_why(
    monkeypatch: pytest.MonkeyPatch, tuning: str, why: str
) -> None:
    def still(effective: Effective, **_options: Any) -> Result:
        seed = effective.run.seed
        return result(1e9 + seed, seed=seed, configuration=effective.model_dump(mode="json"))

    monkeypatch.setattr(task, "simulate", still)
    (found,) = _ask(tuning).tunings
    assert found.verdict == "no difference"
    assert found.reason.startswith(f"changes nothing here: {why}")


def test_settings_and_base_tunings_are_part_of_what_is(made_up: list[Effective]) -> None:
    found = _ask("numactl", settings={"nodes": "2"}, base_tunings=["affinity"])
    assert {e.workload.nodes for e in made_up} == {2}
    assert {e.irqbalance for e in made_up} == {"off"}
    assert found.base_tunings == ("affinity",)
    assert found.settings == {"nodes": "2"}
    assert list(found.tunings[0].settings) == ["numactl --cpubind", "numactl --preferred"]


@pytest.mark.usefixtures("made_up")
def test_a_latency_that_rises_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def slower(effective: Effective, **_options: Any) -> Result:
        carried, p99_us = (1.2e9, 90.0) if effective.irqbalance == "off" else (1e9, 60.0)
        return result(carried, p99_us=p99_us, configuration=effective.model_dump(mode="json"))

    monkeypatch.setattr(task, "simulate", slower)
    affinity = _ask("affinity", settings={"test": "tcp_rr"}).tunings[0]
    assert affinity.verdict == "yes"
    assert "costs latency p99 +50.0 %, latency p50 +50.0 %" in affinity.reason
    assert "latency p99 rises: +50.0 % (+50.0 to +50.0)" in affinity.warnings
    # nobody waits for a packet of a bulk stream
    affinity = _ask("affinity").tunings[0]
    assert (affinity.verdict, affinity.warnings) == ("yes", ())
    assert "latency" not in affinity.reason


@pytest.mark.usefixtures("made_up")
def test_equal_questions_have_equal_fingerprints() -> None:
    one, again, other = (_ask("affinity", seed=seed) for seed in (1, 1, 2))
    assert one.fingerprint == again.fingerprint
    assert len(one.fingerprint) == 32
    assert one.fingerprint != other.fingerprint


@pytest.mark.usefixtures("made_up")
def test_warnings() -> None:
    running = _ask("/proc/irq/193/smp_affinity=f0000").tunings[0].warnings
    assert any("only CPU 16, the first of the mask, is used" in line for line in running)
    assert any("irqbalance is on and would move this again" in line for line in running)
    rebuilt = _ask("TCP_ATO_MIN=4 ms").tunings[0].warnings
    assert any("rebuild the kernel" in line for line in rebuilt)
    reloaded = _ask("peer:modprobe e1000 InterruptThrottleRate=8000").tunings[0].warnings
    assert any("its ports are down meanwhile" in line for line in reloaded)
    value = _ask("message=64 KiB").tunings[0].warnings
    assert any(line.startswith("message: no command sets it") for line in value)
    stronger = _ask("affinity", settings={"irqbalance": "on"}).tunings[0].warnings
    assert any(line.startswith("irqbalance: set for all runs") for line in stronger)


@pytest.mark.usefixtures("made_up")
def test_warnings_know_which_ports_a_name_stands_for() -> None:
    each, one = "ethtool -C {port} rx-frames", "ethtool -C eth0 rx-frames"
    assert not any("no command sets it" in line for line in _ask(f"{each}=9").tunings[0].warnings)
    tuning = read_tuning("x460-out-of-box", "affinity")
    for knob, typed in ((each, one), (one, each), (one, one)):
        known = replace(tuning, knobs=frozenset({knob}))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(alternative, "read_tuning", lambda *_, known=known: known)
            warnings = _ask("affinity", settings={typed: "9"}).tunings[0].warnings
        assert f"{typed}: set for all runs, which is stronger than the tuning" in warnings


def test_an_interrupted_question_goes_on_where_it_stopped(
    made_up: list[Effective], tmp_path: Path
) -> None:
    def stop(done: int, _total: int, _phase: str = "") -> None:
        if done == 2:
            raise KeyboardInterrupt

    def ask(**options: Any) -> WhatIf:
        store = Store(tmp_path)
        return whatif(SCENARIO, "affinity", seeds=2, members=0, jobs=1, store=store, **options)

    with pytest.raises(KeyboardInterrupt):
        ask(progress=stop)
    before = len(made_up)
    assert before in {2, 3}
    assert _answers(ask()) == [("affinity", "yes")]
    assert len(made_up) - before == 2


@pytest.mark.usefixtures("made_up")
def test_the_document_follows_its_schema() -> None:
    found = _ask("affinity", "net.ipv4.tcp_fack=0", members=2)
    document = json.loads(found.to_json())
    jsonschema.validate(document, schema())
    assert document["schema"] == "simnet.whatif/1"
    assert WhatIf.model_validate_json(found.to_json()) == found


@pytest.mark.usefixtures("made_up")
def test_a_frame_and_a_plot() -> None:
    found = _ask("affinity", "numactl", members=2)
    frame = found.to_frame()
    assert frame.loc[("affinity", "throughput"), "percent"] == pytest.approx(10)
    assert frame.loc[("numactl", "cpu_of_one"), "verdict"] == "no"
    axes = found.plot().axes[0]
    labels = labels_of(axes)
    assert [label for label in labels if ": " in label] == ["affinity: yes", "numactl: no"]
    assert labels[1] == "throughput, more is better"
    dots = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]  # type: ignore[arg-type, index]
    assert dots[0] == pytest.approx(10)


def labels_of(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.usefixtures("made_up")
def test_a_plot_shows_latency_where_that_decides() -> None:
    found = _ask("affinity", settings={"message": "2 KiB"})
    axes = found.plot().axes[0]
    assert axes.get_title(loc="left").startswith(f"{SCENARIO} with message=2 KiB: ")
    assert axes.get_xscale() == "linear"
    assert not any("p99" in label for label in labels_of(axes))
    judged = found.tunings[0]
    tail = judged.change(TAIL).model_copy(
        update={"percent": 790.0, "seeds": Interval(low=300.0, high=2000.0)}
    )
    others = tuple(change for change in judged.changes if change.metric != TAIL)
    vetoed = judged.model_copy(
        update={"verdict": "no", "decided_by": TAIL, "changes": (*others, tail)}
    )
    axes = found.model_copy(update={"tunings": (vetoed,)}).plot().axes[0]
    (row,) = (at for at, label in enumerate(labels_of(axes)) if "p99" in label)
    assert "+790.0 %" in [text.get_text() for text in axes.texts if text.xy[1] == row]  # type: ignore[attr-defined]
    assert axes.get_xscale() == "symlog"
    assert axes.get_xlim()[1] > 2000


def test_it_is_part_of_the_api() -> None:
    assert simnet.whatif is whatif


def test_real_runs_are_judged_too() -> None:
    """Slower copying costs time, which the made-up machine knows nothing of."""
    found = whatif(
        SCENARIO,
        ["cpu.costs.copy_line=800 cycles"],
        settings={"nodes": "1"},
        seeds=2,
        members=0,
        duration="3 ms",
        warm_up="20 ms",
        jobs=1,
        store=NOWHERE,
    )
    assert _answers(found) == [("cpu.costs.copy_line=800 cycles", "no")]


# -- what a tuning is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names", "settings"),
    [
        ("affinity", ("affinity",), {}),
        ("affinity+numactl", ("affinity", "numactl"), {}),
        (" affinity + numactl", ("affinity", "numactl"), {}),
        ("irqbalance=off", (), {"irqbalance": "off"}),
        ("irqbalance=off,nodes=2", (), {"irqbalance": "off", "nodes": "2"}),
        ("net.ipv4.tcp_rmem=1,2,3,nodes=2", (), {"net.ipv4.tcp_rmem": "1,2,3", "nodes": "2"}),
        ("/proc/irq/209/smp_affinity=1,00000000", (),
         {"/proc/irq/209/smp_affinity": "1,00000000"}),
        ("affinity+ethtool -C eth0 rx-frames=9", ("affinity",), {"ethtool -C eth0 rx-frames": "9"}),
        ("affinity+sudo ethtool -C eth0 rx-frames 9 rx-usecs 7", ("affinity",),
         {"ethtool -C eth0 rx-frames": "9", "ethtool -C eth0 rx-usecs": "7"}),
        ("jumbo+ip link set eth0 mtu=4000", ("jumbo",), {"ifconfig eth0 mtu": "4000"}),
    ],
)  # fmt: skip
def test_a_tuning_as_typed(text: str, names: tuple[str, ...], settings: dict[str, str]) -> None:
    tuning = read_tuning(SCENARIO, text)
    assert tuning.names == names
    assert dict(tuning.settings) == settings


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("afinity", "afinity: unknown tuning; did you mean affinity?"),
        ("zzz", ("zzz: unknown tuning: the scenario has numactl, affinity; this system takes"
                 " processes-on-node, ring-max, jumbo; else KNOB=VALUE, or a command")),
        ("ethtool -G eth0 rx", "ethtool -G eth0 rx: expected a value"),
        ("ip link set dev eth0 mtu", "ip link set dev eth0 mtu: expected a value"),
        ("ethtool -K eth0 lro on",
         "ethtool -K eth0 lro on: not how a knob of simnet is set: `simnet list knobs` has all"),
        ("irqbalance", "irqbalance: expected a value: KNOB=VALUE"),
        ("affinity+", ("affinity+: expected the name of a tuning, several with + between,"
                       " or KNOB=VALUE")),
        ("", "TUNING: expected the name of a tuning, several with + between, or KNOB=VALUE"),
        ("=4", "=4: expected KNOB=VALUE"),
        ("nodes=9", "nodes: 9 nodes: ibm-x460 has 4"),
        ("ethtool -C {port} rx-frame=9",
         "ethtool -C eth0 rx-frame: unknown knob; did you mean ethtool -C eth0 rx-frames?"),
        ("net.ipv4.tcp_rmme=1",
         "net.ipv4.tcp_rmme: unknown knob; did you mean net.ipv4.tcp_rmem?"),
    ],
)  # fmt: skip
def test_a_bad_tuning_is_one_line(text: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        _ask(text)
    assert str(caught.value) == line


# -- mechanisms ------------------------------------------------------------------------------


def _worked(**shares: float) -> Result:
    """A result of 100,000 data packets a second; shares are percent of one CPU."""
    host = {"ports": [{"nic": {"mtu_bytes": 1500}}], "kernel": {"tcp_timestamps": True}}
    made = result(1448 * 8 * 100_000.0, configuration={"host": host})
    work = [
        {"mechanism": name, "percent": percent, "placement": name == "payload"}
        for name, percent in shares.items()
    ]
    return Result.model_validate(made.model_dump(by_alias=True) | {"work": work})


def test_the_mechanism_that_moved_most_comes_first() -> None:
    before = [_worked(payload=100.0, irq=20.0)] * 2
    after = [_worked(payload=190.0, irq=15.0, wakeup=1.0)] * 2
    found = moved(before, after)
    assert [one.mechanism for one in found] == ["payload", "irq", "wakeup"]
    assert [one.placement for one in found] == [True, False, False]
    # 1 % of a CPU over 100,000 packets a second is 0.1 us a packet
    assert found[0].before_us == pytest.approx(10.0)
    assert found[0].after_us == pytest.approx(19.0)
    assert found[1].change_us == pytest.approx(-0.5)


def test_a_mechanism_is_told_in_a_sentence() -> None:
    payload = Moved(mechanism="payload", before_us=10.0, after_us=19.1, placement=True)
    assert moved_text(payload) == "payload: +9.10 us a packet (placement)"
    elsewhere = payload.model_copy(update={"placement": False})
    assert moved_text(elsewhere) == "payload: +9.10 us a packet"


def test_small_messages_and_transactions_are_not_counted_as_full_packets() -> None:
    host = {"ports": [{"nic": {"mtu_bytes": 1500}}], "kernel": {"tcp_timestamps": True}}
    work = {"mechanism": "copy", "percent": 10.0, "placement": False}
    for unit, rate in (("transaction", 50_000.0), ("message", 25_000.0)):
        made = result(1e6, configuration={"host": host}).model_dump(by_alias=True)
        if unit == "transaction":
            made["flows"][0]["transactions_per_s"] = rate
        else:
            late = {"p50": 1.0, "p99": 2.0}
            counts = dict.fromkeys(("offered", "delivered", "retransmitted"), 0)
            rates = {"offered_per_s": rate, "delivered_per_s": rate, "latency_us": late}
            made["messages"] = counts | rates
        one = Result.model_validate(made | {"work": [work]})
        (found,) = moved([one], [one])
        assert found.unit == unit
        assert found.before_us == pytest.approx(1e5 / rate)
        assert moved_text(found) == f"copy: +0.00 us a {unit}"


def test_a_run_that_delivered_next_to_nothing_counts_as_little() -> None:
    full = _worked(payload=100.0)
    stuck = full.model_copy(update={"throughput_bps": full.throughput_bps / 1000})
    (found,) = moved([full, stuck], [full, full])
    assert found.before_us == pytest.approx(20.0, rel=0.01)


def test_results_without_work_tell_no_mechanism() -> None:
    assert moved([_worked()], [_worked()]) == ()


# -- the anchor ------------------------------------------------------------------------------


def test_the_anchor_is_the_base_itself_where_it_was_measured() -> None:
    held = anchored.anchor_of(Case(SCENARIO))
    assert held
    assert held.case == Case(SCENARIO)
    other = Case(SCENARIO, (("message", "64 KiB"),))
    held = anchored.anchor_of(other)
    assert held
    assert held.case == Case(SCENARIO, (("message", "8 KiB"), ("nodes", "4")))


def test_other_models_have_no_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    class Foreign(cases.Member):
        def effective(self) -> Effective:
            effective = super().effective()
            own = self.case.scenario == SCENARIO and not self.case.settings
            models = {"host.cpu": "another"} if own else effective.models
            return effective.model_copy(update={"models": models})

    monkeypatch.setattr(anchored, "Member", Foreign)
    assert anchored.anchor_of(Case(SCENARIO)) is None


def test_draws_that_miss_the_measurement_count_for_less() -> None:
    """Gain follows the load of CPU 0; only draws near 66.8 % (Listing 1) are near the truth."""
    loads = [40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    at_anchor = [result(cpu_percent=load) for load in loads]
    gains = [(load - 40) / 100 for load in loads[1:]]
    held = anchored.anchor_of(Case(SCENARIO))
    assert held
    given = held.conditioned({"throughput": gains}, at_anchor)["throughput"]
    assert max(given) - min(given) < 0.5 * (max(gains) - min(gains))


def test_draws_are_judged_by_what_they_say_of_the_measurement(
    made_up: list[Effective], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def moved(
        _held: anchored.Held, drawn: dict[str, list[float]], at_anchor: list[Result]
    ) -> dict[str, list[float]]:
        seen.extend(r.configuration["workload"]["nodes"] for r in at_anchor)
        return {name: [value - 0.5 for value in values] for name, values in drawn.items()}

    monkeypatch.setattr(anchored.Held, "conditioned", moved)
    throughput = _ask("affinity", members=3).tunings[0].change("throughput")
    assert throughput.parameters is not None
    assert throughput.percent == throughput.parameters.high
    assert throughput.parameters.low == pytest.approx(100 * (1.1 * math.exp(-0.5) - 1))
    simulated_then = len(made_up)
    _ask("affinity", members=3, settings={"nodes": "2"})
    assert len(made_up) == 2 * simulated_then + 1 + 3
    assert seen == [4] * 2 * (1 + 3)


@pytest.mark.parametrize(
    ("tuning", "why"),
    [
        # a ring that is never full
        ("ethtool -G eth0 rx=150", "nothing in these runs made use of it"),
        # a load without connections that begin
        ("net.core.somaxconn=900", "has no effect with this load, because no connection is"),
        # a load without files
        ("vm.dirty_ratio=30", "nothing of this system reads it"),
    ],
)
def test_what_nothing_made_use_of_is_open_where_the_load_is_assumed(tuning: str, why: str) -> None:
    """It says nothing of a host that carries something else."""
    open_for = "and what this host carries is not known: this load is assumed"
    for assumed, answer in (("on", "cannot tell"), ("off", "no difference")):
        found = whatif(
            SCENARIO, tuning, seeds=2, members=0, duration="2 ms", warm_up="2 ms", jobs=1,
            settings={"nodes": "1", "assumed": assumed}, store=NOWHERE,
        )  # fmt: skip
        (one,) = found.tunings
        assert (one.verdict, one.pairs) == (answer, 2)
        assert why in one.reason
        assert one.reason.endswith(open_for) == (assumed == "on")
        assert any("load is assumed" in remark for remark in found.remarks) == (assumed == "on")


def test_a_reason_that_holds_for_any_load_is_told_also_where_it_is_assumed() -> None:
    settings = {"nodes": "1", "assumed": "on"}
    found = whatif(
        SCENARIO, "irqbalance=off", seeds=2, members=0, duration="2 ms", warm_up="2 ms", jobs=1,
        settings=settings, store=NOWHERE,
    )  # fmt: skip
    (one,) = found.tunings
    assert one.verdict == "no difference"
    assert "irqbalance is not simulated here" in one.reason
