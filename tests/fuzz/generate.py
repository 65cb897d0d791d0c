"""Makes cases, each from its seed alone."""

import json
import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any, Final

from tests.fuzz import inputs
from tests.fuzz.case import Case
from tests.fuzz.catalogue import SMALL, edges_of, odd_value, scenarios, settings_of, tunings_of
from tests.fuzz.spoil import DAMAGE_FILE, DAMAGES

_DIGITS: Final = re.compile(r"\d+")
_SHORT: Final = {"duration": "300 us", "warm_up": "0 s"}
_DURATIONS: Final = ("1 us", "10 us", "100 us", "100 us", "300 us", "300 us", "1 ms", "3 ms")
_FORMATS: Final = (
    "text",
    "json",
    "sar",
    "interrupts",
    "vmstat",
    "netperf",
    "iperf",
    "iostat",
    "compare",
)


_FEW_RUNS: Final = {
    "explain": (),
    "whatif": ("--seeds", "2", "--members", "0", "--jobs", "1"),
    "screen": ("--paths", "2", "--jobs", "1"),
    "recommend": ("--runs", "2", "--jobs", "1"),
    "capacity": ("--max-loss", "50 %", "--precision", "50 %", "--jobs", "1"),
}


def case_of(seed: int, kind: str | None = None) -> Case:
    """Return the case of a seed: always the same one, of a kind if one is given."""
    random = Random(seed)  # noqa: S311 (inputs, no secrets)
    drawn = random.choices(tuple(KINDS), [weight for weight, _ in KINDS.values()])[0]
    chosen = kind or drawn
    made = KINDS[chosen][1](random)
    return Case(chosen, made.arguments, made.call, made.files, seed)


def cases_at_bounds() -> list[Case]:
    """Return each bound of each setting of each scenario, alone, in a run of 300 us.

    Names that differ in a number only (ports, queues, CPUs) are one, the first of them. Each is
    tried on one scenario before the first is tried on a second.
    """
    found = []
    tried: Counter[str] = Counter()
    for scenario in Random(1).sample(scenarios(), len(scenarios())):  # noqa: S311 (no secret)
        alike = {_DIGITS.sub("N", one.name): one for one in reversed(settings_of(scenario))}
        for name, setting in alike.items():
            for value in edges_of(setting):
                settings = SMALL.get(scenario, {}) | {setting.name: value}
                call = {"scenario": scenario, "settings": settings} | _SHORT
                found.append((tried[name], Case("bounds", call=call)))
            tried[name] += 1
    return [case for _, case in sorted(found, key=lambda one: one[0])]


def _settings(random: Random, scenario: str) -> dict[str, str]:
    known = settings_of(scenario)
    count = random.choice((0, 1, 1, 1, 2, 2, 2, 3, 4, 6))
    # What lies near in the alphabet belongs to the same part: two of it meet more often.
    at = random.randrange(len(known))
    near = known[max(0, at - 8) : at + 8]
    drawn = [random.choice(near if random.random() < 0.5 else known) for _ in range(count)]
    return SMALL.get(scenario, {}) | {one.name: odd_value(random, one) for one in drawn}


def _times(random: Random, scenario: str) -> tuple[str, str]:
    warm_up = "0 s" if scenario == "ess-sas" else random.choice(("0 s", "0 s", "0 s", "100 us"))
    return random.choice(_DURATIONS), warm_up


def _tunings(random: Random, scenario: str) -> list[str]:
    names = tunings_of(scenario)
    return random.choices(names, k=random.choice((0, 0, 0, 1, 1, 2))) if names else []


def _api(random: Random) -> Case:
    scenario = random.choice(scenarios())
    duration, warm_up = _times(random, scenario)
    call: dict[str, Any] = {
        "scenario": scenario,
        "settings": _settings(random, scenario),
        "tunings": _tunings(random, scenario),
        "duration": duration,
        "warm_up": warm_up,
        "seed": random.choice((None, None, 0, 1, 2**63 - 1, random.getrandbits(31))),
    }
    if random.random() < 0.05:
        call["per_frame"] = True
    if random.random() < 0.05:
        call["precision"] = random.choice(("1 %", "50 %", "0.1 %"))
    return Case("api", call=call)


