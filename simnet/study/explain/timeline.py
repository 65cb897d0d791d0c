"""What a run does over time: payload, CPU time and the longest queues, in equal steps.

What is simulated stays the same: the simulation stops at the end of each step, as it does for other
looks, and queues tell how long they are by what a timeline of `simnet run --trace` is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.system.system import System

_STEPS: Final = 75
_BITS: Final = 8


@dataclass(frozen=True)
class Timeline:
    """A value for each step."""

    step_s: float  # how long a step is
    bits_per_s: tuple[float, ...]  # payload that applications got
    cpus: tuple[float, ...]  # that were busy
    queues: Mapping[str, tuple[int, ...]]  # by what they hold, the most that was in one of them


class Recorder:
    """Runs a system and notes what it does.

    Args:
        system: what is run.
        duration_ps: how long in all.
    """

    def __init__(self, system: System, duration_ps: int) -> None:
        self._system = system
        self._sim = system.env.sim
        self._begin = self._sim.now
        self._step_ps = max(duration_ps // _STEPS, 1)
        self._read = [system.progress()]
        self._depths: dict[str, dict[str, int]] = {}
        self._longest: dict[str, list[int]] = {}
        self._sim.tracer = self

    def run(self, duration_ps: int) -> None:
        """Simulate so much more."""
        end = self._sim.now + duration_ps
        while (edge := self._begin + len(self._read) * self._step_ps) <= end:
            self._system.run(edge - self._sim.now)
            if self._sim.now < edge:  # its work has ended
                return
            self._read.append(self._system.progress())
            for kind, depths in self._depths.items():
                # what is in a queue at the end of a step is in it at the beginning of the next
                self._longest[kind].append(max(depths.values()))
        if self._sim.now < end:
            self._system.run(end - self._sim.now)

    def span(
        self, track: str, name: str, start_ps: int, end_ps: int, group: str | None = None
    ) -> None:
        """What a CPU did is counted as a whole."""

    def instant(self, track: str, name: str, time_ps: int) -> None:
        """What happens at an instant is not counted."""

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:
        """A queue has become longer or shorter."""
        depths = self._depths.setdefault(name, {})
        longest = self._longest.setdefault(name, [0] * len(self._read))
        del time_ps
        depths[track] = value
        longest[-1] = max(longest[-1], value)

    def timeline(self) -> Timeline:
        """What was noted until now."""
        steps = len(self._read) - 1
        step_s = self._step_ps / PS_PER_S
        pairs = list(pairwise(self._read))
        return Timeline(
            step_s,
            tuple(_BITS * (b - a) / step_s for (a, _), (b, _) in pairs),
            tuple((b - a) / self._step_ps for (_, a), (_, b) in pairs),
            {name: tuple(longest[:steps]) for name, longest in self._longest.items()},
        )
