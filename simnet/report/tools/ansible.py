"""A tuning as a playbook of Ansible: sysctls by their module, all else as commands, and the undo.

A play for the host, one for its peers if they have something to do, and the same again with the tag
``undo``, which run only if that is asked for. What cuts sessions off waits for a variable.

Sources: docs.ansible.com, "Tags" (``never``), "Advanced playbook syntax" (``!unsafe``), and the
module ``ansible.posix.sysctl``.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simnet.printable import printable
from simnet.report.tools.parts import Parts, parts_of
from simnet.scenario.commands.commands import EACH_PEER, Commands
from simnet.scenario.commands.distribution import SYSCTL_FILE

CONSOLE: Final = "simnet_console"
"""The variable that lets commands run which cut sessions off."""
_GROUPS: Final = ("host", "peers")


def playbook(title: str, commands: Sequence[Commands]) -> str:
    """Return the playbook.

    Args:
        title: what it does, for a comment.
        commands: of the system under test, of its peers, or of both.
    """
    several = [parts_of(one) for one in commands]
    lines = ["---", f"# {printable(title)}"]
    lines += ["# undo: ansible-playbook FILE --tags undo"]
    if any(one.cut_off for one in several):
        lines += [f"# A session over a port is cut off: run at the console, with -e {CONSOLE}=true"]
    groups = [(_GROUPS[one.where.startswith(EACH_PEER)], one) for one in several]
    for group, one in groups:
        lines += _play(f"{group}: {one.where}", group, ("apply",), _applied(one))
    for group, one in reversed(groups):
        lines += _play(f"{group}: undo on {one.where}", group, ("never", "undo"), _undone(one))
    return "".join(f"{line}\n" for line in lines)


def _play(name: str, group: str, tags: Iterable[str], tasks: Iterable[str]) -> Iterator[str]:
    yield f"- name: {_text(name)}"
    yield f"  hosts: {group}"
    yield "  become: true"
    yield "  gather_facts: false"
    yield f"  tags: [{', '.join(tags)}]"
    yield "  tasks:"
    yield from tasks


def _applied(parts: Parts) -> Iterator[str]:
    for name, value in parts.sysctls.items():
        yield from _sysctl(name, value)
    yield from _shell("set what no module sets", parts.apply, parts)
    yield from _shell("keep it over a reboot", parts.keep, parts)


def _undone(parts: Parts) -> Iterator[str]:
    yield from _shell("keep it no longer", parts.drop, parts)
    for name in parts.sysctls:
        yield from _sysctl(name, None)
    yield from _shell("set what was before", (*parts.undo, *parts.undo_sysctls), parts)


def _sysctl(name: str, value: str | None) -> Iterator[str]:
    """A task that sets and keeps a sysctl, or keeps it no longer."""
    title = f"{name} no longer at boot" if value is None else f"{name} = {value}"
    yield f"    - name: {_text(title)}"
    yield "      ansible.posix.sysctl:"
    yield f"        name: {_text(name)}"
    if value is None:
        yield "        state: absent"
    else:
        yield f"        value: {_text(value)}"
        yield "        sysctl_set: true"
    yield f"        sysctl_file: {SYSCTL_FILE}"
    yield "        reload: false"


def _shell(name: str, lines: Sequence[str], parts: Parts) -> Iterator[str]:
    """A task that runs lines of the shell; comments, where there is no command among them."""
    if all(line.startswith("#") for line in lines):
        yield from (f"    {printable(line)}" for line in lines)
        return
    yield f"    - name: {_text(name)}"
    yield "      ansible.builtin.shell:"
    yield "        cmd: !unsafe |"
    for line in ("set -e", *lines):
        yield f"          {line}".rstrip()
    if parts.cut_off:
        yield f"      when: {CONSOLE} | default(false) | bool"


def _text(text: str) -> str:
    """A text as YAML has it, which no template reads: JSON is YAML."""
    return f"!unsafe {json.dumps(printable(text), ensure_ascii=False)}"