def _options(random: Random, scenario: str) -> list[str]:
    duration, warm_up = _times(random, scenario)
    options = ["--duration", duration, "--warm-up", warm_up]
    for name in _tunings(random, scenario):
        options += ["--tuning", name]
    for name, value in _settings(random, scenario).items():
        options += ["--set", f"{name}={value}"]
    return options


def _run(random: Random) -> Case:
    scenario = random.choice(scenarios())
    arguments = ["run", scenario, *_options(random, scenario)]
    if random.random() < 0.5:
        arguments += ["--format", ",".join(random.choices(_FORMATS, k=random.choice((1, 1, 2))))]
    if random.random() < 0.1:
        arguments += [
            "--trace",
            random.choice(("t.json", "t.json.gz", "no/where.json", "/dev/full", ".")),
        ]
    return Case("run", tuple(arguments))


def _show(random: Random) -> Case:
    scenario = random.choice(scenarios())
    as_json = ["--json"] if random.random() < 0.5 else []
    return Case("show", ("show", scenario, *_options(random, scenario), *as_json))


def _sweep(random: Random) -> Case:
    scenario = random.choice(scenarios())
    duration, warm_up = _times(random, scenario)
    arguments = ["sweep", scenario, "--duration", duration, "--warm-up", warm_up, "--jobs", "1"]
    for name, value in SMALL.get(scenario, {}).items():
        arguments += ["--set", f"{name}={value}"]
    known = settings_of(scenario)
    for _ in range(random.choice((0, 1, 1, 2))):
        one = random.choice(known)
        few = [odd_value(random, one) for _ in range(random.choice((1, 2, 3)))]
        # no ranges with a step: thousands of runs are no defect, and only take their time
        grid = random.choice((",".join(few), ";".join(few), f"{few[0]}..{few[-1]}:x2"))
        arguments += ["--over", f"{one.name}={grid}"]
    for name in _tunings(random, scenario):
        arguments += ["--tuning", name]
    if random.random() < 0.4:
        arguments += [
            "--out",
            random.choice(("a.csv", "a.json", "a.png", "no/a.csv", "a", ".csv", "/dev/full")),
        ]
    if random.random() < 0.3:
        arguments += [
            "--best",
            random.choice(("drops", "latency_us_p99", "fun", "interrupts_per_s")),
        ]
    return Case("sweep", (*arguments, "--json") if random.random() < 0.5 else tuple(arguments))


_COMMANDS: Final = (
    "list",
    "show",
    "run",
    "whatif",
    "explain",
    "sweep",
    "capacity",
    "validate",
    "calibrate",
    "conform",
)
_WORDS: Final = (
    "--json", "--help", "--set", "--tuning", "--duration", "--warm-up", "--seed", "--precision",
    "--format", "--capture", "--apply", "--trace", "--over", "--jobs", "--out", "--kernel",
    "--schema", "--best", "--max-loss", "--stage", "--seeds", "--commands", "--replications",
    "--write",
)  # fmt: skip
_VALUES: Final = (
    "", " ", "0", "-1", "1", "1 ms", "10 us", "1e300 s", "1e-300 s", "9" * 5000, "1 parsec",
    "100 %", "x460-out-of-box", "relay", "nodes=1", "=1", "nodes=", "a=b=c", "\x1b[31m", "\n",
    "\u202e", "../..", "/dev/null", "/dev/zero", "/dev/full", ".", "text,json", "scenario",
    "kernel", "linux-6.18", "\udcff", "affinity+affinity", "+", "nan", "inf", "1,2", "2026-11-22",
)  # fmt: skip


def _words(random: Random) -> Case:
    """A command line of words that are right, in an order that need not be."""
    command = random.choice(_COMMANDS)
    arguments = [command]
    scenario = random.choice(scenarios())
    if command in {"run", "show", "sweep", "explain"}:
        arguments += [random.choice((scenario, scenario, random.choice(_VALUES)))]
        duration, warm_up = _times(random, scenario)
        arguments += ["--duration", duration, "--warm-up", warm_up]
        for name, value in SMALL.get(scenario, {}).items():
            arguments += ["--set", f"{name}={value}"]
    if command in {"whatif", "capacity", "validate", "calibrate"}:
        arguments += [random.choice(_VALUES)]  # these take minutes where they are right
    for _ in range(random.choice((1, 1, 2, 3))):
        arguments.append(random.choice(_WORDS))
        if random.random() < 0.7:
            arguments.append(random.choice(_VALUES))
    if random.random() < 0.3:
        arguments.insert(random.randrange(len(arguments)), random.choice(_VALUES))
    return Case("options", tuple(arguments))


