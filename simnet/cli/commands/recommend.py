"""``simnet recommend``: what to change for a goal, within limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simnet.cli.completion import scenarios, turned
from simnet.cli.options import WholeNumber, settings_of
from simnet.cli.searched import search_options, show

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["recommend_command"]


@click.command("recommend")
@click.argument("scenario", shell_complete=scenarios)
@click.option(
    "--goal",
    type=click.Choice(["throughput", "p99", "cpu"]),
    help="More throughput (the default), a lower p99 latency, or less CPU time per byte.",
)
@click.option(
    "--limit",
    metavar="METRIC<=VALUE",
    multiple=True,
    help="What must hold, as latency_p99<=2ms, loss<=0.1% or cpu_per_byte<=+10%: a sign makes it"
    " a change. May be repeated.",
)
@click.option(
    "--max-p99",
    metavar="TIME",
    help="The largest p99 latency, of requests the round trip; twice as long as it is by default.",
)
@click.option(
    "--knobs",
    metavar="NAME",
    shell_complete=turned,
    multiple=True,
    help="A tuning or a knob that may change, several times for several; all by default.",
)
@click.option("--runs", type=WholeNumber(1, 10_000), help="Lists of changes to try; 90 by default.")
@search_options("all that was tried")
@click.pass_context
def recommend_command(
    context: click.Context,
    /,
    scenario: str,
    assignments: tuple[str, ...],
    *,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Search the tunings and knobs of SCENARIO for the shortest list with most of the gain.

    What is found is judged as whatif does, with fresh seeds. By default p99 latency may at most
    double, loss rise by 1 percentage point, Jain's index of the flows' rates fall by 10 %, and
    throughput fall by 1 % where it is not the goal.

    The exit status is 0 when something is recommended, 1 when nothing is, and 3 when the intervals
    are too wide to tell.
    """
    from simnet.study.work.workers import expected

    expected(options["jobs"])
    from simnet.report.progress import progress
    from simnet.report.search.recommend import recommendation
    from simnet.study.recommend.recommend import recommend

    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = recommend(scenario, settings=settings_of(assignments), progress=callback, **given)
    show(found, recommendation(found), out=out, as_json=as_json)
    context.exit(found.exit_status)
