"""Writes `docs/evidence.md`: what stands where, on the date of the newest entry.

`python -m tests.docs.evidence` at the top of a checkout. Nothing is simulated: predictions are
frozen, changes are scored by what fits said, and what takes long is kept in
`validation/evidence.toml` with its date.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from simnet.study.validate.document import system_of
from simnet.study.validate.record import Record, record
from simnet.study.whatif.record import ChangeRecord, record_of_changes
from tests.house.trees import ROOT

PAGE: Final = ROOT / "docs" / "evidence.md"
_KEPT: Final = ROOT / "validation" / "evidence.toml"
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
# the system of what kernels did that this project asked itself
_HERE: Final = "live"
_NEAR: Final = 0.15
_PATHS: Final = ("validation/packetdrill/*.pkt", "validation/cases/[0-9]*")


def page() -> str:
    """The page as it should be now."""
    kept = tomllib.loads(_KEPT.read_text(encoding="utf-8"))
    frozen, changes = record(), record_of_changes()
    dates = [one["date"] for several in kept.values() for one in several if "date" in one]
    dates += map(date.fromisoformat, _dates(frozen).values())
    parts = [
        "# Evidence",
        (
            f"This is what stands where on {_day(max(dates))}."
            " `python -m tests.docs.evidence` writes this page from the records."
        ),
        *_numbers(published(frozen)),
        *_others(kept["compared"]),
        *_changes(changes),
        *_kernels(frozen.of(_HERE)),
        *_mutants(kept["mutants"]),
        *_fuzz(kept["fuzz"]),
    ]
    return "\n\n".join(parts) + "\n"


def published(found: Record) -> Record:
    """What others measured: all but what this project asked a kernel itself."""
    return Record(tuple(one for one in found.scores if one.system != _HERE))


def _numbers(found: Record) -> Iterator[str]:
    inside = sum(one.covered for one in found.last())
    dates = _dates(found)
    yield "## Numbers"
    yield (
        f"Of {len(found.last())} numbers that were predicted before they were known, half are"
        f" within {100 * found.median_error:.0f} %, and {inside} lie inside their 95 % interval."
        " The first intervals held chance and unknown parameters alone, and not the errors of the"
        " model. [How far off](how-far-off.md) tells what was wrong each time; `simnet validate"
        " --frozen` prints every number."
    )
    rows = [(name, found.of(name), dates[name]) for name in found.systems]
    yield _table(
        ("system", "numbers", "median error", "in 95 %", "newest prediction frozen"),
        [
            (
                _named(name),
                len(of.last()),
                f"{100 * of.median_error:.1f} %",
                f"{100 * of.coverage:.0f} %",
                when,
            )
            for name, of, when in [*rows, ("all", found, max(dates.values()))]
        ],
    )


def _named(system: str) -> str:
    """A system by the first part of its ids, and in words."""
    words = system_of(system)
    return f"{system}: {words}" if words else system


def _dates(found: Record) -> dict[str, str]:
    """When the newest prediction of each system was frozen, by the name of its file."""
    return {
        name: max(_DATE.findall(" ".join(one.file for one in found.of(name).last())))
        for name in found.systems
    }


def _others(several: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in several:
        yield (
            f"`{one['what']}` was compared by {one['by']} ({one['when']}): of {one['numbers']}"
            f" numbers, {one['tolerated']} were predicted within the tolerance asked for, and"
            f" {one['inside']} lay inside their 95 % interval. These intervals hold the errors of"
            " the model, too."
        )


def _changes(found: ChangeRecord) -> Iterator[str]:
    told = len(found.changes) - found.count("abstained")
    yield "## Changes"
    yield (
        f"Of {len(found.changes)} changes between two measured configurations, each predicted by a"
        f" fit that had not seen them, simnet says of {told} whether something becomes more, less"
        f" or stays the same: {found.count('right')} did (`simnet validate --changes`)."
    )
    rows = [(name, found.of(name)) for name in found.systems]
    yield _table(
        ("system", "changes", "right", "nothing said", "wrong", "in 95 %"),
        [
            (
                _named(name), len(of.changes),
                *(of.count(one) for one in ("right", "abstained", "wrong")),
                f"{100 * of.coverage:.0f} %",
            )
            for name, of in [*rows, ("all", found), ("not seen before", found.unseen)]
        ],
    )  # fmt: skip


def _kernels(here: Record) -> Iterator[str]:
    scripts, cases = (len(list(ROOT.glob(path))) for path in _PATHS)
    traces = (ROOT / "validation/external/linux-tcp-receiver-traces.jsonl").read_text("utf-8")
    yield "## Real kernels and real reports"
    yield (
        f"TCP is held against {len(traces.splitlines())} recorded traces of Linux and {scripts}"
        f" scripts of packetdrill ([tcp.md](tcp.md)). Diagnosis is tested with {cases} public"
        " problem reports, among texts of its own ([diagnose.md](diagnose.md))."
    )
    rows = here.last()
    loads = {one.id for one in rows}
    near = sum(abs(one.predicted - one.measured) <= _NEAR * one.measured for one in rows)
    inside = sum(one.covered for one in rows)
    yield (
        f"{len(loads)} loads of datagrams were drawn, and what a worker's socket and the backlogs"
        " lose of them was predicted, before a running kernel got them between two namespaces"
        f" ([udp.md](udp.md)): {near} of {len(rows)} numbers are within {100 * _NEAR:.0f} %, and"
        f" {inside} inside their interval."
    )


def _mutants(several: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Tests"
    yield (
        "Mistakes were made on purpose in the mechanisms, at random places that nobody had looked"
        " at, and each draw was tried once. This many were noticed by the tests of their floor;"
        " 85 % are asked for ([reliability](reliability.md#mutants))."
    )
    floors = ("host", "net", "storage", "all")
    yield _table(
        ("date", "seed", "tried", *floors, ""),
        [
            (
                one["date"], one["seed"], one["tried"],
                *(f"{one['noticed'][floor]} %" for floor in floors), one["note"],
            )
            for one in several
        ],
    )  # fmt: skip


def _fuzz(several: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Inputs that nobody would type"
    yield (
        "Each ends with one of the [exit statuses](reliability.md#fuzzing) that are legal, or is a"
        " finding."
    )
    statuses = sorted({status for one in several for status in one["statuses"]}, key=int)
    yield _table(
        ("date", "seed", "cases", *(f"ended with {status}" for status in statuses), "findings"),
        [
            (
                one["date"], one["seed"], f"{one['cases']:,}",
                *(f"{one['statuses'].get(status, 0):,}" for status in statuses), one["findings"],
            )
            for one in several
        ],
    )  # fmt: skip


def _table(heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _day(when: date) -> str:
    return f"{when.day} {when:%B %Y}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
