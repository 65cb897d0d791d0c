"""Every command answers, or refuses in a line, whatever kind of system a scenario is of."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import simnet as api
from simnet import _share
from simnet.cli import commands as every_command
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import scenario_names
from simnet.study.compare.metrics import predicted
from tests.cli.conftest import Outcome, Simnet

# what is no part of its own: every scenario has them
_EVERYWHERE = {"host", "balancer", "provenance", "applied", "remarks", "run", "workload", "switch"}
# these ask no scenario, or serve a page until they are interrupted
_OF_NONE = {"conform", "diagnose", "import", "list", "page", "validate"}


@dataclass(frozen=True)
class Kind:
    """A scenario, what can be turned there, and how short a run still tells something.

    Attributes:
        turned: a knob with another value, or a tuning.
        times: measured, and before.
        refused: by command, what the line says where there is no answer.
        loads: between which its capacity is looked for.
    """

    turned: str = "net.core.netdev_budget=600"
    times: tuple[str, str] = ("2 ms", "1 ms")
    refused: dict[str, str] = field(default_factory=dict)
    loads: str = "300000..310000"


_NO_RATE = {"capacity": "no open-loop load"}
KINDS = {
    "busy-web": Kind("backlog-4096", ("100 ms", "100 ms"), loads="1000..1200"),
    "container-udp": Kind("host-network", ("10 ms", "5 ms"), loads="8000..9000"),
    "dns-udp": Kind("sockets-by-cpu", ("5 ms", "5 ms"), loads="400..500"),
    "ess-sas": Kind(
        "default-max-mbps",
        ("100 ms", "0 s"),
        {
            **_NO_RATE,
            "screen": "its jobs run to their end",
            "recommend": "its jobs run to their end",
            "calibrate": "nothing that was measured depends on an uncertain cost",
        },
    ),
    "home-router": Kind("rps-bridge", ("10 ms", "10 ms"), _NO_RATE),
    "ipoib-sunway": Kind("delack-1ms", ("20 ms", "20 ms"), _NO_RATE),
    "k8s-node": Kind("proxy-nftables", ("10 ms", "5 ms"), loads="200..250"),
    "media-udp": Kind("rmem-25m", ("20 ms", "10 ms"), loads="5000..6000"),
    "memcached-100g": Kind("defer10", refused=_NO_RATE),
    "netperf-rr": Kind("poll-50us", ("20 ms", "5 ms"), _NO_RATE),
    "nvme-local": Kind("short-queue", refused=_NO_RATE),
    "nvme-980pro": Kind("scheduler-kyber", ("5 ms", "2 ms"), refused=_NO_RATE),
    "relay-untuned": Kind("affinity"),
    "router-connectx5": Kind("drop-raw"),
    "router-nat": Kind("software-offload"),
    "stream-100g": Kind("jumbo", ("10 ms", "10 ms"), _NO_RATE),
    "vlan-half-cpu": Kind("mtu-9000", ("60 ms", "0 s"), _NO_RATE),
    "vm-outside": Kind(times=("10 ms", "10 ms"), refused=_NO_RATE),
    "vscsi-parallel": Kind("client-noop", ("1 s", "5 s"), _NO_RATE),
    "wan-transfer": Kind("send-buffer", ("200 ms", "600 ms"), _NO_RATE),
    "web-25g": Kind("fixed-50us", refused=_NO_RATE),
    "x460-bonding": Kind("affinity", refused=_NO_RATE),
    "xdp-connectx5": Kind("six-streams"),
    "xdp-firewall": Kind("throughput-profile"),
}

# what simulates many runs, or prints runs that other commands print for every kind, too
_NIGHTLY = frozenset(
    {"calibrate", "capacity", "compare", "recommend", "report", "screen", "sweep", "whatif"}
)
_QUICK = frozenset({"media-udp", "nvme-local"})


class Asked:
    """A scenario as a host of one's own, and what commands print of it."""

    def __init__(self, simnet: Simnet, folder: Path, name: str) -> None:
        self.simnet, self.folder, self.name = simnet, folder, name
        self.kind = KINDS[name]
        duration, warm_up = self.kind.times
        self.times = ("--duration", duration, "--warm-up", warm_up)
        self.knob = self.kind.turned.partition("=")[0]
        text = (_share.folder("scenarios") / f"{name}.toml").read_text("utf-8")
        (folder / "scenario.toml").write_text(text, "utf-8")

    def asked(self, *words: str) -> Outcome:
        outcome = self.simnet(*words)
        if outcome.status == 0 and "--json" in words:
            (self.folder / f"{words[0]}.json").write_text(outcome.out, "utf-8")
        return outcome

    def run(self) -> Outcome:
        return self.asked("run", self.name, *self.times, "--json")

    def show(self) -> Outcome:
        return self.asked("show", self.name)

    def explain(self) -> Outcome:
        return self.asked("explain", self.name, *self.times)

    def whatif(self) -> Outcome:
        few = ("--seeds", "2", "--members", "2", "--jobs", "1")
        return self.asked("whatif", self.name, self.kind.turned, *self.times, *few)

    def screen(self) -> Outcome:
        few = ("--knobs", self.knob, "--paths", "2", "--jobs", "1")
        return self.asked("screen", self.name, *self.times, *few)

    def recommend(self) -> Outcome:
        few = ("--knobs", self.knob, "--runs", "2", "--jobs", "1")
        return self.asked("recommend", self.name, *self.times, *few)

    def sweep(self) -> Outcome:
        return self.asked("sweep", self.name, *self.times, "--over", "seed=1,2", "--jobs", "1")

    def capacity(self) -> Outcome:
        near = ("--max-loss", "50 %", "--between", self.kind.loads, "--precision", "50 %")
        return self.asked("capacity", self.name, *self.times, *near, "--jobs", "1")

    def report(self) -> Outcome:
        self.run()
        return self.asked(
            "report", str(self.folder / "run.json"), "--out", str(self.folder / "r.html")
        )

    def compare(self) -> Outcome:
        self.run()
        self._measure(self.folder / "measured.toml")
        files = [str(self.folder / name) for name in ("run.json", "measured.toml")]
        return self.asked("compare", *files, "--members", "2", "--jobs", "1")

    def calibrate(self) -> Outcome:
        """The plan of what to measure, and what was measured."""
        few = (str(self.folder), "--members", "8", *self.times, "--jobs", "1")
        planned = self.asked("calibrate", *few, "--plan")
        if planned.status:
            return planned
        (self.folder / "measured").mkdir()
        self._measure(self.folder / "measured" / "all.toml")
        return self.asked("calibrate", *few)

    def _measure(self, path: Path) -> None:
        """Write all that could be measured, somewhat off."""
        duration, warm_up = self.kind.times
        numbers = predicted(api.run(self.name, duration=duration, warm_up=warm_up))
        path.write_text(
            "".join(f"{json.dumps(n)} = {0.9 * v}\n" for n, v in numbers.items()), "utf-8"
        )


