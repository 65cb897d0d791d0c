"""``simnet explain``: what holds a scenario back, and what would be next."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from simnet.cli.options import effective, scenario_options, settings_of
from simnet.cli.output import message, working
from simnet.errors import InputError

__all__ = ["explain_command"]

_SUFFIXES: Final = (".png", ".svg", ".pdf")


@click.command("explain")
@click.argument("scenario")
@scenario_options
@click.option("--out", metavar="FILE", help="Draw the bars of utilisation (.png, .svg, .pdf).")
@click.option(
    "--lift",
    is_flag=True,
    help="Simulate again with each sort of part lifted by a quarter; tell what is gained.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain_command(
    scenario: str,
    assignments: tuple[str, ...],
    out: str | None,
    *,
    lift: bool,
    as_json: bool,
    **times: Any,
) -> None:
    """Simulate SCENARIO once, and say how full each resource is.

    For each flow: which resource holds it back, which would be next, and how much throughput is
    to be gained at most until then. A flow that waits for a window or for a response, while nothing
    is full, is told so. And which of the knobs that are set a simulation depends on.
    """
    if times.get("precision"):
        raise InputError("explain measures for a given time: --duration", key="--precision")
    if out is not None:
        _check(Path(out))
    from simnet.report.explain import explain as text
    from simnet.study.explain import explained
    from simnet.study.run import recorded

    configuration = effective(scenario, assignments, **times)
    for remark in configuration.remarks:
        message(remark)
    with working(configuration):
        settings = recorded(times["apply"], settings_of(assignments))
        found = explained(configuration, settings=settings, lift=lift)
    if out is not None:
        found.plot().savefig(out)
    click.echo(found.to_json() if as_json else text(found), nl=as_json)


def _check(path: Path) -> None:
    """Refuse a file that could not be written, before any time is spent on simulating."""
    if path.suffix not in _SUFFIXES:
        message = f"expected a name that ends with one of {', '.join(_SUFFIXES)}"
        raise InputError(message, file="--out", key=str(path))
    if not path.parent.is_dir():
        raise InputError("expected a folder that exists", file="--out", key=str(path.parent))
