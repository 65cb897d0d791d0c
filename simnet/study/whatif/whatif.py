"""What a tuning would do, before anyone tries it: `simnet whatif`.

What is and every alternative are simulated with the same seeds, and again with the same draws of
the parameters that are not known for certain, until every verdict is clear. See `verdict` for what
decides, `plan.Look` for when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

import simnet
from simnet.rows import Row, Study
from simnet.scenario.commands.commands import Commands, changed_knobs, commands
from simnet.study.figures import drawn
from simnet.study.run.arguments import (
    Names,
    Settings,
    count_of,
    names_of,
    options_of,
    seed_of,
    text_of,
    time_us_of,
)
from simnet.study.run.machine import machine
from simnet.study.run.measures import MEDIAN, TAIL
from simnet.study.run.run import recorded
from simnet.study.run.validity import inconclusive
from simnet.study.validate.changes import Discrepancy, discrepancy_of_changes, known_changes
from simnet.study.whatif.aim import Aim, aim_of, load_of, said
from simnet.study.whatif.alternative import Alternative, alternatives_to
from simnet.study.whatif.checked import how_checked
from simnet.study.whatif.full import filled
from simnet.study.whatif.mechanism import Moved, moved
from simnet.study.whatif.plan import MEMBERS, Found, Look, Plan, fingerprint
from simnet.study.whatif.same import (
    AS_IT_IS,
    of_this_load,
    same,
    unexplained,
    values_read,
    why_same,
)
from simnet.study.whatif.settled import settled
from simnet.study.whatif.verdict import (
    Answer,
    Change,
    Verdict,
    change_text,
    changes,
    exit_status,
    more_may_tell,
    rank,
    verdict,
)
from simnet.study.whatif.vetoes import vetoed
from simnet.study.work.cases import (
    Case,
    Member,
    Progress,
    case_of,
)
from simnet.study.work.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simnet.scenario.core.effective import Effective
    from simnet.study.run.result import Result
    from simnet.study.validate.document import Sort

SCHEMA: Literal["simnet.whatif/1"] = "simnet.whatif/1"
_INTERVALS = ("seeds", "parameters", "model")


class Judged(Row):
    """One tuning: what it does, whether to do it, and how.

    `full` says which CPUs it fills or relieves, `mechanisms` where CPU time goes, the largest
    change first. `warnings` is what to know before it is applied, what is harmed first.
    """

    rank: int
    tuning: str
    description: str
    verdict: Answer
    decided_by: str
    reason: str
    pairs: int = Field(description="pairs of runs with equal seeds until the verdict was clear")
    more_may_tell: bool = Field(
        default=True, description="whether more runs may make an open verdict clear"
    )
    changes: tuple[Change, ...]
    full: tuple[str, ...] = Field(default=(), description="CPUs that are full with or without it")
    mechanisms: tuple[Moved, ...]
    settings: dict[str, str] = Field(description="knobs with the values that the tuning sets")
    commands: tuple[Commands, ...]
    warnings: tuple[str, ...]
    checked: str = Field(
        default="", description="how changes of what it sets were ever compared with a measurement"
    )

    def change(self, metric: str) -> Change:
        """What the tuning does to a metric."""
        return next(found for found in self.changes if found.metric == metric)

    def widest(self, change: Change) -> str:
        """The part of a change's interval that keeps it open: the model's, if no runs may tell."""
        return change.widest if self.more_may_tell else "model"


class WhatIf(Study):
    """The alternatives to what is, best first, as the document `simnet.whatif/1`."""

    schema_: Literal["simnet.whatif/1"] = Field(default=SCHEMA, alias="schema")
    base_tunings: tuple[str, ...] = Field(description="tunings that are part of what is")
    goal: str = Field(default="", description="what was asked for; empty: what the load wants")
    judged_by: tuple[str, ...] = Field(
        default=(), description="metrics that count, what decides first at the front"
    )
    load: str = Field(default="", description="kind of load, which says what counts")
    seeds: int = Field(description="pairs of runs with equal seeds, of the tuning with most")
    members: int = Field(
        description="pairs of runs with equal draws of uncertain parameters, alike"
    )
    simulated_s: float = Field(description="measured time of a run with the known parameters")
    model: float = Field(
        default=0.0,
        description="by which part of its logarithm the model itself may be off a change that a"
        " setting makes of a rate, beyond the least that it may be off any: `model` of a change",
    )
    cpus: int = Field(description="logical CPUs of the system")
    remarks: tuple[str, ...] = Field(description="what to know of the system as it is")
    refused: tuple[str, ...] = Field(
        default=(), description="tunings that the system does not take, and why not"
    )
    exit_status: int = Field(description="0: rank 1 is recommended; 1: none is; 3: cannot tell")
    tunings: tuple[Judged, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a tuning and metric: before, after, change and its intervals in percent."""
        import pandas as pd  # the command needs no data frame

        rows = []
        for judged in self.tunings:
            for change in judged.changes:
                row: dict[str, Any] = {"tuning": judged.tuning, "verdict": judged.verdict}
                row |= change.model_dump(exclude=set(_INTERVALS))
                for name in _INTERVALS:
                    interval = getattr(change, name)
                    row[f"{name}_low"] = None if interval is None else interval.low
                    row[f"{name}_high"] = None if interval is None else interval.high
                rows.append(row)
        return pd.DataFrame(rows).set_index(["tuning", "metric"])

    def plot(self, axes: Axes | None = None) -> Figure:
        """Changes of throughput and CPU time per byte with their intervals, best tuning first."""
        return drawn("whatif:intervals", self, axes)


