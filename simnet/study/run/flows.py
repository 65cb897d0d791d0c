"""Arrows in a timeline: flow events that lead from slice to slice, each on a slice that is there.

A CPU's slice is written when it ends, mostly after what happened in it. So a step on a CPU takes
the slice that was written last, or waits for one: the first with the right name and the step's time
in it, begin and end included. An arrow is written when all its steps have theirs. One that lacks a
step is not written: every start has an end.

Source: "Trace Event Format", Google, flow events (`s`, `t`, `f`, binding point `e`: the slice
around the event's time).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.run.trace import TraceFile

_GROUP: Final = "packets"
_INSIDE_PS: Final = 1000  # viewers count in ns, and the end of a slice is not in it


@dataclass(eq=False)
class Step:
    """Where an arrow begins, ends or passes."""

    track: str  # of its slice
    time_ps: int  # at which it is there; within the slice once that is known
    names: tuple[str, ...] = ()  # how the slice's name may begin
    # name and end of a slice that is written with the arrow; None for a CPU's
    own: tuple[str, int] | None = None
    bound: bool | None = None  # whether its slice is known; None while it may come

    def bind(self, name: str, start_ps: int, end_ps: int) -> None:
        """See whether a slice of the track is the one."""
        if start_ps <= self.time_ps <= end_ps and name.startswith(self.names):
            self.bound = True
            self.time_ps = max(start_ps, min(self.time_ps, end_ps - _INSIDE_PS))
        elif start_ps > self.time_ps:
            self.bound = False


class FlowTracer:
    """A tracer that passes all to a file, and knows the slices around times.

    Args:
        trace: the file.
    """

    def __init__(self, trace: TraceFile) -> None:
        self.trace = trace
        self.flows = 0
        self.instant = trace.instant
        self.counter = trace.counter
        self._last: dict[str, tuple[str, int, int]] = {}
        self._waiting: dict[str, list[Step]] = {}
        self._flows: list[tuple[str, Sequence[Step]]] = []

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        """Write a slice, and bind what waits for it."""
        self.trace.span(track, name, start_ps, end_ps)
        self._last[track] = name, start_ps, end_ps
        waiting = self._waiting.get(track)
        if waiting:
            for step in waiting:
                step.bind(name, start_ps, end_ps)
            self._waiting[track] = [step for step in waiting if step.bound is None]
            self._write()

    def step_on(self, cpu: str, time_ps: int, names: tuple[str, ...]) -> Step:
        """Return a step on a CPU's slice that goes on, or ends now."""
        step = Step(cpu, time_ps, names)
        step.bind(*self._last.get(cpu, ("", 0, 0)))
        if step.bound is None:
            self._waiting.setdefault(cpu, []).append(step)
        return step

    def own_step(self, track: str, name: str, start_ps: int, end_ps: int) -> Step:
        """Return a step with a slice of its own."""
        return Step(track, start_ps, own=(name, end_ps), bound=True)

    def flow(self, name: str, steps: Sequence[Step]) -> None:
        """Draw an arrow along steps, in the order of their times, when all have slices."""
        self._flows.append((name, steps))
        self._write()

    def _write(self) -> None:
        kept = []
        for name, steps in self._flows:
            if all(step.bound for step in steps):
                self._draw(name, steps)
            elif all(step.bound is not False for step in steps):
                kept.append((name, steps))
        self._flows = kept

    def _draw(self, name: str, steps: Sequence[Step]) -> None:
        self.flows += 1
        phases = ["s", *["t"] * (len(steps) - 2), "f"]
        for phase, step in zip(phases, steps, strict=True):
            group = None if step.own is None else _GROUP
            if step.own is not None:
                self.trace.span(step.track, step.own[0], step.time_ps, step.own[1], group)
            self.trace.flow(step.track, name, step.time_ps, (phase, self.flows), group)
