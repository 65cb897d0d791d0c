"""Settings, applied to the models of one scenario again and again.

A study loads a scenario hundreds of times, each time with a few other knobs behind the hundreds of
settings that its file has. A knob that an option gives is turned last; so what is set before it is
applied once, and each load goes on from a copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.scenario.core.knob import AppliedKnob
    from simnet.scenario.core.settings import Settings
    from simnet.scenario.core.tree import Entry

# a search takes turns with the settings of a file, and those without one that it varies
_MOST_KEPT: Final = 4


@dataclass(frozen=True)
class Given:
    """What is applied to models.

    Attributes:
        entries: settings, in the order in which they apply.
        exchanged: models that have taken the place of the scenario's.
        origins: the setting behind each of those, by dotted path.
        remarks: one line each, for people.
    """

    entries: tuple[Entry, ...]
    exchanged: tuple[AppliedKnob, ...] = ()
    origins: tuple[tuple[str, Entry], ...] = ()
    remarks: tuple[str, ...] = ()


class Settled:
    """Applies settings to models.

    Args:
        plain: the models' values; they are not changed.
    """

    def __init__(self, plain: Settings) -> None:
        self._plain = plain
        self._kept = lru_cache(_MOST_KEPT)(self._apply)

    def settings(self, given: Given) -> Settings:
        """Return the values with all settings applied.

        Raises:
            InputError: an unknown name, or a value that cannot be used.
        """
        entries, late = self._plain.of_each_port(given.entries), []
        while entries and (aim := self._plain.late(entries[-1])):
            late.append(aim)
            entries.pop()
        table = self._kept(replace(given, entries=tuple(entries))).copy()
        table.turn(reversed(late))
        table.end()
        return table

    def _apply(self, given: Given) -> Settings:
        aims = self._plain.aimed(given.entries)
        table = self._plain.copy()
        table.applied += given.exchanged
        table.origins |= given.origins
        table.remarks += given.remarks
        table.apply(aims)
        return table