def whatif(  # noqa: PLR0913 (what the command has options for)
    scenario: str | Path,
    tunings: str | Sequence[str],
    *,
    settings: Settings | None = None,
    base_tunings: str | Sequence[str] = (),
    seed: int = 1,
    seeds: int | None = None,
    members: int = MEMBERS,
    duration: str | None = None,
    warm_up: str | None = None,
    precision: str | float | None = None,
    max_p99: str | None = None,
    goal: str = "",
    apply: Names = (),
    jobs: int | None = None,
    progress: Progress | None = None,
    looked: Callable[[str], None] | None = None,
    store: Store | None = None,
) -> WhatIf:
    """Simulate a scenario as it is and with each tuning, and say which tuning is worth it.

    Args:
        scenario: a scenario's name, or the path of its file.
        tunings: one or several, each as typed: a tuning of the scenario (`"affinity"`), several
            together (`"affinity+numactl"`), or knobs (`"irqbalance=off,nodes=2"`).
        settings: knobs for all runs, over what a named tuning says.
        base_tunings: tunings of the scenario that are part of what is.
        seed: first of the seeds.
        seeds: pairs of runs with equal seeds, at most: fewer where the verdict is clear before;
            when None 8, and 24 where runs are short.
        members: pairs of runs with equal draws of the uncertain parameters, at most; 0 for none.
        duration: simulated time that is measured, such as `"2 s"`; when None as long as the
            scenario's warm-up and up to twice that, until 10,000 messages have come, but 20 ms at
            least and 160 ms at most, 80 ms with drawn parameters; 500 ms at the last look where
            runs that short have not settled; 20 s and 12 s where disks are used.
        warm_up: simulated time before that; when None the scenario's, but 160 ms at most, 80 ms
            with drawn parameters; these where runs that short have not settled; 300 ms at the
            last look; 8 s and 6 s where disks are used; later where something acts late, such as
            irqbalance.
        precision: end runs with the known parameters when their own intervals are as narrow as
            this, such as `"1 %"`; `duration` is the most then, the scenario's when None.
        max_p99: no tuning is worth a p99 latency above this, such as `"5 ms"`; when None, none is
            worth one that is more than twice as long, where latencies count.
        goal: what decides: `throughput`, `p99`, `cpu` or `loss`; what counts for the load if empty.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed: what is; see
            `captured`.
        jobs: number of processes; one a CPU when None. Results don't depend on it.
        progress: called with the simulations done and in all, look by look.
        looked: called at each look with a line that says what is clear.
        store: where results are kept; the user's when None.

    Raises:
        InputError: something of the above can't be used as given.
        SimulationError: a simulation can't go on.
    """
    base = case_of(scenario, settings, base_tunings, apply)
    given = dict.fromkeys(names_of(tunings, "--tuning"))
    plain = Member(base).effective()
    alternatives, refused = alternatives_to(base, given)
    aim = aim_of(load_of(plain.workload.test), goal)
    waits = not {MEDIAN, TAIL}.isdisjoint(aim.metrics)
    plan = Plan(
        base,
        seed_of(seed),
        None if seeds is None else count_of(seeds, "--seeds", 1),
        count_of(members, "--members"),
        text_of(duration, "--duration"),
        text_of(warm_up, "--warm-up"),
        text_of(precision, "--precision"),
        (plain, *(one.effective for one in alternatives)),
    )
    limit = None if max_p99 is None else time_us_of(max_p99, "--max-p99")
    reported = _importing(progress)
    known: dict[Member, Result] = {}
    judged: dict[str, Judged] = {}
    left = alternatives

    def asked() -> list[Case]:
        return [base, *(one.case for one in left if _differs(plain, one))]

    plan = plan.tried(asked(), known, jobs=jobs, progress=reported, store=store)
    all_looks = iter(plan.looks)
    while True:
        look, cases = next(all_looks), asked()
        found = plan.simulate(cases, look, known, jobs=jobs, progress=reported, store=store)
        if plan.is_quick and not all(
            settled(found.paired[base], found.paired[case], latency=waits) for case in cases[1:]
        ):
            plan = plan.after_unsettled()
            all_looks = iter(plan.looks)
            continue
        rule = _Rule(aim, look, limit)
        judged |= {one.tuning.text: _judged(plain, one, found, base, rule) for one in left}
        if looked:
            looked(_said(look, judged))
        left = [one for one in left if _unclear(plain, one, judged[one.tuning.text])]
        if look.last or not left:
            break
    first = found.paired[base][0]
    ranked = sorted(judged.values(), key=lambda one: rank(one.verdict, one.changes, aim))
    told = {
        one.tuning.text: how_checked(base, one.case, (plain, one.effective)) for one in alternatives
    }
    return WhatIf(
        scenario=plain.scenario,
        version=simnet.__version__,
        fingerprint=fingerprint(known.values()),
        settings=recorded(base.apply, base.settings),
        options=plan.options | options_of(max_p99=max_p99),
        source=str(scenario),
        machine=machine(plain),
        base_tunings=plain.tunings,
        goal=aim.goal,
        judged_by=aim.metrics,
        load=aim.load,
        seeds=look.pairs,
        members=len(found.drawn[base]) - (not found.from_pairs and bool(found.drawn[base])),
        simulated_s=first.simulated_s,
        model=discrepancy_of_changes(known_changes(), "throughput").part,
        cpus=len(first.cpus),
        remarks=(*plain.remarks, *plan.remarks),
        refused=refused,
        exit_status=exit_status([one.verdict for one in ranked]),
        tunings=tuple(
            one.model_copy(
                update={
                    "rank": number,
                    "reason": _reason(one, ranked),
                    "checked": told[one.tuning],
                }
            )
            for number, one in enumerate(ranked, start=1)
        ),
    )