COMMANDS = sorted(name for name in vars(Asked) if not name.startswith("_") and name != "asked")


def _cases() -> Iterator[ParameterSet]:
    """Each command on each kind; many only every night, but for two quick kinds."""
    for name, kind in KINDS.items():
        for command in COMMANDS:
            quick = name in _QUICK and command != "calibrate"
            asked = quick or command in kind.refused
            long = command in _NIGHTLY and not asked
            yield pytest.param(name, command, marks=[pytest.mark.nightly] if long else [])


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("name", "command"), list(_cases()))
def test_a_command_of_a_kind_of_scenario(
    simnet: Simnet, tmp_path: Path, name: str, command: str
) -> None:
    outcome = getattr(Asked(simnet, tmp_path, name), command)()
    refusal = KINDS[name].refused.get(command)
    if refusal is None:
        assert outcome.status in {0, 1, 3}, outcome.err
        return
    assert (outcome.status, outcome.out) == (2, "")
    assert re.fullmatch(f"simnet: [^\n]*{refusal}[^\n]*\n", outcome.err)


def test_every_command_of_a_scenario_is_among_them() -> None:
    there = {path.stem.rstrip("_") for path in Path(*every_command.__path__).glob("[a-z]*.py")}
    assert there - _OF_NONE == set(COMMANDS)


@pytest.mark.slow
def test_every_kind_of_scenario_is_among_them() -> None:
    kinds = {name: _kind_of(name) for name in scenario_names()}
    assert set(kinds.values()) == {kinds[name] for name in KINDS}


def _kind_of(name: str) -> tuple[bool, bool, frozenset[str]]:
    """Whether it has requests, whether it has a bond, and the parts that not every one has."""
    effective = load(name)
    parts = {
        key for key, value in effective.model_dump().items() if value and key not in _EVERYWHERE
    }
    bonded = effective.host.bonding is not None
    return effective.workload.test == "tcp_rr", bonded, frozenset(parts)
