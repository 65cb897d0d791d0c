"""``simnet calibrate``: parameters from measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simnet.cli.completion import scenarios
from simnet.cli.output import answer, message
from simnet.errors import InputError

if TYPE_CHECKING:
    from simnet.study.calibrate.calibrate import Calibration
    from simnet.study.calibrate.stages import Stage

__all__ = ["calibrate_command"]


@click.command("calibrate")
@click.argument("scenario", shell_complete=scenarios)
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
@click.option("--duration", metavar="TIME", help="Simulated time measured at every point.")
@click.option("--warm-up", metavar="TIME", help="Simulated time before measuring.")
@click.option("--seeds", type=click.IntRange(1, 1000), help="Runs a point, averaged.")
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes; one a CPU by default.")
@click.option("--profiles", is_flag=True, help="Follow each parameter over its range (slow).")
@click.option("--write", is_flag=True, help="Write what was fitted into the models' files.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def calibrate_command(
    scenario: str,
    against: tuple[str, ...],
    parameters: tuple[str, ...],
    names: tuple[str, ...],
    *,
    profiles: bool,
    write: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit parameters of SCENARIO's models to measurements; say which of them the data fix.

    Only measurements marked for it are fitted to. Every parameter needs a range, and there are
    never more of them than numbers. What the data don't fix keeps its value.
    """
    from simnet.report import calibration as report

    if write and len(names) > 1:
        raise InputError("expected one stage, not several", key="--write")
    chosen = _stages(scenario, names, against, parameters)
    found = {one.name: _fit(scenario, one, profiles=profiles, **options) for one in chosen}
    written = [_write(scenario, one) for one in found.values()] if write else []
    if as_json:
        answer(report.as_json(scenario, found))
    else:
        answer(report.stages(found), nl=False)
    for line in (line for lines in written for line in lines):
        message(line)


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
    with progress(f"stage {chosen.name}" if chosen.name else "simulating") as callback:
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

    changes = write_fitted(found, load(scenario))
    return [f"{one.file}: {one.name}: {one.before} -> {one.after}" for one in changes]
