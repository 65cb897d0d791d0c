"""``simnet validate``: predicted against measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from simnet.cli.options import WholeNumber, duration_option, jobs_option, json_option
from simnet.cli.output import message, out_option, print_result, write_out
from simnet.errors import InputError


@click.command("validate")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@json_option("Print the rows as JSON.")
@click.option(
    "--members",
    type=WholeNumber(0, 10000),
    help="Simulations behind the 95 % intervals; 0 for none.",
)
@duration_option('Simulated time of a prediction, as in "2 s"; as long as needed by default.')
@click.option("--freeze", metavar="NAME", help="Keep the predictions as DATE-NAME.json.")
@click.option("--stage", metavar="TEXT", help="With --freeze: what the model had been fitted to.")
@click.option(
    "--frozen",
    is_flag=True,
    help="Simulate nothing: score what was predicted before its number was known.",
)
@click.option(
    "--changes",
    is_flag=True,
    help="Simulate nothing: score what changes were said to be by fits that had not seen them.",
)
@click.option(
    "--by",
    type=click.Choice(("system", "knob")),
    help="With --changes: a line for each system, or for each setting, and which never were.",
)
@out_option("with --frozen or --changes the scores")
@jobs_option
@click.pass_context
def validate_command(
    context: click.Context,
    /,
    ids: tuple[str, ...],
    *,
    freeze: str | None,
    stage: str | None,
    frozen: bool,
    changes: bool,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare predictions with the measurements ID...; by default with all that take minutes.

    An ID may be a pattern, such as "x460.table1.*". What has no measured number yet is predicted
    when it is named; what was frozen of it stands beside it.

    The exit status is 1 when a condition on the predictions is missed.
    """
    from simnet.report.progress import progress
    from simnet.report.validation import validation
    from simnet.study.validate import predictions
    from simnet.study.validate.validate import by_name_only, validate

    by = options.pop("by")
    given = {name: value for name, value in options.items() if value is not None}
    if by is not None and not changes:
        raise InputError("expected with --changes", key="--by")
    if frozen or changes:
        asked = "--frozen" if frozen else "--changes"
        unused = ["--freeze"] if freeze else [f"--{name}" for name in given]
        unused += ["--changes"] if frozen and changes else []
        if unused:
            raise InputError(f"{asked} simulates nothing: expected without it", key=unused[0])
        if by == "knob":
            _settings(ids, out, as_json=as_json)
            return
        _score(ids, out, as_json=as_json, changes=changes)
        return
    if out is not None and out.suffix != ".json":
        raise InputError(
            "drawn only with --frozen or --changes: expected a name that ends with .json",
            key="--out",
        )
    if (freeze is None) != (stage is None):
        raise InputError("--freeze NAME and --stage TEXT go together", key="--freeze")
    if freeze is not None and options["members"] == 0:
        raise InputError(
            "a frozen prediction has an interval: not with --members 0", key="--freeze"
        )
    if freeze is not None:
        predictions.record_path(freeze, predictions.today())  # before minutes of simulating
    if not ids and (aside := by_name_only()):
        why = "they take hours or have no measured number yet"
        message(f"{len(aside)} ids are simulated only when named, such as {aside[-1]}: {why}")
    with progress("simulating") as callback:
        found = validate(ids, progress=callback, **given)
    if freeze is not None and stage:
        message(f"frozen: {predictions.freeze(found.frozen(stage), freeze)}")
    write_out(out, found.to_json)
    print_result(validation(found), found.to_json, as_json=as_json)
    if not all(gate.passed for gate in found.gates):
        context.exit(1)


def _score(ids: tuple[str, ...], out: Path | None, *, as_json: bool, changes: bool) -> None:
    from simnet.report.validation import scored, scored_changes
    from simnet.study.validate.record import record
    from simnet.study.whatif.record import ChangeRecord, record_of_changes

    found = record_of_changes(ids) if changes else record(ids)

    def document() -> str:
        return json.dumps(found.to_json(), indent=2)

    write_out(out, document, found.plot)
    text = scored_changes(found) if isinstance(found, ChangeRecord) else scored(found)
    print_result(text, document, as_json=as_json)


def _settings(ids: tuple[str, ...], out: Path | None, *, as_json: bool) -> None:
    from simnet.report.validation import registered
    from simnet.study.validate.compared import register

    if ids:
        raise InputError("expected no ID: --by knob counts the changes of all", key=ids[0])
    if out is not None and out.suffix != ".json":
        raise InputError("not drawn with --by knob: expected a name ending in .json", key="--out")
    found = register()

    def document() -> str:
        return json.dumps(found.to_json(), indent=2)

    write_out(out, document)
    print_result(registered(found), document, as_json=as_json)
