"""``simnet capacity``: the largest load within limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simnet.cli.options import (
    WholeNumber,
    apply_option,
    case_to_simulate,
    duration_option,
    jobs_option,
    json_option,
    scenario_argument,
    scheduler_option,
    set_option,
    settings_of,
    tuning_option,
    warm_up_option,
)
from simnet.cli.output import out_option, print_result, write_out


@click.command("capacity")
@scenario_argument
@click.option("--max-loss", metavar="SHARE", help='Largest share of packets lost, as in "0.1 %".')
@click.option(
    "--max-p99",
    metavar="TIME",
    help='Latency that 99 of 100 messages meet, as in "5 ms"; of requests the round trip.',
)
@click.option(
    "--load",
    metavar="NAME",
    help="Setting that is the load, as in relay.rate; by default the rate at which it comes.",
)
@click.option(
    "--between",
    metavar="A..B",
    help="Loads to try; all legal ones by default. The search begins with the scenario's.",
)
@click.option("--precision", metavar="RATIO", help="Relative width of the answer; 5 % by default.")
@tuning_option
@apply_option
@set_option
@click.option("--seed", type=WholeNumber(0), help="First seed; all loads have the same ones.")
@duration_option("Simulated time of a run; what the limits need by default.")
@warm_up_option
@jobs_option
@scheduler_option
@out_option("the limited quantities over the load")
@json_option()
@click.pass_context
def capacity_command(
    context: click.Context,
    /,
    scenario: str,
    assignments: tuple[str, ...],
    *,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the largest load of SCENARIO that meets limits on loss and latency.

    The answer is an interval. What an interrupt leaves, the same command goes on with.

    The exit status is 0 when it is found, 1 when no load meets the limits, and 3 when the runs
    cannot determine it as precisely as was asked for.
    """
    case_to_simulate(scenario, assignments, **options)
    from simnet.report.capacity import capacity as text
    from simnet.report.capacity import judged
    from simnet.report.progress import progress, said, terminal
    from simnet.study.capacity.capacity import capacity

    given = {name: value for name, value in options.items() if value is not None}
    console = terminal()
    say = said(console)
    with progress("simulating", console) as callback:
        found = capacity(
            scenario,
            settings=settings_of(assignments),
            progress=callback,
            on_judged=None if say is None else lambda one: say(judged(one)),
            **given,
        )
    write_out(out, found.to_json, found.plot)
    print_result(text(found), found.to_json, as_json=as_json)
    context.exit(found.exit_status)
