"""The report of a sweep: where the best lies, and every cell of the grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from simnet.printable import capital, titled
from simnet.report.html.blocks import Notes, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each, has_schema
from simnet.report.html.numbers import counted
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.report.html.system import known_configuration
from simnet.report.sweep import sweep_cells
from simnet.study.run.machine import machine
from simnet.study.run.measures import LATENCY_KIND, MEASURES
from simnet.study.sweep.sweep import SCHEMA, Point, Sweep

_TUNING: Final = "tuning"
_MOST_KNOBS: Final = 20
_MOST_ROWS: Final = 100_000


class _Optimum(BaseModel):
    model_config = ConfigDict(extra="allow")

    measure: str


class _Run(BaseModel):
    """One row: knobs and tuning as texts, measures as numbers."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | float | None]

    seed: int = Field(ge=0)
    fingerprint: str


class _Document(BaseModel):
    """What `simnet sweep --json` prints; cells and the optimum are made again from the rows."""

    model_config = ConfigDict(extra="forbid")

    schema_: Literal["simnet.sweep/1"] = Field(alias="schema")
    scenario: str
    version: str
    settings: dict[str, str] = Field(default={}, max_length=_MOST_KNOBS)
    options: dict[str, str] = Field(default={}, max_length=_MOST_KNOBS)
    knobs: list[str] = Field(max_length=_MOST_KNOBS)
    rows: Annotated[list[_Run], Field(min_length=1, max_length=_MOST_ROWS)]
    cells: list[dict[str, Any]]
    optimum: _Optimum
    conclusive: bool
    remarks: list[str]

    @model_validator(mode="after")
    def _whole(self) -> _Document:
        if self.optimum.measure not in MEASURES:
            raise ValueError(f"expected a measure: {', '.join(MEASURES)}")
        for number, row in enumerate(self.rows):
            _check(f"rows.{number}", row.__pydantic_extra__, self.knobs, self.optimum.measure)
        names = (*self.knobs, _TUNING)
        runs = Counter(tuple(r.__pydantic_extra__.get(n) for n in names) for r in self.rows)
        if len(set(runs.values())) > 1:
            raise ValueError("expected as many runs of each combination")
        if len({_TUNING in row.__pydantic_extra__ for row in self.rows}) > 1:
            raise ValueError(f"expected {_TUNING} in all rows, or in none")
        return self


def _check(
    place: str, given: Mapping[str, str | float | None], knobs: Sequence[str], by: str
) -> None:
    """Knobs and tuning are texts, measures are numbers, and what decides is known."""
    texts = (*knobs, *([_TUNING] if _TUNING in given else []))
    wrong = [name for name in texts if not isinstance(given.get(name), str)]
    if wrong or isinstance(given.get(LATENCY_KIND), float):
        raise ValueError(f"{place}.{(*wrong, LATENCY_KIND)[0]}: expected a text")
    if wrong := [name for name in MEASURES if isinstance(given.get(name), str)]:
        raise ValueError(f"{place}.{wrong[0]}: expected a number")
    if given.get(by) is None:
        raise ValueError(f"{place}.{by}: expected a number")


class _Found(NamedTuple):
    """A sweep, what decided which is best, and the version that made it."""

    sweep: Sweep
    by: str
    version: str

    @property
    def scenario(self) -> str:
        """What was simulated."""
        return self.sweep.scenario

    @property
    def settings(self) -> Mapping[str, str]:
        """What was the same in all runs, for the command that repeats it."""
        return self.sweep.settings

    @property
    def options(self) -> Mapping[str, str]:
        """How the runs were made, likewise."""
        return self.sweep.options


def _read(data: bytes) -> _Found:
    document = _Document.model_validate_json(data)
    points = []
    for row in document.rows:
        given = row.model_dump()
        settings = {name: given.pop(name) for name in document.knobs}
        points.append(Point(settings, given.pop(_TUNING, ""), given.pop("seed"), given))
    found = Sweep(
        document.scenario,
        tuple(document.knobs),
        tuple(points),
        tuple(document.remarks),
        document.conclusive,
        document.settings,
        document.options,
    )
    return _Found(found, document.optimum.measure, document.version)


def _part(name: str, file: str, one: _Found) -> Part:
    found = one.sweep
    sentence = found.optimum(one.by).sentence()
    measure = found.optimum(one.by).named(one.by).label
    heading, *rows = sweep_cells(found, one.by)
    best = found.optimum(one.by).best
    marked = [
        (f"{row[0]} (best)", *row[1:]) if number == best else row for number, row in enumerate(rows)
    ]
    table = Table("Means of every combination", heading, tuple(marked), len(found.names))
    remarks = [Notes(found.remarks, warning=True)] if found.remarks else []
    drawn = picture(
        f"{name}-grid", lambda: found.plot(one.by), f"{measure} over the grid", sentence
    )
    words = [found.scenario, *(w for k in found.knobs for w in ("--over", _values(found, k)))]
    if found.tuned:
        words += [w for t in dict.fromkeys(p.tuning for p in found.points) for w in ("--tuning", t)]
    if one.by != found.compared_by:
        words += ["--best", one.by]
    if (replications := len({point.seed for point in found.points})) > 1:
        words += ["--replications", str(replications)]
    varied = " and ".join(found.names)
    which = "Which values of" if len(found.names) > 1 else "Which value of"
    gives = "give" if len(found.names) > 1 else "gives"
    said = found.optimum(one.by).named(one.by).said
    subject = titled(found.scenario, (), sorted(found.settings.items()))
    known = known_configuration(found.scenario, (), found.settings)
    return Part(
        f"{which} {varied} {gives} the best {said} on {subject}?",
        [_verdict(found, one.by, sentence)],
        [Section("The grid", [drawn, table]), repeat_section("sweep", one, words, file=file)],
        of=machine(known) if known else (),
        first=remarks,
        foot=f"simnet {one.version}: {len(found.points)} runs",
    )


def _verdict(found: Sweep, by: str, sentence: str) -> Verdict:
    """The best combination, and how sure that is."""
    optimum = found.optimum(by)
    best = optimum.cells[optimum.best]
    estimate = best.estimate(by)
    measure = optimum.named(by)
    at = ", ".join(f"{name}={best.settings[name]}" for name in found.names)
    unit = measure.label.partition(" (")[2].removesuffix(")")
    value = (
        ""
        if estimate is None
        else f"{measure.said} {counted(measure.shown(estimate.mean))} {unit} at "
    )
    _, _, sure = sentence.partition("; ")
    reason = f"{capital(sure)}." if sure else sentence
    return Verdict(f"Best: {value}{at}", reason, "plain" if found.conclusive else "open")


def _values(found: Sweep, knob: str) -> str:
    values = dict.fromkeys(point.settings[knob] for point in found.points)
    return f"{knob}={';'.join(values) if any(',' in one for one in values) else ','.join(values)}"


KIND: Final = Kind("sweep", has_schema(SCHEMA), _read, each("sweep", _part))
