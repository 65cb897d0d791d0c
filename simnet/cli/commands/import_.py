"""``simnet import``: a real host's files as models and a scenario."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simnet.cli.options import WholeNumber, json_option
from simnet.cli.output import answer, message, table
from simnet.cli.status import Status
from simnet.errors import InputError
from simnet.host.cpulist import MOST_CPUS
from simnet.printable import printable, typed
from simnet.terminal import folded

if TYPE_CHECKING:
    from simnet.importing.source import Sources
    from simnet.importing.writing.folder_out import Imported

_COUNTED: Final = {"nodes": "node", "packages": "package", "cores": "core", "cpus": "CPU"}
_MOST_FOLDERS: Final = 1000
# notes that a reader takes in; all stand in IMPORT.md
_MOST_NOTES: Final = 3
_MOST_LOST: Final = 5
# a folder's name is made of a stranger's
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 60


@click.command("import")
@click.argument("source", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--live", is_flag=True, help="Read this machine.")
@click.option("--script", is_flag=True, help="Print a shell script that collects a host's files.")
@click.option(
    "--workload",
    type=click.Choice(["stream", "rr", "memcached"]),
    help="What the scenario runs: TCP streams, requests and responses one by one, or memcached;"
    " by default what resembles the load that the files show, or streams.",
)
@click.option(
    "--cpus",
    type=WholeNumber(1, MOST_CPUS),
    metavar="N",
    help="How many CPUs the host has, if no file says it; else 8 are assumed.",
)
@click.option(
    "--peer",
    type=click.Choice(["healthy", "same"]),
    default="healthy",
    show_default=True,
    help="The machine at the other end: like the host with its interrupts spread over CPUs, or the"
    " host's twin, faults and all.",
)
@click.option("--out", metavar="FOLDER", help="Where to write; a new folder here by default.")
@json_option("Print JSON: what was read.")
def import_command(
    source: tuple[str, ...],
    workload: str | None,
    cpus: int | None,
    out: str | None,
    *,
    peer: str,
    live: bool,
    script: bool,
    as_json: bool,
) -> None:
    """Write a folder with models and a scenario of a real host.

    SOURCE is a sosreport, a snapshot of /proc and /sys, or outputs of commands: folders, tar
    archives (gz, bz2, xz) or files, also one text with several outputs after another; - is
    standard input. Nothing in it is executed. It may take five minutes of processor time and is
    ended then. The exit status is 3 where texts are understood and describe no host.
    """
    if script:
        from simnet.importing.writing.script import script as text

        answer(text(), nl=False)
        return
    if bool(source) == live:
        raise click.UsageError("expected a SOURCE, or --live, or --script")
    from simnet.diagnose.imported import import_host
    from simnet.importing.source import Sources

    sources = Sources(source) if source else None
    try:
        found = import_host(sources, workload=workload, cpus=cpus, peer=peer)
    except InputError as error:
        said = "" if sources is None else _instead(error, sources)
        if not said:
            raise
        message(said)
        click.get_current_context().exit(Status.NO_ANSWER)
    folder = _free(source, found.name) if out is None else Path(out)
    found.write(folder)
    if as_json:
        answer(json.dumps({"folder": str(folder), **found.summary()}, indent=2))
        return
    _print(found, folder)


def _instead(error: InputError, sources: Sources) -> str:
    """Return what sources are that describe no host of Linux; empty where that is not known."""
    from simnet.diagnose.diagnosis import diagnose
    from simnet.importing.host import NOTHING

    if error.message != NOTHING:
        return ""
    told = diagnose(sources)
    if told.systems:
        return f"{error.file}: outputs of {', '.join(told.systems)}: only Linux is simulated"
    if not any(file.kinds for file in told.files):
        return ""
    asked = typed("simnet", "diagnose", *sources.names)
    return (
        f"{error.file}: this shows what happened on a host, not what the host is: {asked} answers"
        " it; to import it, add outputs such as lscpu and ethtool -i PORT"
    )


def _free(sources: tuple[str, ...], host: str) -> Path:
    """Return the name of a new folder, after the source's, or the host's if that is no name."""
    from simnet.importing.source import is_piped

    name = "this-host" if not sources else Path(sources[0]).resolve().name.partition(".")[0]
    if len(sources) > 1 or any(map(is_piped, sources)):
        name = host or "host"
    stem = _UNSAFE.sub("-", name)[:_LONGEST].strip("-") or "host"
    for number in range(1, _MOST_FOLDERS):
        folder = Path(f"simnet-{stem}" if number == 1 else f"simnet-{stem}-{number}")
        if not folder.exists():
            return folder
    raise InputError("there are too many folders of this name", file=f"simnet-{stem}")


def _print(found: Imported, folder: Path) -> None:
    from simnet.importing.writing.file_list import NOT_UNDERSTOOD, READ, READ_NOT_USED

    summary = found.summary()
    counts = ", ".join(
        f"{summary[key]} {name}{'s' * (summary[key] != 1)}" for key, name in _COUNTED.items()
    )
    host = summary["host"]
    name = f"{found.name}, " if found.name else ""
    assumed = " (assumed)" if "cpus" in summary["assumed_of_cpus"] else ""
    model = host.get("cpu_model") or "a host"
    answer(folded(printable(f"{name}{model}: {counts}{assumed}")))
    if host.get("kernel"):
        distribution = host.get("distribution", "distribution not said")
        answer(folded(printable(f"Linux {host['kernel']}, {distribution}")))
    answer("")
    table(
        "network ports",
        ("port", "node", "driver", "queues"),
        (
            tuple(
                "?" if nic[key] is None else str(nic[key])
                for key in ("name", "node", "driver", "queues")
            )
            for nic in summary["nics"]
        ),
    )
    states = [one["state"] for one in summary["values"]]
    counts = ", ".join(f"{states.count(one)} {one}" for one in ("read", "looked up", "assumed"))
    unused = len(summary["unused"])
    where = typed(folder / "IMPORT.md")
    answer(folded(f"values: {counts}; {unused} read and not used: see {where}"))
    files = [one["state"] for one in summary["files"]]
    if files:
        counted = ", ".join(
            f"{files.count(one)} {one}" for one in (READ, READ_NOT_USED, NOT_UNDERSTOOD)
        )
        answer(folded(f"files: {counted}"))
    few = len(found.notes) if len(found.notes) <= _MOST_NOTES + 1 else _MOST_NOTES
    for note in found.notes[:few]:
        message(note)
    if len(found.notes) > few:
        message(f"{len(found.notes) - few} more notes are in {typed(folder / 'IMPORT.md')}")
    skipped = found.host.loose.skipped
    lost = [one for one in summary["files"] if one["state"] != READ and one["file"] not in skipped]
    for one in lost[:_MOST_LOST]:
        message(f"{one['file']}: {one['state']}: {one['why']}")
    if len(lost) > _MOST_LOST:
        message(f"{len(lost) - _MOST_LOST} further files are not used: see IMPORT.md")
    from simnet.scenario.scenarios import SCENARIO_FILE

    # a load that cannot be simulated cannot be run
    for command in ("run", "recommend") if found.runs else ("show",):
        answer(typed("simnet", command, folder / SCENARIO_FILE))