def _importing(progress: Progress | None) -> Progress:
    """Report progress, and import what verdicts need, a third of a second, while workers run."""
    begun: list[Thread] = []

    def report(done: int, total: int, phase: str = "") -> None:
        if done and not begun:
            begun.append(Thread(target=import_module, args=("scipy.special",)))
            begun[0].start()
        if progress:
            progress(done, total, phase)

    return report


def _unclear(base: Effective, alternative: Alternative, judged: Judged) -> bool:
    """Whether more runs could tell what these cannot."""
    told = judged.verdict != "cannot tell" or not judged.decided_by
    return judged.more_may_tell and not told and _differs(base, alternative)


def _said(look: Look, judged: Mapping[str, Judged]) -> str:
    """What is clear after a look."""
    verdicts = ", ".join(f"{name}: {one.verdict}" for name, one in judged.items())
    drawn = f", {look.members} with other values" if look.members else ""
    return f"after {look.pairs} pairs of runs{drawn}: {verdicts}"


def _reason(judged: Judged, ranked: Sequence[Judged]) -> str:
    """Why, and which better-ranked tuning does exactly the same."""
    first = next(one for one in ranked if one.changes == judged.changes)
    if first is judged or not any(change.percent for change in judged.changes):
        return judged.reason
    return f"{judged.reason}; to the last bit what {first.tuning} does"


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.whatif/1`."""
    return WhatIf.model_json_schema(by_alias=True, mode="serialization")


def _differs(base: Effective, alternative: Alternative) -> bool:
    """Whether the two can differ in a simulation."""
    return bool(values_read(base) != values_read(alternative.effective))


@dataclass(frozen=True)
class _Rule:
    """What decides, how sure it must be, and a limit on p99 of one's own."""

    aim: Aim
    look: Look
    max_p99_us: float | None


def _model(alternative: Alternative) -> Callable[[str], Discrepancy] | None:
    """How far off the model may be for what differs, by the kind of quantity; None: not known."""
    sort: Sort | Literal[""] = "" if alternative.beyond_settings else "setting"
    known = known_changes()
    return partial(discrepancy_of_changes, known, sort=sort) if known else None


def _judged(
    base: Effective, alternative: Alternative, found: Found, base_case: Case, rule: _Rule
) -> Judged:
    tuned = alternative.effective
    case = alternative.case if alternative.case in found.paired else base_case
    before, after = found.paired[base_case], found.paired[case]
    model = _model(alternative)
    drawn = found.moved(base_case, case)
    aim, look = rule.aim, rule.look
    deciding = len(aim.criteria)
    changed = changes(before, after, drawn, model, error=look.error, deciding=deciding)
    decided = verdict(changed, aim, max_p99_us=rule.max_p99_us, last=look.last)
    decided = vetoed(decided, before, after, look.error)
    answer, reason, decided_by = decided.answer, decided.sentence, decided.metric
    spoilt, why = inconclusive((*before, *after, *found.drawn[base_case], *found.drawn[case]))
    if spoilt:
        answer, reason = "cannot tell", why
    if not _differs(base, alternative):
        ignored = tuned.digest() != base.digest() or any(
            one.value != one.before for one in changed_knobs(base, tuned)
        )
        answer = "cannot tell" if ignored else "no difference"
        reason = "nothing of it is modelled" if ignored else AS_IT_IS
    elif answer == "no difference" and same(before, after):
        idle = why_same(base, [tuned])
        reason = f"changes nothing here: {idle}"
        if of_this_load(idle) and base.workload.assumed:
            answer, decided_by = "cannot tell", ""
            reason = f"{idle}, and what this host carries is not known: this load is assumed"
        elif of_this_load(idle) and (shown := unexplained(base, [tuned])):
            answer, decided_by = "cannot tell", ""
            reason = f"{idle}, and {shown}"
    unknown = [one for one in changed_knobs(base, tuned) if one.unknown]
    if unknown:
        answer, reason = "cannot tell", f"{unknown[0].name}: {unknown[0].unknown}"
    hopeless = decided.answer == answer == "cannot tell" and not more_may_tell(
        changed, aim, model, max_p99_us=rule.max_p99_us
    )
    return Judged(
        rank=0,
        tuning=alternative.tuning.text,
        description=alternative.tuning.description,
        verdict=answer,
        decided_by=decided_by,
        reason=reason,
        pairs=len(before),
        more_may_tell=bool(spoilt) or not hopeless,
        changes=changed,
        full=filled(before, after),
        mechanisms=moved(before, after),
        settings={one.name: one.value for one in changed_knobs(base, tuned)},
        commands=tuple(commands(base, tuned)),
        warnings=(
            *_slower(changed, decided, aim),
            *_held_up(before, after),
            *alternative.warnings,
            *_warnings(base, tuned),
            *(text for text in after[0].warnings if text not in (reason, *before[0].warnings)),
        ),
    )


def _warnings(base: Effective, tuned: Effective) -> list[str]:
    """What to know before a tuning is applied, one line each."""
    found = [remark for remark in tuned.remarks if remark not in base.remarks]
    reloaded = [
        one.name for one in changed_knobs(base, tuned) if one.knob.name.startswith("modprobe ")
    ]
    return found + [f"{n}: the driver is reloaded, its ports are down meanwhile" for n in reloaded]


def _held_up(before: Sequence[Result], after: Sequence[Result]) -> list[str]:
    """That a peer, and nothing of the host, was full in most runs with a tuning."""
    full = [one.full_peer for one in after if one.full_peer]
    if 2 * len(full) <= len(after):
        return []
    always = " with it and without" if all(one.full_peer for one in before) else ""
    why = "and nothing of the host is, which may gain or lose more than is seen here"
    return [f"the peer limits the answer: {full[0]} is full{always}, {why}"]


def _slower(changed: Sequence[Change], decided: Verdict, aim: Aim) -> list[str]:
    """Latencies that count and rise for certain, unless that is what decided."""
    if TAIL not in aim.metrics:
        return []
    return [
        f"{said(change.metric, change.latency_kind)} rises: {change_text(change)}"
        for change in changed
        if change.metric in {MEDIAN, TAIL}
        and change.metric != decided.metric
        and change.direction == "more"
    ]
