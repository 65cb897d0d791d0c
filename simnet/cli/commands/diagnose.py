"""``simnet diagnose``: where does it hurt?"""

from __future__ import annotations

from pathlib import Path

import click

from simnet.cli.options import jobs_option, json_option
from simnet.cli.output import REPORT, answer, card_option, out_option, write_card, write_out


@click.command("diagnose")
@click.argument("sources", nargs=-1, metavar="SOURCE...", type=click.Path(allow_dash=True))
@click.option("--live", is_flag=True, help="Look at this machine, for five seconds at most.")
@click.option(
    "--predict",
    is_flag=True,
    help="Simulate what the cures of the heaviest findings would change, on a host like this one"
    " under the load that the files show; takes a minute.",
)
@jobs_option
@click.option("--all", "every", is_flag=True, help="Show all findings in full.")
@card_option
@out_option(report=True)
@json_option()
def diagnose_command(
    sources: tuple[str, ...],
    *,
    live: bool,
    predict: bool,
    jobs: int | None,
    every: bool,
    card: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say where packets or time are lost, by the evidence in SOURCE.

    SOURCE is what people paste when they ask for help: outputs of ethtool, ip, ss, netstat, nstat,
    tc, mpstat, top, dmesg, lspci, sysctl, /proc/interrupts, softnet_stat and others. It is a
    file, a folder, an archive, or - for standard input; one file may hold several outputs.
    Nothing in it is executed.

    The exit status is 0 when nothing is wrong, 1 when something is found, which may be outside of
    the host, and 3 when the files do not tell.
    """
    if bool(sources) == live:
        raise click.UsageError("expected a SOURCE, or --live")
    from simnet.diagnose.askable import askable
    from simnet.diagnose.described import Described
    from simnet.diagnose.diagnosis import diagnose, diagnose_live
    from simnet.importing.source import Sources
    from simnet.report.diagnosis import diagnosis

    opened = Sources(sources)
    with Described(opened) as described:
        found = askable(diagnose_live() if live else diagnose(opened), described)
        if predict:
            from simnet.diagnose.predicted import predicted
            from simnet.report.progress import progress

            with progress("simulating") as callback:
                found = predicted(found, described, progress=callback, jobs=jobs)
    if card is not None:
        from simnet.report.card.card import diagnosed

        write_card(card, diagnosed(found))
    if out is not None and out.suffix == REPORT:
        from simnet.files import write_text
        from simnet.report.html.kinds.diagnosis import KIND
        from simnet.report.html.page import page

        write_text(out, page(KIND.parts([("", found.document())], False)))  # noqa: FBT003 - as all kinds
    else:
        write_out(out, found.to_json)
    answer(found.to_json() if as_json else diagnosis(found, sources, every=every), nl=as_json)
    click.get_current_context().exit(found.exit_status)
