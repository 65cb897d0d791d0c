"""Progress shows on a terminal and nowhere else."""

from __future__ import annotations

import io

from rich.console import Console

from simnet.report.progress import progress


def shown(*, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100)
    with progress("simulating", console) as advance:
        advance(0, 3)
        advance(2, 3)
    return stream.getvalue()


def test_a_terminal_shows_how_many_simulations_are_done() -> None:
    assert "simulating" in shown(terminal=True)
    assert "2/3" in shown(terminal=True)


def test_a_pipe_stays_silent() -> None:
    assert shown(terminal=False) == ""
