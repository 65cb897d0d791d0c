"""``simnet import``: a real host's files as models and a scenario."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simnet.cli.output import answer, message, table
from simnet.errors import InputError
from simnet.printable import printable, typed

if TYPE_CHECKING:
    from simnet.importing.writing.folder_out import Imported

__all__ = ["import_command"]

_MOST_FOLDERS: Final = 1000
# a folder's name is made of a stranger's
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST: Final = 60


@click.command("import")
@click.argument("source", required=False, type=click.Path())
@click.option("--live", is_flag=True, help="Read this machine.")
@click.option("--script", is_flag=True, help="Print a shell script that collects a host's files.")
@click.option(
    "--workload",
    type=click.Choice(["stream", "rr", "memcached"]),
    help="What the scenario runs: TCP streams, requests and responses one by one, or memcached;"
    " by default what resembles the load that the files show, or streams.",
)
@click.option("--out", metavar="FOLDER", help="Where to write; a new folder here by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: what was read.")
def import_command(
    source: str | None,
    workload: str | None,
    out: str | None,
    *,
    live: bool,
    script: bool,
    as_json: bool,
) -> None:
    """Write a folder with models and a scenario of a real host.

    SOURCE is a sosreport, a snapshot of /proc and /sys, or outputs of commands: a folder or a tar
    archive (gz, bz2, xz). Nothing in it is executed. It may take five minutes of
    processor time and is ended then.
    """
    if script:
        from simnet.importing.writing.script import script as text

        answer(text(), nl=False)
        return
    if (source is None) != live:
        raise click.UsageError("expected a SOURCE, or --live, or --script")
    from simnet.importing.import_host import import_host

    found = import_host(source, workload=workload)
    folder = _free(source) if out is None else Path(out)
    found.write(folder)
    if as_json:
        answer(json.dumps({"folder": str(folder), **found.summary()}, indent=2))
        return
    _print(found, folder)


def _free(source: str | None) -> Path:
    """Return the name of a new folder, after the source's."""
    name = "this-host" if source is None else Path(source).resolve().name.partition(".")[0]
    stem = _UNSAFE.sub("-", name)[:_LONGEST].strip("-") or "host"
    for number in range(1, _MOST_FOLDERS):
        folder = Path(f"simnet-{stem}" if number == 1 else f"simnet-{stem}-{number}")
        if not folder.exists():
            return folder
    raise InputError("there are too many folders of this name", file=f"simnet-{stem}")


def _print(found: Imported, folder: Path) -> None:
    summary = found.summary()
    counts = ", ".join(f"{summary[key]} {key}" for key in ("nodes", "packages", "cores", "cpus"))
    host = summary["host"]
    answer(printable(f"{host.get('cpu_model') or 'a host'}: {counts}"))
    if host.get("kernel"):
        answer(
            printable(
                f"Linux {host['kernel']}, {host.get('distribution', 'distribution not said')}"
            )
        )
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
    answer(f"values: {counts}; {unused} read and not used: see {typed(folder / 'IMPORT.md')}")
    answer(typed("simnet", "run", folder / "scenario.toml"))
    for note in found.notes:
        message(note)
