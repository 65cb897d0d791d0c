"""What sets up machines, written of an answer: a playbook of Ansible, a profile of tuned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simnet.cli.output import message, out_path
from simnet.errors import InputError
from simnet.files import check_place, write_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.scenario.commands.commands import Commands
    from simnet.study.whatif.whatif import WhatIf

_F = TypeVar("_F", bound="Callable[..., Any]")
_PLAYBOOK: Final = (".yml", ".yaml")
_PEERS: Final = "-peers"


def _playbook(_context: click.Context, _option: click.Parameter, file: str | None) -> Path | None:
    return None if file is None else out_path(file, _PLAYBOOK, key="--ansible")


def _profile(_context: click.Context, _option: click.Parameter, name: str | None) -> Path | None:
    if name is None:
        return None
    folder = Path(name)
    if folder.is_dir():
        check_place(folder / "tuned.conf", key="--tuned")
    elif folder.exists() or not folder.parent.is_dir():
        raise InputError("expected a folder, or a name in one", file="--tuned", key=name)
    return folder


def machine_options(command: _F) -> _F:
    """Add ``--ansible`` and ``--tuned`` to a command; it gets paths, or None."""
    command = click.option(
        "--tuned",
        metavar="FOLDER",
        callback=_profile,
        help="Write a profile of tuned that makes the change, if it is worth it.",
    )(command)
    return click.option(
        "--ansible",
        metavar="FILE",
        callback=_playbook,
        help="Write a playbook of Ansible that makes the change or undoes it, likewise (.yml).",
    )(command)


def write_machines(found: WhatIf | None, ansible: Path | None, tuned: Path | None) -> None:
    """Write where ``--ansible`` and ``--tuned`` said; no change that is not worth it."""
    names = " and ".join(str(one) for one in (ansible, tuned) if one is not None)
    if not names:
        return
    if found is None or found.tunings[0].verdict != "yes":
        message(f"{names}: not written: nothing is worth it")
        return
    from simnet.report.tools.ansible import CONSOLE, playbook
    from simnet.report.whatif import answer_of
    from simnet.scenario.commands.commands import EACH_PEER

    title, commands = answer_of(found), found.tunings[0].commands
    if not commands:
        message(f"{names}: not written: there is nothing to type")
        return
    if ansible is not None:
        text = playbook(title, commands)
        write_text(ansible, text)
        if CONSOLE in text:
            message(f"{ansible}: a session is cut off: run it at the console, -e {CONSOLE}=true")
    if tuned is not None:
        for one in commands:
            peers = _PEERS if one.where.startswith(EACH_PEER) else ""
            _write_profile(tuned.with_name(f"{tuned.name}{peers}"), title, one)


def _write_profile(folder: Path, title: str, commands: Commands) -> None:
    from simnet.report.tools.tuned import profile

    try:
        files = profile(title, commands)
    except ValueError as error:
        message(f"{folder}: not written: {error}")
        return
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)
        if text.startswith("#!"):
            (folder / name).chmod(0o755)
