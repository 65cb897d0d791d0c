"""``python -m tests.fuzz.parsers``: short inputs for everything that reads what people write.

    --inputs N      how many (default 100000)
    --start SEED    seed of the first (default 1)
    --record FILE   add the counts to this file, one line of JSON for every batch

No simulation: an input is read in this process, by the thousand in a fork that has a limit of time.
A parser may return or say `InputError` or `UnitError`; all else is a finding, and so is an input
that takes longer than a second.
"""

import argparse
import json
import mmap
import os
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from simnet.errors import InputError
from simnet.scenario.commands import attribute_listing
from simnet.scenario.core import load, toml
from simnet.scenario.core.entries import tuning_names
from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.tree import Entry
from simnet.scenario.core.units import KINDS, UnitError, format_quantity, parse_quantity
from simnet.study.calibrate import capture
from simnet.study.conform import packetdrill
from simnet.study.conform import trace as conform_trace
from simnet.study.sweep import grid
from tests.fuzz import inputs
from tests.fuzz.catalogue import odd_value, scenarios, settings_of
from tests.fuzz.mutate import mutated

_BATCH: Final = 2000
_SECONDS: Final = 60
_SLOW_S: Final = 1.0
_LINES: Final = 12


# -- inputs and what reads them ------------------------------------------------------------------


def _some_lines(random: Random, text: str) -> str:
    """Return a few lines in a row, changed."""
    lines = text.splitlines()
    at = random.randrange(len(lines))
    few = "\n".join(lines[at : at + random.randrange(1, _LINES)])
    return mutated(random, few, text).decode("utf-8", "replace")


_NUMBERS: Final = ("0", "1", "-3", "1.5", "1e9", ".5", "1_0", "9" * 40, "1e-9", "", "2**3")
_UNITS: Final = (
    "", "us", "ms", "s", "KiB", "MB", "Mbit/s", "GHz", "%", "cycles", "B", "parsec", "us/s", "µs",
)  # fmt: skip
_SPACES: Final = ("", " ", "  ", "\t")


def _quantity(random: Random) -> str:
    text = random.choice(_NUMBERS) + random.choice(_SPACES) + random.choice(_UNITS)
    return mutated(random, text).decode("utf-8", "replace") if random.random() < 0.4 else text


def _units(random: Random) -> None:
    kind = random.choice(tuple(KINDS.values()))
    text = _quantity(random)
    if random.random() < 0.3:  # a unit that fits
        text = random.choice(_NUMBERS) + kind.example.lstrip("0123456789.")
    format_quantity(parse_quantity(text, kind), kind)


def _values(random: Random) -> None:
    setting = random.choice(settings_of(random.choice(scenarios())))
    text = odd_value(random, setting)
    if random.random() < 0.3:
        text = mutated(random, text).decode("utf-8", "replace")
    if setting.spec:
        setting.spec.text(setting.spec.parse(text))


def _masks(random: Random) -> None:
    words = ",".join(f"{random.getrandbits(random.choice((1, 8, 32))):x}" for _ in range(3))
    text = mutated(random, words).decode("utf-8", "replace") if random.random() < 0.5 else words
    spec = CpuMask("", none_allowed=random.random() < 0.5)
    spec.text(spec.parse(text))


@cache
def _table(scenario: str) -> Any:
    return load._assembled(scenario, {}, (), {}, ())[1]


def _names(random: Random) -> None:
    scenario = random.choice(("x460-out-of-box", "ess-sas", "vscsi-parallel"))
    name = random.choice(settings_of(scenario)).name
    if random.random() < 0.02:  # an unknown name is compared with all that there are
        name = mutated(random, name).decode("utf-8", "replace")
    _table(scenario).present(Entry(name, "", "--set"))


