"""Settings as given: in which order they apply, and where each was written."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.host.cpulist import cpulist_text
from simnet.scenario.core.tree import Entry
from simnet.scenario.core.units import UnitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simnet.scenario.core.files import ScenarioFile, Setting
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.parameter import Spec
    from simnet.scenario.core.subject import Proposal
    from simnet.scenario.core.toml import Document, KeyPath

_OPTION = "--tuning"
# of an interrupt or a queue, in the name of a file
_NUMBER: Final = re.compile(r"(?<=[-/])\d+(?=/)")
PEER = "peer:"
EACH_PORT = "{port}"
"""In the name of a setting: every port."""


def entries(
    form: ScenarioFile,
    document: Document,
    tunings: Sequence[str],
    settings: Mapping[str, str],
    options: Mapping[str, str],
    captured: Sequence[Entry] = (),
    *,
    ready: Mapping[str, Proposal] = MappingProxyType({}),
) -> list[Entry]:
    """Return all settings in the order in which they apply; of equal names the last one.

    Args:
        form: the scenario.
        document: its file.
        tunings: names of its tunings; they apply after what it sets itself, in this order.
        settings: as typed after ``--set``; they apply after the tunings.
        options: other options of the command, by name.
        captured: from files: the machine as it is, to which tunings come on top.
        ready: tunings that it does not define, by name.
    """
    found = [*_written(form.tuning, document, ("tuning",)), *captured]
    for name in tunings:
        if name in ready:
            proposed = ready[name].settings
            found += [Entry(" ".join(knob.split()), raw, _OPTION) for knob, raw in proposed]
        else:
            found += _written(form.tunings[name].settings, document, ("tunings", name))
    found += [Entry(" ".join(name.split()), raw, "--set") for name, raw in settings.items()]
    found += [Entry(name, raw, f"--{name.replace('_', '-')}") for name, raw in options.items()]
    last = {entry.name: number for number, entry in enumerate(found)}
    return [entry for number, entry in enumerate(found) if last[entry.name] == number]


def _written(table: Mapping[str, Setting], document: Document, path: KeyPath) -> Iterator[Entry]:
    for name, setting in table.items():
        yield Entry(
            " ".join(name.split()),
            setting.value,
            document.file,
            document.line((*path, name)),
            setting.source,
            setting.state,
        )


def tuning_names(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names in ``affinity+numactl`` and the like, in order.

    Raises:
        InputError: an empty name.
    """
    names = []
    for text in given:
        for name in text.split("+"):
            if not name.strip():
                message = "expected names of tunings with + between"
                raise InputError(message, file=_OPTION, key=text or None)
            names.append(name.strip())
    return tuple(names)


def in_rows(names: Iterable[str]) -> list[str]:
    """Return names, those that differ in one number as one: `/proc/irq/{84-87}/smp_affinity`."""
    rows: dict[tuple[str, str], list[int]] = {}
    for name in names:
        found = _NUMBER.search(name)
        start, end = found.span() if found else (len(name), len(name))
        rows.setdefault((name[:start], name[end:]), []).extend([int(found[0])] if found else [])
    return [
        (f"{{{cpulist_text(numbers)}}}" if len(numbers) > 1 else "".join(map(str, numbers))).join(
            ends
        )
        for ends, numbers in rows.items()
    ]


def is_peer(entry: Entry) -> bool:
    """Return whether a setting is one of the peers'."""
    return entry.name.startswith(PEER)


def stands_for(typed: str, name: str) -> bool:
    """Whether what was typed is the name of a setting, or is it for one of the ports."""
    before, each, after = " ".join(typed.split()).partition(EACH_PORT)
    if not each:
        return before == name
    longer = len(name) > len(before) + len(after)
    return longer and name.startswith(before) and name.endswith(after)


def parsed(entry: Entry, parser: Spec | Knob) -> Any:
    """Return the value of a setting in base units.

    Raises:
        InputError: it is no legal value.
    """
    try:
        return parser.parse(entry.raw)
    except UnitError as error:
        raise entry.error(str(error)) from error
