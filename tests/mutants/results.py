"""What was found out about mistakes: kept in a file, judged, and told."""

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.mutants.reach import digest_of
from tests.mutants.sites import FLOORS, ROOT, Mutant, path_of
from tests.mutants.trial import Outcome

NOTICED = frozenset({"killed", "timeout"})


class Results:
    """Outcomes in a file of JSON lines: a run that was cut short goes on where it was.

    A mistake that nothing noticed is tried again when sources or tests have changed.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.digests = {floor: digest_of(floor) for floor in FLOORS}
        self.rows: dict[str, dict[str, Any]] = {}
        if fresh:
            path.unlink(missing_ok=True)
        self.read()

    def read(self) -> None:
        if self.path.is_file():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.rows[row["key"]] = row

    def has(self, mutant: Mutant) -> bool:
        row = self.rows.get(mutant.key)
        if row is None:
            return False
        return row["state"] in NOTICED or row["digest"] == self.digests[mutant.floor]

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        row = {"key": mutant.key, "operator": mutant.operator, "line": mutant.line}
        row |= {**asdict(outcome), "digest": self.digests[mutant.floor]}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def state(self, mutant: Mutant) -> str:
        return str(self.rows[mutant.key]["state"]) if mutant.key in self.rows else "untried"


def equivalents(path: Path) -> dict[tuple[str, str, str], str]:
    """Return the reasons why mistakes cannot be noticed, by module, scope and diff.

    An empty line separates several of one reason.
    """
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["equivalent"]
    return {
        (row["module"], row["scope"], _bare(diff)): row["reason"]
        for row in rows
        for diff in row["diff"].split("\n\n")
    }


def _bare(diff: str) -> str:
    """Return a diff without indents."""
    return "\n".join(line[:1] + line[1:].strip() for line in diff.strip().splitlines())


class Table:
    """A sample's outcomes, judged."""

    def __init__(
        self, sample: Iterable[Mutant], results: Results, reasons: dict[tuple[str, str, str], str]
    ) -> None:
        self.by_module: dict[str, Counter[str]] = defaultdict(Counter)
        self.survivors: list[Mutant] = []
        self.contradicted: list[Mutant] = []
        """Listed as without effect, and noticed."""
        for mutant in sample:
            state = results.state(mutant)
            if (mutant.module, mutant.scope, _bare(mutant.diff)) in reasons:
                if state in NOTICED:
                    self.contradicted.append(mutant)
                elif state != "untried":
                    state = "equivalent"
            if state in {"survived", "unreached"}:
                self.survivors.append(mutant)
            self.by_module[mutant.module][state] += 1

    def rate(self, modules: Sequence[str]) -> float:
        """Return the per cent noticed of what could be."""
        count = self.count(modules)
        possible = sum(count.values()) - count["equivalent"] - count["untried"]
        return 100 * (count["killed"] + count["timeout"]) / possible if possible else 100.0

    def count(self, modules: Sequence[str]) -> Counter[str]:
        return sum((self.by_module[module] for module in modules), Counter())

    def lines(self) -> Iterator[str]:
        """Yield a line a module, a floor, and for all."""
        states = ("killed", "timeout", "survived", "unreached", "equivalent", "untried")
        yield f"{'':34}" + "".join(f"{state:>11}" for state in states) + f"{'noticed':>9}"
        modules = sorted(self.by_module)
        groups = {module.removeprefix("simnet."): [module] for module in modules}
        groups |= {
            floor: [its for its in modules if its.split(".")[1] == floor] for floor in FLOORS
        }
        groups["all"] = modules
        for name, members in groups.items():
            count = self.count(members)
            cells = "".join(f"{count[state] or '':>11}" for state in states)
            yield f"{name:34}{cells}{self.rate(members):>7.0f} %"

    def told_survivors(self) -> Iterator[str]:
        """Yield what nothing noticed, as lines of a diff under their place."""
        for mutant in sorted(self.survivors, key=lambda its: (its.module, its.start)):
            place = path_of(mutant.module).relative_to(ROOT)
            yield f"{place}:{mutant.line} {mutant.scope}\n{mutant.diff}\n"
