"""``simnet calibrate``: parameters from measurements."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from simnet.cli.calibrate_host import calibrate_host
from simnet.cli.completion import scenarios
from simnet.cli.options import (
    WholeNumber,
    duration_option,
    jobs_option,
    json_option,
    warm_up_option,
)
from simnet.cli.output import message, out_option, print_result, write_out
from simnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.calibrate.calibrate import Calibration
    from simnet.study.calibrate.stages import Stage

# what does not go with --cross-validate, and its option
_OF_A_FIT: Final = {"messages": "--message", "duration": "--duration", "warm_up": "--warm-up"}
# what progress covers: a fit learns from each batch what to simulate next
_NOT_OF_A_HOST: Final = "expected --against or --stage with it"
_PART: Final = "one of several batches of simulations"


@click.command("calibrate")
@click.argument("scenario", required=False, shell_complete=scenarios)
@click.option(
    "--against",
    metavar="ID[:KEY,KEY]",
    multiple=True,
    help="A measurement to fit to, all of its keys or some; may be repeated.",
)
@click.option(
    "--parameter",
    "parameters",
    metavar="NAME",
    multiple=True,
    help="What is fitted; may be repeated.",
)
@click.option(
    "--stage",
    "names",
    metavar="NAME",
    multiple=True,
    help="What validation/calibration says under this name; again to compare stages.",
)
@click.option(
    "--message",
    "messages",
    metavar="SIZE",
    multiple=True,
    help="Only this size behind means over message sizes; may be repeated.",
)
@duration_option("Simulated time measured at every point.")
@warm_up_option
@click.option("--seeds", type=WholeNumber(1, 1000), help="Runs a point, averaged.")
@jobs_option
@click.option("--profiles", is_flag=True, help="Follow each parameter over its range (slow).")
@click.option(
    "--cross-validate",
    is_flag=True,
    help="Leave out one configuration at a time, and predict it from the others.",
)
@click.option("--confirm", is_flag=True, help="With it: simulate what was left out (slow).")
@click.option("--keep", is_flag=True, help="With it: write validation/residuals/DOCUMENT.json.")
@click.option("--plan", is_flag=True, help="Of HOST: which measurements would tell most.")
@click.option("--members", type=WholeNumber(8, 10000), help="Of HOST: draws of what is uncertain.")
@click.option(
    "--error",
    type=click.FloatRange(0.01, 100),
    metavar="PERCENT",
    help="Of HOST: of a measured number.",
)
@click.option("--write", is_flag=True, help="Write what was fitted into the models' files.")
@out_option()
@json_option()
def calibrate_command(  # noqa: PLR0913 (what the command has options for)
    scenario: str | None,
    against: tuple[str, ...],
    parameters: tuple[str, ...],
    names: tuple[str, ...],
    *,
    profiles: bool,
    write: bool,
    out: Path | None,
    as_json: bool,
    cross_validate: bool,
    confirm: bool,
    keep: bool,
    plan: bool,
    members: int | None,
    error: float | None,
    **options: Any,
) -> None:
    """Fit parameters of SCENARIO's models to measurements; say which of them the data fix.

    Only measurements marked for it are fitted to. Every parameter needs a range, and there are
    never more of them than numbers. What the data don't fix keeps its value.

    Of a HOST of one's own, the folder that "simnet import" wrote or a scenario's file, the captures
    in its folder "measured" are fitted to: what sar, mpstat, iperf3, netperf printed. --plan says
    which would tell most.

    With --cross-validate SCENARIO is a document, such as x460, or nothing for all of them: every
    configuration is predicted from all others.
    """
    from simnet.report import calibration as report

    if cross_validate:
        given: list[tuple[str, object]] = [
            ("--against", against),
            ("--parameter", parameters),
            ("--stage", names),
        ]
        given += [("--profiles", profiles), ("--write", write)]
        given += [(option, options[name]) for name, option in _OF_A_FIT.items()]
        _refuse(given, "--cross-validate fits what is calibrated to all that was measured")
        _cross_validate(scenario, out=out, as_json=as_json, confirm=confirm, keep=keep, **options)
        return
    _refuse([("--confirm", confirm), ("--keep", keep)], "only with --cross-validate")
    if scenario is None:
        raise InputError("expected the name or the file of one", key="SCENARIO")
    from simnet.scenario.scenarios import SCENARIO_FILE
    from simnet.study.calibrate.conditions import is_host

    if is_host(scenario) and not (against or parameters or names):
        _refuse([("--profiles", profiles), ("--message", options["messages"])], _NOT_OF_A_HOST)
        _refuse([("--write", write and plan)], "a plan writes nothing: give one of both")
        calibrate_host(
            scenario,
            plan=plan, write=write, out=out, as_json=as_json, members=members, error=error,
            **options,
        )  # fmt: skip
        return
    if Path(scenario).is_dir() and not is_host(scenario):
        raise InputError(f"expected {SCENARIO_FILE} in it, as simnet import writes", file=scenario)
    _refuse([("--plan", plan), ("--members", members), ("--error", error)], "only of a host")
    if not (against or parameters or names):
        from simnet.scenario.scenarios import find_scenario

        find_scenario(scenario)
    if write and len(names) > 1:
        raise InputError("expected one stage, not several", key="--write")
    chosen = _stages(scenario, names, against, parameters)
    found = {one.name: _fit(scenario, one, profiles=profiles, **options) for one in chosen}
    written = [_write(scenario, one) for one in found.values()] if write else []
    write_out(out, lambda: report.as_json(scenario, found))
    print_result(report.stages(found), partial(report.as_json, scenario, found), as_json=as_json)
    for line in (line for lines in written for line in lines):
        message(line)


def _refuse(given: Sequence[tuple[str, object]], why: str) -> None:
    """Refuse options that mean nothing here."""
    for name, value in given:
        if value:
            raise InputError(why, key=name)


def _cross_validate(
    name: str | None,
    *,
    out: Path | None,
    as_json: bool,
    confirm: bool,
    keep: bool,
    seeds: int | None,
    jobs: int | None,
    **_: object,
) -> None:
    from simnet.files import check_place
    from simnet.report import cross_validation as report
    from simnet.report.progress import progress
    from simnet.study.calibrate import cross_validation as study
    from simnet.study.validate import residuals

    found = []
    documents = [name] if name else [*study.cross_validated_documents()]
    for document in documents if keep else ():
        check_place(residuals.path_of(document), key="--keep")
    for document in documents:
        with progress(f"{document}, {_PART}") as callback:
            one = study.cross_validate(
                document,
                seeds=tuple(range(1, seeds + 1)) if seeds else study.SEEDS,
                confirm=confirm,
                jobs=jobs,
                progress=callback,
            )
        if keep:
            message(f"kept: {residuals.keep(one.residuals)}")
        found.append(one)
    write_out(out, lambda: report.as_json(found))
    print_result(report.cross_validation(found), partial(report.as_json, found), as_json=as_json)


def _stages(
    scenario: str, names: tuple[str, ...], against: tuple[str, ...], parameters: tuple[str, ...]
) -> list[Stage]:
    from simnet.study.calibrate.stages import Stage, stage

    if bool(names) == bool(against or parameters):
        text = "expected either --stage, or --against and --parameter"
        raise InputError(text, key="--stage")
    if names:
        return [stage(scenario, name) for name in dict.fromkeys(names)]
    if not against or not parameters:
        missing = "--parameter" if against else "--against"
        raise InputError("expected at least one", key=missing)
    return [Stage(name="", description="", against=against, parameters=parameters)]


def _fit(scenario: str, chosen: Stage, *, profiles: bool, **options: Any) -> Calibration:
    from dataclasses import replace

    from simnet.report.progress import progress
    from simnet.study.calibrate.calibrate import calibrate

    given = {name: value for name, value in options.items() if value}
    if "seeds" in given:
        given["seeds"] = tuple(range(1, given["seeds"] + 1))
    work = f"stage {chosen.name}" if chosen.name else "simulating"
    with progress(f"{work}, {_PART}") as callback:
        return calibrate(
            chosen.against,
            chosen.parameters,
            scenario=scenario,
            runs=replace(chosen.runs, progress=callback, **given),
            profiles=profiles,
        )


def _write(scenario: str, found: Calibration) -> list[str]:
    from simnet.scenario.core.load import load
    from simnet.study.calibrate.modelfile import write_fitted

    changes = write_fitted(found, load(scenario), scenario if scenario.endswith(".toml") else None)
    return [f"{one.file}: {one.name}: {one.before} -> {one.after}" for one in changes]
