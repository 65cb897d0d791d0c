"""``simnet sweep``: a grid of simulations."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from simnet.cli.completion import measures, settings, tunings
from simnet.cli.options import (
    WholeNumber,
    expect_workers,
    jobs_option,
    json_option,
    run_options,
    scenario_argument,
    scheduler_option,
    settings_of,
)
from simnet.cli.output import message, out_path, print_result
from simnet.errors import InputError
from simnet.extras import require
from simnet.files import write_bytes, write_figure, write_text
from simnet.scenario.scenarios import find_scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simnet.study.sweep.sweep import Sweep

_SUFFIXES: Final = (".csv", ".parquet", ".json", ".png", ".svg", ".pdf")


@click.command("sweep")
@scenario_argument
@click.option(
    "--over",
    "varied",
    metavar="KNOB=VALUES",
    shell_complete=settings,
    multiple=True,
    help='Values to try: "1,2,4" or "10 us..50 us:10 us"; again for every combination.',
)
@click.option(
    "--tuning",
    "tunings",
    metavar="NAME[+NAME]",
    shell_complete=tunings,
    multiple=True,
    help="A tuning to try; may be repeated; none: the scenario as it is.",
)
@run_options
@click.option(
    "--replications",
    type=WholeNumber(1, 10_000),
    default=1,
    help="Runs of every combination, each with another seed, all with the same ones.",
)
@click.option(
    "--best",
    metavar="MEASURE",
    shell_complete=measures,
    help="What decides which is best: a column of the table that --out writes, such as"
    " throughput_bps (default), latency_us_p99 or tcp_retransmissions_per_s.",
)
@click.option(
    "--plot",
    "picture",
    type=click.Choice(["values", "latency", "pareto"]),
    default="values",
    help="What a plot shows: the measure over the values (default), latency over them, or what"
    " more of the measure costs.",
)
@jobs_option
@scheduler_option
@click.option(
    "--into",
    metavar="FOLDER",
    help="Have the workers write a row a run into Parquet files there, for sweeps of any size.",
)
@click.option("--yes", is_flag=True, help="Don't ask before more than 10,000 simulations.")
@json_option()
@click.option(
    "--out",
    "files",
    metavar="FILE",
    multiple=True,
    help="Write a table (.csv, .parquet, .json) or a plot (.png, .svg, .pdf); may be repeated.",
)
def sweep_command(
    scenario: str,
    varied: tuple[str, ...],
    tunings: tuple[str, ...],
    assignments: tuple[str, ...],
    files: tuple[str, ...],
    *,
    best: str | None,
    picture: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Simulate SCENARIO with every combination of values; go on where an interrupt came.

    VALUES are separated by commas, or by semicolons where values hold commas. A..B:STEP counts from
    A to B, A..B:xN multiplies by N.
    """
    paths = [_path(file) for file in files]
    over = _over(varied)
    if best is not None:
        from simnet.study.run.measures import measure

        measure(best)

    options |= {"tunings": tunings, "settings": settings_of(assignments)}
    find_scenario(scenario)
    from simnet.study.sweep.asked import asked

    asked(
        scenario,
        over,
        times={name: options[name] for name in ("duration", "warm_up", "precision")},
        **{n: options[n] for n in ("tunings", "settings", "apply", "replications", "seed")},
    )
    expect_workers(options["jobs"], options["scheduler"])
    options["confirm"] = _confirm(yes=options.pop("yes"))
    folder = options.pop("into")
    if folder is not None:
        if files:
            raise InputError("not with --into: its files are the table", key="--out")
        _sweep_into(folder, scenario, over, best=best, as_json=as_json, options=options)
        return
    from simnet.report.progress import progress
    from simnet.report.sweep import sweep as table
    from simnet.study.sweep.sweep import sweep

    with progress("simulating") as callback:
        found = sweep(scenario, over, progress=callback, **options)
    for remark in found.remarks:
        message(remark)
    for path in paths:
        _write(found, path, best, picture)
    print_result(table(found, best), partial(found.to_json, by=best), as_json=as_json)


def _sweep_into(
    folder: str,
    scenario: str,
    over: dict[str, str],
    *,
    best: str | None,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    from simnet.report.progress import progress
    from simnet.study.sweep.into import sweep_into

    with progress("simulating") as callback:
        rows = sweep_into(folder, scenario, over, progress=callback, **options)
    for remark in (*rows.remarks, *rows.doubts()):
        message(remark)
    print_result(rows.sentence(best), partial(rows.to_json, by=best), as_json=as_json)


def _confirm(*, yes: bool) -> Callable[[str], bool] | None:
    """Who confirms: the option, the user, or, without a terminal, nothing."""
    if yes:
        return lambda _sentence: True
    if sys.stdin.isatty() and sys.stderr.isatty():
        return lambda sentence: click.confirm(f"{sentence}. Go on?", err=True)
    return None


def _over(varied: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in varied:
        name, sign, values = text.partition("=")
        if not sign or not name.strip():
            raise InputError("expected KNOB=VALUES", file="--over", key=text)
        if name.strip() in found:
            raise InputError("expected every knob once", file="--over", key=name.strip())
        found[name.strip()] = values
    return found


def _path(file: str) -> Path:
    """Check what can be checked before any time is spent on simulating."""
    path = out_path(file, _SUFFIXES)
    if path.suffix == ".parquet":
        require("pyarrow", asked_by="--out", key=file)
    return path


def _write(found: Sweep, path: Path, best: str | None, picture: str) -> None:
    if path.suffix == ".csv":
        write_text(path, found.to_frame().to_csv(index=False))
    elif path.suffix == ".parquet":
        write_bytes(path, found.to_frame().to_parquet(index=False))
    elif path.suffix == ".json":
        write_text(path, found.to_json(by=best) + "\n")
    else:
        write_figure(path, found.plot(best, picture=picture))