def _grids(random: Random) -> None:
    few = [_quantity(random) for _ in range(random.choice((1, 2, 3)))]
    form = random.choice(("{0},{1}", "{0};{1}", "{0}..{1}", "{0}..{1}:x2", "{0}..{1}:{2}", "{2}"))
    grid.axis(form.format(few[0], few[-1], few[len(few) // 2]), "nodes")


def _tunings(random: Random) -> None:
    tuning_names([mutated(random, "affinity+numactl").decode("utf-8", "replace")])


def _toml(random: Random) -> None:
    toml.parse(_some_lines(random, inputs.any_toml(random)), "s.toml")


def _listings(random: Random) -> None:
    whose, text = random.choice(inputs.listings())
    changed = _some_lines(random, text)
    if whose.startswith("sar"):
        capture.parse_capture(changed, source="l.txt")
    else:
        attribute_listing.parse_listing(changed, "l.txt")


def _traces(random: Random) -> None:
    line = inputs.trace(random).decode("utf-8", "replace")
    trace = conform_trace._parsed(line, "t.jsonl", 1)
    conform_trace._case(trace, "t.jsonl", 1, lambda _version, _line: {})


def _scripts(random: Random) -> None:
    text = _some_lines(random, random.choice(inputs.scripts()))
    packetdrill.read_text = lambda *_, **__: text  # type: ignore[attr-defined]
    packetdrill.read_script("c.pkt")


PARSERS: Final[dict[str, tuple[int, Callable[[Random], None]]]] = {
    "units": (25, _units),
    "values": (22, _values),
    "masks": (10, _masks),
    "names": (10, _names),
    "grids": (10, _grids),
    "tunings": (5, _tunings),
    "toml": (6, _toml),
    "listings": (6, _listings),
    "traces": (2, _traces),
    "scripts": (4, _scripts),
}
"""Every parser with its share."""


# -- the driver -----------------------------------------------------------------------------------


@dataclass
class Count:
    """Inputs by parser and end (taken or refused), findings as text."""

    ends: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def one(seed: int, count: Count) -> None:
    """Read the input of a seed."""
    random = Random(seed)  # noqa: S311 (inputs, no secrets)
    name = random.choices(tuple(PARSERS), [share for share, _ in PARSERS.values()])[0]
    started = time.process_time()
    try:
        PARSERS[name][1](random)
        end = "taken"
    except (InputError, UnitError):
        end = "refused"
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a finding)
        end = "failed"
        count.findings.append(f"seed {seed}: {name}: {type(error).__name__}: {str(error)[:150]}")
    took = time.process_time() - started
    if took > _SLOW_S:
        count.findings.append(f"seed {seed}: {name}: takes {took:.1f} s")
    count.ends[f"{name} {end}"] += 1


def _batch(first: int, last: int, at: mmap.mmap, answer: Path) -> None:
    """Read many in a child; where it is when it breaks stands in shared memory."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            seed = struct.unpack("q", at[:8])[0]
            broken = Count(findings=[f"seed {seed}: ends with {code}"])
            answer.write_text(json.dumps([broken.ends, broken.findings]), encoding="utf-8")
        return
    signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    count = Count()
    for seed in range(first, last):
        at[:8] = struct.pack("q", seed)
        one(seed, count)
    answer.write_text(json.dumps([count.ends, count.findings]), encoding="utf-8")
    os._exit(0)


def run(start: int, number: int, record: Path | None) -> Count:
    """Read the inputs of `number` seeds, and note the counts of every batch."""
    total = Count()
    at = mmap.mmap(-1, 8)
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place, "answer.json")
        for first in range(start, start + number, _BATCH):
            _batch(first, min(first + _BATCH, start + number), at, answer)
            found = answer.read_text(encoding="utf-8")
            ends, findings = json.loads(found)
            total.ends.update(ends)
            total.findings += findings
            for line in findings:
                sys.stderr.write(f"{line}\n")
            if record:
                with record.open("a", encoding="utf-8") as opened:
                    opened.write(f"{found}\n")
    return total


def main() -> int:
    """Run and return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.parsers", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    for scenario in scenarios():
        settings_of(scenario)
    count = run(options.start, options.inputs, options.record)
    for name, inputs_ in sorted(count.ends.items()):
        sys.stdout.write(f"{inputs_:10} {name}\n")
    total = sum(count.ends.values())
    sys.stdout.write(f"{total:10} inputs\n{len(count.findings)} findings\n")
    return int(bool(count.findings))


if __name__ == "__main__":
    sys.exit(main())
