"""The runs behind a capacity: what sets the load, how long a run is, what is kept of it.

At the limit a run shall see 100 events of the kind that is limited, so that their number is known
to a tenth. With a loss of 0.1 % that is 100,000 packets, with a p99 10,000 messages. How many a
second there are is seen in one run at the first load, and is taken to grow with the load.

Messages are late together: as long as a queue is too long, which takes about as long to pass as
the limit of p99 itself, or longer. So a run also lasts at least 500 times that limit. The
scenario's duration is the least. Runs that only show what is far from its limits last an eighth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from simnet.errors import InputError
from simnet.printable import few
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import present
from simnet.scenario.core.specs import Quantity
from simnet.scenario.core.subject import setup_of
from simnet.scenario.core.units import UnitError
from simnet.study.capacity.search import Judged, Plan, Run, roundest
from simnet.study.capacity.verdict import LATE_SHARE, Limits, Sample
from simnet.study.run.loss import Messages
from simnet.study.run.result import Result
from simnet.study.work.cases import Case, Member, Progress, simulate_each
from simnet.study.work.store import Store
from simnet.time_units import PS_PER_S

_EVENTS: Final = 100
_FEWEST_EVENTS: Final = 10
_LIMITS: Final = 500
_US_PER_S: Final = 10**6
_LONGEST_S: Final = 10_000
# a short run: of what is far from its limits ten events say enough
_SHORTER: Final = 8
_NEARLY: Final = 0.95


@dataclass(frozen=True)
class Setting:
    """The setting that is the load, and its value in the scenario; loads are in base units.

    A value of 0 stands for as much as a link carries, or for another setting that says how much.
    """

    name: str
    spec: Quantity
    value: int

    @classmethod
    def find(
        cls,
        scenario: str | Path,
        name: str,
        settings: dict[str, str],
        tunings: Sequence[str],
        apply: Sequence[str],
        *,
        least: int,
    ) -> Setting:
        """Look it up; a value of it among the settings is where the search begins."""
        spec, value = present(
            scenario, name, settings=settings, tunings=tunings, apply=apply, option="--load"
        )
        if not isinstance(spec, Quantity) or spec.length or not isinstance(value, int):
            raise InputError("expected a setting that is one number", file="--load", key=name)
        if value < least:
            raise closed(scenario, f"{name} is {spec.text(value)}")
        settings.pop(name, None)
        return cls(name, spec, value)

    def range(self, between: str | None) -> tuple[int, int]:
        """Smallest and largest load that is tried."""
        low, high = self.spec.bounds
        if between is None:
            return max(low, 1), high
        first, dots, last = between.partition("..")
        if not dots:
            raise InputError("expected LOWEST..HIGHEST", file="--between", key=between)
        try:
            ends = self.spec.parse(first.strip()), self.spec.parse(last.strip())
        except UnitError as error:
            raise InputError(str(error), file="--between", key=between) from error
        smallest, largest = int(str(ends[0])), int(str(ends[1]))
        if not 1 <= smallest < largest:
            message = "expected loads above 0, the smaller one first"
            raise InputError(message, file="--between", key=between)
        return smallest, largest

    def case(self, base: Case, load: int) -> Case:
        """The scenario with a load."""
        return replace(base, settings=(*base.settings, (self.name, self.spec.text(load))))


class Runner:
    """Simulates loads, and keeps what is shown of them."""

    def __init__(
        self,
        setting: Setting,
        runs: Member,
        limits: Limits,
        *,
        jobs: int | None,
        scheduler: str | None,
        progress: Progress | None,
        store: Store | None,
    ) -> None:
        self.runs = runs
        self.remarks: list[str] = []
        self.results: dict[Run, Measured] = {}
        self.done = 0
        self._setting = setting
        self._how = {"jobs": jobs, "scheduler": scheduler, "store": store}
        self._progress = progress
        self._limits = limits
        self._least_s = _LIMITS * (limits.p99_us or 0.0) / _US_PER_S
        self._events_per_load_s = 0.0
        self._scenario_s = runs.effective().run.duration_ps / PS_PER_S

    def carried(self) -> int:
        """What arrives a second of a load that is as much as a link carries."""
        _, result = next(iter(self._simulated([self.runs], "what is carried").items()))
        carried = result.messages.delivered_per_s
        return roundest(_NEARLY * carried, carried) or math.ceil(carried)

    def lengthen(self, plan: Plan) -> None:
        """Find by one run how long the others have to be."""
        member = replace(self.runs, case=self._setting.case(self.runs.case, plan.start))
        _, result = next(iter(self._simulated([member], "how long runs have to be").items()))
        messages = result.messages
        if not messages.offered or not result.packets:
            message = f"nothing was offered in {self._scenario_s:g} s: {self._setting.name} too low"
            raise InputError(message, key="--duration" if self.runs.duration else "--load")
        rates = []
        if self._limits.loss is not None:
            rates.append(self._limits.loss * result.packets / result.simulated_s)
        if self._limits.p99_us is not None:
            rates.append(LATE_SHARE * messages.offered_per_s)
        self._events_per_load_s = min(rates) / plan.start
        if self.runs.duration is None:
            needed_s = self.needed_s(plan.start)
            if needed_s > _LONGEST_S:
                message = f"runs of {needed_s:,.0f} s would be needed at {plan.start}"
                raise InputError(f"{message}; --duration says how long", key="--max-loss")
        elif self._events_per_load_s * plan.start * self._scenario_s < _FEWEST_EVENTS:
            self.remarks.append(
                f"runs of {self._scenario_s:g} s see fewer than {_FEWEST_EVENTS} losses or late"
                f" messages at the limit: {self.needed_s(plan.start):.2g} s would see {_EVENTS}"
            )

    def needed_s(self, load: int) -> float:
        """How long a run is that sees enough at the limit."""
        return max(_EVENTS / (self._events_per_load_s * load), self._least_s)

    def measure(self, runs: Sequence[Run]) -> Mapping[Run, Sample]:
        """The samples of replications of loads."""
        asked = {run: self._as_simulated(run) for run in runs}
        members = {one: self._member(one) for one in asked.values() if one not in self.results}
        loads = few([f"{load:,}" for load in dict.fromkeys(run.load for run in runs)])
        found = self._simulated(list(members.values()), f"{self._setting.name} {loads}")
        self.results |= {run: found[member] for run, member in members.items()}
        return {run: self.results[one].sample for run, one in asked.items()}

    def replications(self, judged: Judged) -> list[Measured]:
        """What a load was judged by."""
        runs = (Run(judged.load, number, judged.short) for number in range(judged.runs))
        return [self.results[self._as_simulated(run)] for run in runs]

    def _as_simulated(self, run: Run) -> Run:
        """Short runs are as long as the others where it was said how long runs are."""
        return run if self.runs.duration is None else run._replace(short=False)

    def _member(self, run: Run) -> Member:
        case = self._setting.case(self.runs.case, run.load)
        member = replace(self.runs, case=case, seed=(self.runs.seed or 0) + run.number)
        if self.runs.duration is not None:
            return member
        needed_s = max(self.needed_s(run.load), self._scenario_s)
        if run.short:
            return replace(member, duration=f"{math.ceil(1000 * needed_s / _SHORTER)} ms")
        if needed_s > self._scenario_s:
            return replace(member, duration=f"{math.ceil(1000 * needed_s)} ms")
        return member

    def _simulated(self, members: Sequence[Member], phase: str) -> dict[Member, Measured]:
        """Simulate, keeping of each result what is shown."""

        def report(done: int, total: int) -> None:
            if self._progress:
                self._progress(self.done + done, self.done + total, phase)

        results = simulate_each(members, progress=report, lean=True, **self._how)  # type: ignore[arg-type]
        late_us = self._limits.p99_us
        found = {member: Measured.of(result, late_us) for member, result in results}
        self.done += len(found)
        return found


@dataclass(frozen=True)
class Measured:
    """What is kept of a result."""

    fingerprint: str
    simulated_s: float
    packets: int
    dropped: int
    late: int
    messages: Messages
    rates: Mapping[str, float]
    ports: Mapping[str, Mapping[str, float]]
    drops: Mapping[str, int]
    scenario: str
    tunings: tuple[str, ...]
    doubt: str

    @classmethod
    def of(cls, result: Result, late_us: float | None) -> Measured:
        """Raises InputError for a scenario whose load waits for answers."""
        if result.messages is None:
            test = result.configuration.get("workload", {}).get("type", "its workload")
            raise waits(result.scenario, test)
        arrived = sum(port.rx_packets_per_s for port in result.ports) * result.simulated_s
        rings = sum(port.drops for port in result.ports)
        names = ("rx_bps", "tx_bps", "rx_packets_per_s", "tx_packets_per_s")
        return cls(
            fingerprint=result.fingerprint,
            simulated_s=result.simulated_s,
            packets=round(arrived) + rings,
            dropped=sum(drop.packets for drop in result.drops),
            late=0 if late_us is None else result.messages.later_than(late_us),
            messages=result.messages,
            rates={
                "goodput_bps": result.throughput_bps,
                "cpu_busy_percent": result.cpu_busy_percent,
            },
            ports={p.name: {name: getattr(p, name) for name in names} for p in result.ports},
            drops={f"{drop.place} {drop.at}": drop.packets for drop in result.drops},
            scenario=result.scenario,
            tunings=result.tunings,
            doubt="" if result.conclusive else result.warnings[0],
        )

    @property
    def sample(self) -> Sample:
        """What the verdict is of."""
        found = self.messages
        return Sample(
            packets=self.packets,
            dropped=self.dropped,
            offered=found.offered,
            delivered=found.delivered,
            late=self.late,
            p99_us=self.messages.latency_us.p99 or 0.0,
        )


def rate_of(effective: Effective) -> str:
    """The setting that a load announces as its rate; empty where senders wait."""
    test = effective.workload.test
    found = setup_of(test, lambda part: getattr(effective, part) is not None)
    return found.rate if found else ""


def waits(scenario: str | Path, test: str) -> InputError:
    """The error for a scenario whose senders wait."""
    return closed(scenario, f"{test} sends as fast as it is answered")


def closed(scenario: str | Path, why: str) -> InputError:
    """The error for a scenario whose load is not open-loop."""
    message = f"no open-loop load, whose rate does not wait for answers: {why}"
    return InputError(message, key=Path(scenario).stem)
