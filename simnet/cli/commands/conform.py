"""``simnet conform``: does TCP do what a real kernel did?"""

from __future__ import annotations

from pathlib import Path

import click

from simnet.cli.options import json_option
from simnet.cli.output import out_option, print_result, write_out


@click.command("conform")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--kernel",
    metavar="MODEL",
    help="Kernel model; by default of the version that a trace names, the latest for scripts.",
)
@json_option("Print what was expected and sent as JSON.")
@out_option()
@click.pass_context
def conform_command(
    context: click.Context,
    /,
    files: tuple[str, ...],
    *,
    kernel: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run traces of a kernel's TCP (.jsonl) and packetdrill scripts (.pkt) against the model.

    Of a trace, number and numbers of the acknowledgements must be the same, and their times within
    2 ms at some phase of the kernel's ticks. A script says what it expects.

    The exit status is 1 when any scenario differs.
    """
    from simnet.report.conform import as_json as json_text
    from simnet.report.conform import conformance
    from simnet.study.conform.conform import conform

    found = conform(files, kernel)
    write_out(out, lambda: json_text(found))
    print_result(conformance(found), lambda: json_text(found), as_json=as_json)
    if not found.agrees:
        context.exit(1)
