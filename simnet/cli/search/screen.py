"""``simnet screen``: which knobs matter in a scenario."""

from __future__ import annotations

from typing import Any, Final

import click

from simnet.cli.completion import scenarios
from simnet.cli.options import scenario_options, settings_of
from simnet.cli.output import answer, message, out_path
from simnet.files import write_figure

__all__ = ["screen_command"]

_SUFFIXES: Final = (".png", ".svg", ".pdf")


@click.command("screen")
@click.argument("scenario", shell_complete=scenarios)
@click.option(
    "--knobs",
    metavar="NAME",
    multiple=True,
    help="A tuning or a knob to turn, several times for several; all by default.",
)
@click.option(
    "--metric",
    type=click.Choice(["throughput", "cpu_per_byte", "latency_p99"]),
    help="What they are ranked by; throughput by default.",
)
@click.option(
    "--paths", type=click.IntRange(2, 1000), help="How often each is turned; 4 by default."
)
@scenario_options
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes; one a CPU by default.")
@click.option("--out", metavar="FILE", help="Draw what matters as a tornado (.png, .svg, .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def screen_command(
    scenario: str,
    assignments: tuple[str, ...],
    *,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Turn every tuning and knob of SCENARIO, and say which change its results, and how much.

    Each is turned several times, with other values of the others each time (Morris' method).
    """
    drawing = None if out is None else out_path(out, _SUFFIXES)
    from simnet.report.progress import progress
    from simnet.report.search.screen import screen as text
    from simnet.study.screen.screen import screen

    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = screen(scenario, settings=settings_of(assignments), progress=callback, **given)
    for remark in found.remarks:
        message(remark)
    if drawing is not None:
        write_figure(drawing, found.plot())
    answer(found.to_json() if as_json else text(found), nl=as_json)
