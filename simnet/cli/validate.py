"""``simnet validate``: predicted against measured."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["validate_command"]


@click.command("validate")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option(
    "--members",
    type=click.IntRange(0, 10000),
    help="Simulations behind the 95 % intervals; 0 for none.",
)
@click.option("--duration", metavar="TIME", help='Simulated time of a prediction, as in "2 s".')
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes; one a CPU by default.")
@click.pass_context
def validate_command(
    context: click.Context, /, ids: tuple[str, ...], *, as_json: bool, **options: Any
) -> None:
    """Compare predictions with the measurements ID..., all by default.

    The exit status is 1 when a condition on the predictions is missed.
    """
    from simnet.report.progress import progress
    from simnet.report.validation import validation
    from simnet.study.validate import validate

    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = validate(ids, progress=callback, **given)
    click.echo(found.to_json() if as_json else validation(found), nl=as_json)
    if not all(gate.passed for gate in found.gates):
        context.exit(1)
