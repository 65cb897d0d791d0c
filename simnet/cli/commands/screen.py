"""``simnet screen``: which knobs matter in a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simnet.cli.completion import turned
from simnet.cli.options import WholeNumber, case_to_simulate, scenario_argument, settings_of
from simnet.cli.searched import search_options, show


@click.command("screen")
@scenario_argument
@click.option(
    "--knobs",
    metavar="NAME",
    shell_complete=turned,
    multiple=True,
    help="A tuning or a knob to turn, several times for several; all by default.",
)
@click.option(
    "--metric",
    type=click.Choice(["throughput", "cpu_per_byte", "latency_p99"]),
    help="What they are ranked by; throughput by default.",
)
@click.option(
    "--paths", type=WholeNumber(2, 1000), help="How often each is turned at most; 3 by default."
)
@click.option(
    "--sobol",
    metavar="POINTS",
    type=WholeNumber(0, 4096),
    help="Points of a sample that tells which share of the variance what matters accounts for, a"
    " power of two; none by default.",
)
@search_options("what matters as a tornado")
def screen_command(
    scenario: str,
    assignments: tuple[str, ...],
    *,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Turn every tuning and knob of SCENARIO, and say which change its results, and how much.

    Each is turned several times, with other values of the others each time (Morris' method). With
    --sobol, up to five of those that matter are then varied together (Sobol's indices).
    """
    case_to_simulate(scenario, assignments, **options)
    from simnet.report.progress import progress
    from simnet.report.search.screen import screen as text
    from simnet.study.screen.screen import screen

    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = screen(scenario, settings=settings_of(assignments), progress=callback, **given)
    show(found, text(found), out=out, as_json=as_json)
