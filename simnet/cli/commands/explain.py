"""``simnet explain``: what holds a scenario back, and what would be next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simnet.cli.options import (
    effective,
    json_option,
    scenario_argument,
    scenario_options,
    settings_of,
)
from simnet.cli.output import message, out_option, print_result, write_out
from simnet.errors import InputError


@click.command("explain")
@scenario_argument
@scenario_options
@out_option("the bars of utilisation")
@click.option(
    "--lift",
    is_flag=True,
    help="Simulate again with each sort of part lifted by a quarter; print what is gained.",
)
@json_option()
def explain_command(
    scenario: str,
    assignments: tuple[str, ...],
    out: Path | None,
    *,
    lift: bool,
    as_json: bool,
    **times: Any,
) -> None:
    """Simulate SCENARIO once, and say how full each resource is.

    For each flow: which resource holds it back, which would be next, and how much throughput is
    to be gained at most until then. A flow that waits for a window or for a response, while nothing
    is full, is reported as such. And which of the knobs that are set a simulation depends on.
    """
    if times.get("precision"):
        raise InputError("explain measures for a given time: --duration", key="--precision")
    from simnet.report.explain import explain as text
    from simnet.report.progress import watching
    from simnet.study.explain.explain import explained
    from simnet.study.run.run import recorded

    configuration = effective(scenario, assignments, **times)
    for remark in configuration.remarks:
        message(remark)
    with watching(configuration):
        settings = recorded(times["apply"], settings_of(assignments))
        found = explained(configuration, settings=settings, lift=lift)
    write_out(out, found.to_json, found.plot)
    print_result(text(found), found.to_json, as_json=as_json)
