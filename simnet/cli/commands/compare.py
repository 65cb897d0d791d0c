"""``simnet compare``: did reality agree with a prediction?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simnet.cli.completion import scenarios
from simnet.cli.options import WholeNumber, jobs_option, json_option
from simnet.cli.output import message, out_option, print_result, write_out


@click.command("compare")
@click.argument("prediction", type=click.Path())
@click.argument("measured", nargs=-1, required=True, metavar="CAPTURE...", type=click.Path())
@click.option(
    "--scenario",
    metavar="SCENARIO",
    shell_complete=scenarios,
    help="What was predicted from; found by its name where it is not given.",
)
@click.option(
    "--tuning", "tunings", metavar="NAME", help="Of a what-if: the tuning that was applied."
)
@click.option(
    "--before",
    metavar="CAPTURE",
    multiple=True,
    type=click.Path(),
    help="Measured before the tuning of a what-if was applied: compares the change; may be"
    " repeated.",
)
@click.option(
    "--seconds",
    type=float,
    metavar="NUMBER",
    help="Between two listings of /proc/interrupts or /proc/net/softnet_stat.",
)
@click.option(
    "--members",
    type=WholeNumber(0, 10000),
    help="Runs over the uncertain parameters, behind the intervals; 0 for none.",
)
@jobs_option
@click.option("--all", "every", is_flag=True, help="Show every CPU, not only those outside.")
@click.option(
    "--update", is_flag=True, help="Keep the captures for simnet calibrate, beside the scenario."
)
@out_option()
@json_option()
@click.pass_context
def compare_command(
    context: click.Context,
    /,
    prediction: str,
    measured: tuple[str, ...],
    *,
    every: bool,
    out: Path | None,
    as_json: bool,
    update: bool,
    **options: Any,
) -> None:
    """Compare PREDICTION with what was measured afterwards on the real host.

    PREDICTION is a file that "simnet run --json" or "simnet whatif --json" wrote. CAPTURE
    is what a tool printed: sar, mpstat, sadf -j, iostat -o JSON, iperf3 -J, netperf, mutilate, two
    listings of /proc/interrupts or of /proc/net/softnet_stat, or metrics in TOML or CSV. Several of
    one metric are averaged. With --before, what the change of a what-if did is compared with what
    it was predicted to do.

    The exit status is 0 when everything measured lies inside its 95 % interval, 1 when something
    lies outside, and 3 when the prediction itself is not conclusive.
    """
    from simnet.report.measured.comparison import comparison
    from simnet.report.progress import progress
    from simnet.study.compare.compare import compare
    from simnet.study.compare.update import kept

    given = {name: value for name, value in options.items() if value is not None}
    with progress("simulating") as callback:
        found = compare(prediction, measured, progress=callback, **given)
    for remark in found.remarks:
        message(remark)
    write_out(out, found.to_json)
    print_result(comparison(found, every=every), found.to_json, as_json=as_json)
    if update:
        message(f"kept in {kept(prediction, measured, **given)}: simnet calibrate fits to it")
    context.exit(found.exit_status)
