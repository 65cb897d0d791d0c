"""Whether two checkouts of simnet predict the same: every scenario with each of its tunings, both.

Only the command is used, by the name that `pyproject.toml` gives it, so the modules may have moved
in between. Both checkouts are compiled already (`make build`)::

    python bench/compare_versions.py OLD NEW

The exit status is 1 where a number, a listing or a prediction differs, 2 where one does not run.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

WORKER: Final = """
import contextlib, importlib, io, json, sys
name, _, function = sys.argv[1].partition(":")
main = getattr(importlib.import_module(name), function)
answers = sys.stdout
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(json.loads(line))
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, out.getvalue(), err.getvalue()]), file=answers, flush=True)
"""
NUMBERS, LISTINGS, PREDICTIONS = "simulated numbers", "listings", "predictions"
RECORDS, DIGESTS, SOURCES = "frozen files", "digests", "places of values"
KINDS: Final = (NUMBERS, LISTINGS, PREDICTIONS, RECORDS, DIGESTS, SOURCES)
# what may differ: a digest follows from a field's name, and a place from a file's lines
APART: Final = (DIGESTS, SOURCES)

# what is long enough to show each tuning's effect
SHORT: Final = ("--warm-up", "50 ms", "--duration", "100 ms")
TIMES: Final = {
    "ess-sas": ("--duration", "400 s"),
    "vscsi-parallel": ("--warm-up", "500 ms", "--duration", "2 s"),
    "vlan-half-cpu": ("--warm-up", "100 ms", "--duration", "500 ms"),
}
FORMATS: Final = {"ess-sas": "text,iostat,json", "vscsi-parallel": "text,sar,vmstat,iostat,json"}
USUAL_FORMATS: Final = "text,sar,interrupts,vmstat,json"
# 95 % intervals come from drawn parameters: two draws each show whether the draws are the same
DRAWN: Final = {"x460.listing1.*", "relay.tuned", "vlan.*", "ipoib.single_after"}
# whole tests and tables of many messages; --all has them too
LONG: Final = re.compile(
    r"ess\.(sas30|56gbe|pagepool)|relay\.[ci]|x460\.affinity|x460\.table1|x460\.table2\.[bn]e?t?p?"
)


Answer = tuple[int, str, str]
"""Exit status, results, messages."""
UNANSWERED: Final = "no scenario answers this measurement yet"


@dataclass
class Comparison:
    """What was compared, by kind: how much, and each difference by its place in the answers."""

    compared: Counter[str] = field(default_factory=Counter)
    differences: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def add(self, kind: str, said: str, place: str, values: tuple[object, object]) -> None:
        """Compare one value at a place of what a command said."""
        self.compared[kind] += 1
        old, new = values
        if old != new:
            found = self.differences.setdefault(kind, {})
            line = f"{said}: {place}: {old!r}, then {new!r}"
            found.setdefault(re.sub(r"\[\d+\]|\d+$", "", place), []).append(line)


class Tree:
    """A checkout, and for each thread a process that runs its command again and again."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        project = (self.root / "pyproject.toml").read_text("utf-8")
        entry = re.search(r'^simnet = "([\w.:]+)"', project, re.MULTILINE)
        if entry is None:
            sys.stderr.write(f"{root}: a checkout of simnet was expected\n")
            raise SystemExit(2)
        self.entry = entry[1]
        self.local = threading.local()

    def worker(self) -> subprocess.Popen[str]:
        """Return this thread's process."""
        if not hasattr(self.local, "process"):
            own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
            self.local.process = subprocess.Popen(
                [sys.executable, "-c", WORKER, self.entry],
                cwd=self.root,
                env=own
                | {"PYTHONPATH": str(self.root), "SIMNET_CACHE_DIR": "", "COLUMNS": "200"}
                | {"SIMNET_ENGINE": "compiled"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        found: subprocess.Popen[str] = self.local.process
        return found

    def call(self, command: Sequence[str]) -> tuple[int, str, str]:
        """Return exit status, results and messages of a command."""
        process = self.worker()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps(command) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            sys.stderr.write(f"{self.root}: simnet {' '.join(command)}: the process has ended\n")
            raise SystemExit(2)
        status, out, err = json.loads(line)
        return status, out, re.sub(r"\r.*|simnet: simulating.*\n", "", err)

    def listed(self) -> dict[str, list[dict[str, Any]]]:
        """Return all scenarios and models."""
        found: dict[str, list[dict[str, Any]]] = json.loads(self.call(["list", "--json"])[1])
        return found


def commands(listed: dict[str, list[dict[str, Any]]], ids: Sequence[str]) -> Iterator[list[str]]:
    """Yield everything to run, what takes long first."""
    for name in ids:
        drawn = any(re.fullmatch(pattern.replace("*", ".*"), name) for pattern in DRAWN)
        timed = ["--duration", "2 s" if name.startswith("vscsi") else "100 ms"]
        yield ["validate", name, "--json", "--jobs", "1", "--members", "2" * drawn or "0", *timed]
    shown = [["list", what, "--json"] for what in ("scenarios", "models", "knobs", "attributes")]
    shown += [["show", model["name"], "--json"] for model in listed["models"]]
    for scenario in listed["scenarios"]:
        name = scenario["name"]
        for tuning in (None, *(found["name"] for found in scenario["tunings"])):
            tuned = ["--tuning", tuning] if tuning else []
            shown.append(["show", name, *tuned, "--json"])
            form = FORMATS.get(name, USUAL_FORMATS)
            yield ["run", name, *tuned, *TIMES.get(name, SHORT), "--format", form]
    yield from shown


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every number and text of a JSON document with its place."""
    if isinstance(value, dict):
        named: Sequence[tuple[str, object]] = [(f".{key}", one) for key, one in value.items()]
    elif isinstance(value, list):
        # a row is known by what it is of, not by where it stands
        named = [(f"[{_row(one) or number}]", one) for number, one in enumerate(value)]
    else:
        yield path, value
        return
    for key, one in named:
        yield from leaves(one, path + key)


def _row(value: object) -> str:
    return f"{value['id']} {value['key']}" if isinstance(value, dict) and "key" in value else ""


def kind_of(command: Sequence[str], place: str) -> str:
    """Return what a value of a command's JSON is."""
    last = place.rpartition(".")[2]
    if last in ("fingerprint", "digest", "effective_digest"):
        return DIGESTS
    if last == "source":
        return SOURCES
    if command[0] == "validate":
        return PREDICTIONS if last in ("predicted", "low", "high") else LISTINGS
    simulated = command[0] == "run" and not place.startswith(".configuration")
    return NUMBERS if simulated else LISTINGS


def compare(found: Comparison, command: Sequence[str], old: Answer, new: Answer) -> None:
    """Compare the answers to one command."""
    said = " ".join(command)
    found.add(LISTINGS, said, "status and messages", (old[::2], new[::2]))
    # a prediction that misses a condition says so by 1
    if old[0] not in (0, command[0] == "validate"):
        if UNANSWERED not in old[2]:
            found.failed.append(f"{said}: {old[2].strip()}")
        return
    (old_text, old_json), (new_text, new_json) = _parts(old[1]), _parts(new[1])
    for number, lines in enumerate(zip_longest(old_text, new_text, fillvalue="absent"), start=1):
        found.add(LISTINGS, said, f"line {number}", lines)
    befores, afters = dict(leaves(old_json)), dict(leaves(new_json))
    for place in befores | afters:
        values = befores.get(place, "absent"), afters.get(place, "absent")
        found.add(kind_of(command, place), said, place, values)


def _parts(out: str) -> tuple[list[str], object]:
    """Return the lines before a JSON document, and the document."""
    out = re.sub(r"(fingerprint|digest) [0-9a-f]{16,}", r"\1", out)  # the JSON has it, too
    start = re.search(r"^[\[{]", out, re.MULTILINE)
    if not start:
        return out.splitlines(), None
    return out[: start.start()].splitlines(), json.loads(out[start.start() :])


def compare_records(found: Comparison, old: Tree, new: Tree) -> None:
    """Compare what has been frozen, byte by byte."""
    folders = [tree.root / "validation" / "predictions" for tree in (old, new)]
    for name in sorted({path.name for folder in folders for path in folder.glob("*.json")}):
        before, after = ((folder / name) for folder in folders)
        if not before.exists():
            continue
        kept = after.exists() and before.read_bytes() == after.read_bytes()
        found.add(RECORDS, "validation/predictions", name, ("kept", "kept" if kept else "changed"))


def report(found: Comparison, most: int) -> None:
    """Print a table, and the differences."""
    print("| what | compared | identical | differ |\n| --- | --- | --- | --- |")
    for kind in KINDS:
        differ = sum(map(len, found.differences.get(kind, {}).values()))
        compared = found.compared[kind]
        print(f"| {kind} | {compared:,} | {compared - differ:,} | {differ:,} |")
    for kind, places in found.differences.items():
        print(f"\n{kind} that differ, each place once:")
        for lines in list(places.values())[:most]:
            print(f"- {len(lines):,} times, first {lines[0]}")
        if len(places) > most:
            print(f"- and {len(places) - most:,} more places")


def main() -> int:
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a checkout, compiled")
    parser.add_argument("new", type=Path, help="another one, compiled")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--all", action="store_true", help="the long predictions, too")
    parser.add_argument("--only", default="", help="commands with this text in them")
    parser.add_argument("--most", type=int, default=40, help="differences printed of each kind")
    parser.add_argument("--times", action="store_true", help="print how long each command took")
    given = parser.parse_args()
    old, new = Tree(given.old), Tree(given.new)
    listed, found = old.listed(), Comparison()
    ids = [name for name in _predicted(old) if given.all or not LONG.match(name)]
    work = [command for command in commands(listed, ids) if given.only in " ".join(command)]
    started = time.monotonic()

    def both(command: list[str]) -> tuple[Answer, Answer, float]:
        begun = time.monotonic()
        return old.call(command), new.call(command), time.monotonic() - begun

    with ThreadPoolExecutor(max(given.jobs, 1)) as pool:
        for command, (before, after, took) in zip(work, pool.map(both, work), strict=True):
            compare(found, command, before, after)
            if given.times:
                print(f"{took:6.1f} s  {' '.join(command)}", file=sys.stderr)
    compare_records(found, old, new)
    runs = sum(command[0] == "run" for command in work)
    print(f"{runs} simulations of {len(listed['scenarios'])} scenarios and {len(ids)} predictions")
    print(f"with both versions in {time.monotonic() - started:.0f} s\n")
    report(found, given.most)
    for line in found.failed:
        print(f"does not run: {line}")
    return 2 if found.failed else int(any(kind not in APART for kind in found.differences))


def _predicted(tree: Tree) -> list[str]:
    """Return the ids of what is measured or wanted, and of what stands beside real kernels."""
    folder = tree.root / "validation"
    files = [*folder.glob("measurements/*.toml"), folder / "predictions" / "wanted.toml"]
    found = {
        row["id"]
        for file in files
        for kind in ("measurement", "prediction")
        for row in tomllib.loads(file.read_text("utf-8")).get(kind, ())
    }
    return sorted({*found, "conformance.*"})


if __name__ == "__main__":
    sys.exit(main())
