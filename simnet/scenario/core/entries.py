"""Settings as given: in which order they apply, and where each was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.errors import InputError
from simnet.scenario.core.library import nearest
from simnet.scenario.core.tree import Entry
from simnet.scenario.core.units import UnitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simnet.scenario.core.files import ScenarioFile, Setting
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.parameter import Spec
    from simnet.scenario.core.toml import Document, KeyPath

__all__ = ["EACH_PORT", "PEER", "entries", "is_peer", "parsed", "stands_for", "tuning_names"]

_OPTION = "--tuning"
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
) -> list[Entry]:
    """Return all settings in the order in which they apply; of equal names the last one.

    Args:
        form: the scenario.
        document: its file.
        tunings: names of its tunings; they apply after what it sets itself, in this order.
        settings: as typed after ``--set``; they apply after the tunings.
        options: other options of the command, by name.
        captured: from files: the machine as it is, to which tunings come on top.

    Raises:
        InputError: a tuning that the scenario does not have; the message names the nearest.
    """
    found = [*_written(form.tuning, document, ("tuning",)), *captured]
    for name in tunings:
        if name not in form.tunings:
            known = f"the scenario has {', '.join(form.tunings) or 'none'}"
            message = f"unknown tuning{nearest(name, form.tunings) or f': {known}'}"
            raise InputError(message, file=_OPTION, key=name)
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