def _study(random: Random) -> Case:
    """A question about a scenario, with so few and short runs that each takes a second."""
    scenario = random.choice(scenarios())
    command = random.choice(tuple(_FEW_RUNS))
    options = list(_FEW_RUNS[command])
    if command == "whatif":
        known = [*tunings_of(scenario), *_turned(random, scenario)]
        options += random.choices(known, k=random.choice((1, 1, 2)))
    elif command in {"screen", "recommend"}:
        for turned in _turned(random, scenario):
            options += ["--knobs", turned.partition("=")[0]]
    return Case("study", (command, scenario, *options, *_options(random, scenario)))


def _turned(random: Random, scenario: str) -> list[str]:
    drawn = random.choices(settings_of(scenario), k=random.choice((1, 1, 2)))
    return [f"{one.name}={odd_value(random, one)}" for one in drawn]


def _scenario_file(random: Random) -> Case:
    scenario = random.choice(scenarios())
    files, name = inputs.scenario(random, scenario)
    duration, warm_up = _times(random, scenario)
    options = ["--duration", duration, "--warm-up", warm_up]
    for knob, value in SMALL.get(scenario, {}).items():
        options += ["--set", f"{knob}={value}"]
    return Case("toml", (random.choice(("run", "run", "show")), name, *options), files=files)


def _model_file(random: Random) -> Case:
    files, name = inputs.model(random)
    return Case("model", ("show", name, *random.choice(((), ("--json",)))), files=files)


def _capture(random: Random) -> Case:
    files, name, whose = inputs.listing(random)
    if whose.startswith("sar"):
        # of the configuration that the listing was taken with
        options = ["--set", "nodes=4", "--set", "message=8 KiB", "--capture", name]
        scenario = "x460-out-of-box"
    else:
        scenario = random.choice(("ess-sas", "ess-sas", *scenarios()))
        where = random.choice(("", "", "", "peer:", "server:"))
        options = ["--apply", where + name]
    duration, warm_up = _times(random, scenario)
    times = ("--duration", duration, "--warm-up", warm_up)
    small = (f"--set={knob}={value}" for knob, value in SMALL.get(scenario, {}).items())
    return Case("listing", ("run", scenario, *options, *times, *small), files=files)


def _conform(random: Random) -> Case:
    files, name = inputs.conformance(random)
    as_json = ("--json",) if random.random() < 0.3 else ()
    kernel = random.choice(((), (), ("--kernel", "linux-6.18"), ("--kernel", "aix-7.2-ess")))
    return Case("conform", ("conform", name, *as_json, *kernel), files=files)


def _store(random: Random) -> Case:
    """A sweep whose kept results are spoilt before it is asked again."""
    scenario = random.choice(("x460-out-of-box", "vlan-half-cpu", "ipoib-sunway"))
    values = random.choice(("1,2", "1 KiB,8 KiB"))
    over = f"{'message' if 'KiB' in values else 'seed'}={values}"
    times = ("--duration", "1 ms", "--warm-up", "1 ms")
    damage = [
        [random.choice(DAMAGES), random.random(), random.getrandbits(31)]
        for _ in range(random.choice((1, 1, 2, 3)))
    ]
    arguments = ("sweep", scenario, "--over", over, *times, "--jobs", "1", "--json")
    return Case("store", arguments, files={DAMAGE_FILE: json.dumps(damage)})


KINDS: Final[dict[str, tuple[int, Callable[[Random], Case]]]] = {
    "api": (40, _api),
    "run": (12, _run),
    "show": (8, _show),
    "study": (12, _study),
    "sweep": (4, _sweep),
    "options": (8, _words),
    "toml": (9, _scenario_file),
    "model": (3, _model_file),
    "listing": (8, _capture),
    "conform": (8, _conform),
    "store": (3, _store),
}
"""Every kind with its share."""
