"""``simnet page``: a local page with sliders for the knobs of a scenario."""

from __future__ import annotations

import sys

import click

from simnet.cli.completion import scenarios
from simnet.cli.options import (
    WholeNumber,
    apply_option,
    case_to_simulate,
    set_option,
    tuning_option,
)
from simnet.cli.output import answer, message


@click.command("page")
@click.argument("scenario", required=False, shell_complete=scenarios)
@tuning_option
@apply_option
@set_option
@click.option("--port", type=WholeNumber(0, 65535), default=0, help="To listen on; any if 0.")
def page_command(
    scenario: str | None,
    tunings: tuple[str, ...],
    apply: tuple[str, ...],
    assignments: tuple[str, ...],
    port: int,
) -> None:
    """Show SCENARIO on a local page with a slider or selector for each knob.

    Without SCENARIO the page diagnoses what is pasted into it, or this machine, and makes a host
    with knobs of it; from there one goes to each scenario, too.

    A change is answered at once from a short run, and then better and better: verdict, intervals
    and commands as `whatif` gives them. The page is on 127.0.0.1, behind a token; Ctrl-C ends it.
    """
    if scenario is None:
        if tunings or apply or assignments:
            raise click.UsageError("expected a SCENARIO, to which they belong")
        from simnet.page.serve import serve

        serve(None, port=port, opened=_opened)
        return
    base = case_to_simulate(scenario, assignments, tunings, apply, jobs=1)
    from simnet.page.offer import offer_of
    from simnet.page.serve import serve
    from simnet.study.work.cases import Member

    for remark in Member(base).effective().remarks:
        message(remark)
    serve(offer_of(base), port=port, opened=_opened)


def _opened(address: str) -> None:
    """Print where the page is; a script reads it while the page is served."""
    answer(address)
    sys.stdout.flush()
    message("Ctrl-C ends it")
