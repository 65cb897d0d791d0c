"""``simnet calibrate HOST``: costs of a user's own host, and what to measure to know them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from simnet.cli.output import message, print_result, write_out

if TYPE_CHECKING:
    from pathlib import Path

    from simnet.study.calibrate.calibrate import Runs
    from simnet.study.calibrate.host import HostFit


def calibrate_host(
    host: str,
    *,
    plan: bool,
    write: bool,
    out: Path | None,
    as_json: bool,
    members: int | None,
    error: float | None,
    **times: Any,
) -> None:
    """Print what a host's captures say of its costs, or which captures would say most."""
    from simnet.report.measured import host_calibration as report
    from simnet.report.progress import progress
    from simnet.study.calibrate import host as study
    from simnet.study.calibrate.plan import plan as planned

    given: dict[str, Any] = {} if members is None else {"members": members}
    if error is not None:
        given["error"] = error / 100
    with progress("draws, one of several batches of simulations") as callback:
        given["runs"] = replace(_runs(**times), progress=callback)
        found = planned(host, **given) if plan else study.calibrate_host(host, **given)
    if isinstance(found, study.HostFit):
        as_text, text_json = partial(report.host, found), partial(report.as_json, found)
    else:
        as_text, text_json = partial(report.plan, found), partial(report.plan_json, found)
    write_out(out, text_json)
    print_result(as_text(), text_json, as_json=as_json)
    for line in _written(found) if write and isinstance(found, study.HostFit) else ():
        message(line)


def _runs(
    *, seeds: int | None, duration: str | None, warm_up: str | None, jobs: int | None, **_: object
) -> Runs:
    from simnet.study.calibrate.calibrate import Runs

    return Runs(duration, warm_up, tuple(range(1, (seeds or 1) + 1)), jobs=jobs)


def _written(found: HostFit) -> list[str]:
    from simnet.study.calibrate.host import write

    changes, file = write(found)
    lines = [f"{one.file}: {one.name}: {one.before} -> {one.after}" for one in changes]
    return [*lines, f"{file}: {len(found.moved.draws)} draws that agree with the captures"]
