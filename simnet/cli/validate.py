"""``simnet validate``: predicted against measured."""

from __future__ import annotations

from typing import Any

import click

from simnet.cli.output import answer, message
from simnet.errors import InputError

__all__ = ["validate_command"]


@click.command("validate")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option(
    "--members",
    type=click.IntRange(0, 10000),
    help="Simulations behind the 95 % intervals; 0 for none.",
)
@click.option(
    "--duration",
    metavar="TIME",
    help='Simulated time of a prediction, as in "2 s"; as long as needed by default.',
)
@click.option("--freeze", metavar="NAME", help="Keep the predictions as DATE-NAME.json, for good.")
@click.option("--stage", metavar="TEXT", help="With --freeze: what the model had been fitted to.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes; one a CPU by default.")
@click.pass_context
def validate_command(
    context: click.Context,
    /,
    ids: tuple[str, ...],
    *,
    freeze: str | None,
    stage: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare predictions with the measurements ID..., all by default.

    An ID may be a pattern, such as "x460.table1.*". A number that nobody has measured is predicted
    all the same; what was frozen of it stands beside it.

    The exit status is 1 when a condition on the predictions is missed.
    """
    from simnet.report.progress import progress
    from simnet.report.validation import validation
    from simnet.study.validate import predictions
    from simnet.study.validate.validate import validate

    if (freeze is None) != (stage is None):
        raise InputError("--freeze NAME and --stage TEXT go together", key="--freeze")
    if freeze is not None and options["members"] == 0:
        raise InputError(
            "a frozen prediction has an interval: not with --members 0", key="--freeze"
        )
    if freeze is not None:
        predictions.record_path(freeze, predictions.today())  # before minutes of simulating
    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = validate(ids, progress=callback, **given)
    if freeze is not None and stage:
        message(f"frozen: {predictions.freeze(found.frozen(stage), freeze)}")
    answer(found.to_json() if as_json else validation(found), nl=as_json)
    if not all(gate.passed for gate in found.gates):
        context.exit(1)
