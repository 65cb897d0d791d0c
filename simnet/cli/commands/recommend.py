"""``simnet recommend``: what to change for a goal, within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simnet.cli.completion import turned
from simnet.cli.machines import machine_options, write_machines
from simnet.cli.options import WholeNumber, case_to_simulate, scenario_argument, settings_of
from simnet.cli.output import card_option, write_card
from simnet.cli.searched import search_options, show


@click.command("recommend")
@scenario_argument
@click.option(
    "--goal",
    type=click.Choice(["throughput", "p99", "cpu"]),
    help="More throughput, a lower p99 latency, or less CPU time per byte; by default what counts"
    " first for the load.",
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
@click.option("--commands", is_flag=True, help="Show also what keeps the changes over a reboot.")
@card_option
@machine_options
@search_options("all that was tried")
@click.pass_context
def recommend_command(
    context: click.Context,
    /,
    scenario: str,
    assignments: tuple[str, ...],
    *,
    card: Path | None,
    commands: bool,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Search the tunings and knobs of SCENARIO for the shortest list with most of the gain.

    What is found is judged as whatif does, with fresh seeds. By default loss may rise
    by 1 percentage point and Jain's index of flows of one kind at one port fall by 10 %; throughput
    may fall by 1 % (of requests that wait for answers by 5 %), and p99 latency at most double where
    it counts for the load.

    The exit status is 0 when something is recommended, 1 when nothing is, and 3 when the intervals
    are too wide to tell.
    """
    base = case_to_simulate(scenario, assignments, **options)
    from simnet.report.progress import progress
    from simnet.report.search.recommend import recommendation
    from simnet.study.recommend.recommend import recommend

    ansible, tuned = options.pop("ansible"), options.pop("tuned")
    given = {name: value for name, value in options.items() if value is not None}
    with progress("recommend:") as callback:
        found = recommend(scenario, settings=settings_of(assignments), progress=callback, **given)
    if card is not None:
        from simnet.report.card.card import recommended

        write_card(card, recommended(found, base))
    write_machines(found.confirmed, ansible, tuned)
    show(found, recommendation(found, every=commands), out=out, as_json=as_json)
    context.exit(found.exit_status)
