"""What a simulation reports to a drawing of its time line.

A simulator's `tracer` is None unless a trace is written, and components ask for that first, so
that tracing costs nothing when it is off.
"""

from __future__ import annotations

from typing import Protocol


class Tracer(Protocol):
    """Receiver of what happens on named tracks (a CPU, a ring, ...). Times are in ps."""

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        """Take note that `name` went on from `start_ps` to `end_ps`."""

    def instant(self, track: str, name: str, time_ps: int) -> None:
        """Take note that `name` happened at `time_ps`."""

    def counter(self, track: str, name: str, time_ps: int, value: int) -> None:
        """Take note that the quantity `name` is `value` from `time_ps` on."""
