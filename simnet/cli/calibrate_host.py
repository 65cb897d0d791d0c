"""``simnet calibrate HOST``: costs of a user's own host, and what to measure to know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.cli.output import answer, message, write_out

if TYPE_CHECKING:
    from pathlib import Path

    from simnet.study.calibrate.calibrate import Runs
    from simnet.study.calibrate.host import HostFit

__all__ = ["calibrate_host"]


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
    from simnet.study.calibrate import host as study
    from simnet.study.calibrate.plan import plan as planned

    given: dict[str, Any] = {} if members is None else {"members": members}
    if error is not None:
        given["error"] = error / 100
    if plan:
        advice = planned(host, runs=_runs(**times), **given)
        write_out(out, lambda: report.plan_json(advice))
        answer(report.plan_json(advice) if as_json else report.plan(advice), nl=as_json)
        return
    found = study.calibrate_host(host, runs=_runs(**times), **given)
    write_out(out, lambda: report.as_json(found))
    answer(report.as_json(found) if as_json else report.host(found), nl=as_json)
    for line in _written(found) if write else ():
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
