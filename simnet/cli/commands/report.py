"""``simnet report``: results as one file of HTML to look at, print and send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from simnet.cli.completion import scenarios as known_scenarios
from simnet.cli.completion import tunings as known_tunings
from simnet.cli.options import WholeNumber, jobs_option, run_options, settings_of
from simnet.cli.output import REPORT, message, out_path
from simnet.errors import InputError
from simnet.files import write_text

_SAVED: Final = ".json"
_CAPTURED: Final = (".pcapng", ".pcap")
_OF_WHATIF: Final = ("seeds", "members", "jobs", "precision")


@click.command("report")
@click.argument(
    "named", nargs=-1, required=True, metavar="FILE|SCENARIO...", shell_complete=known_scenarios
)
@click.option("--out", required=True, metavar="FILE", help="The file to write (.html).")
@click.option(
    "--tuning",
    "tunings",
    metavar="TUNING",
    shell_complete=known_tunings,
    multiple=True,
    help="Compare a scenario as it is with this, as `whatif` does; may be repeated.",
)
@run_options
@click.option("--seeds", type=WholeNumber(2, 1000), help="With --tuning, as of `whatif`.")
@click.option("--members", type=WholeNumber(0, 10000), help="With --tuning, as of `whatif`.")
@jobs_option
@click.option(
    "--no-runs",
    is_flag=True,
    help="Simulate nothing for a saved what-if: its report then has no pictures of CPUs and path.",
)
def report_command(
    named: tuple[str, ...],
    out: str,
    tunings: tuple[str, ...],
    assignments: tuple[str, ...],
    *,
    no_runs: bool,
    **options: Any,
) -> None:
    """Write a report of results and scenarios: one file of HTML that needs no network.

    A FILE ends with .json: what `run`, `whatif`, `explain`, `sweep`, `capacity`, `screen`,
    `recommend`, `compare`, `validate` or `diagnose` printed with --json. A SCENARIO is simulated:
    as `run` and `explain` do, or with --tuning as `whatif` does. A FILE that ends with .pcapng or
    .pcap is a capture, of `run --pcap`, tcpdump or Wireshark: its connections are drawn as sequence
    numbers over time.
    """
    path = out_path(out, (REPORT,))
    files = [Path(name) for name in named if name.endswith(_SAVED)]
    captures = [Path(name) for name in named if name.endswith(_CAPTURED)]
    scenarios = [name for name in named if not name.endswith((_SAVED, *_CAPTURED))]
    given = {name: value for name, value in options.items() if value not in {None, ()}}
    if assignments:
        given["settings"] = settings_of(assignments)
    _check(scenarios, tunings, given)
    from simnet.report.html.make import saved_parts, scenario_part, whatif_parts
    from simnet.report.html.page import page
    from simnet.report.progress import progress

    parts = saved_parts(files, simulate=not no_runs)
    if captures:
        from simnet.report.html.captures import capture_parts

        parts += capture_parts(captures)
    for number, scenario in enumerate(scenarios):
        if tunings:
            with progress("simulating") as callback:
                parts += whatif_parts(number, scenario, tunings, progress=callback, **given)
        else:
            parts.append(scenario_part(number, scenario, **given))
    write_text(path, page(parts))
    message(f"wrote {path}")


def _check(scenarios: Sequence[str], tunings: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse options that nothing would read."""
    if not scenarios and (tunings or given):
        first = "tuning" if tunings else next(iter(given)).replace("_", "-")
        raise InputError("expected a scenario, too: a saved result is as it is", key=f"--{first}")
    unread = [] if tunings else [name for name in _OF_WHATIF if name in given]
    if unread:
        raise InputError("only with --tuning", key=f"--{unread[0]}")
