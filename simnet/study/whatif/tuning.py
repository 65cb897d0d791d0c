"""A tuning as typed: names of the scenario's tunings, knobs with values, or both.

``affinity``, ``affinity+numactl``, ``net.ipv4.tcp_low_latency=1,irqbalance=off``,
``affinity+net.ipv4.tcp_low_latency=1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simnet.errors import InputError
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.library import find_scenario, nearest, read_scenario
from simnet.study.work.cases import Case

__all__ = ["Tuning", "read_tuning"]


@dataclass(frozen=True)
class Tuning:
    """One alternative to what is.

    Attributes:
        text: as typed.
        names: tunings of the scenario, in order.
        settings: knobs and values, in order; they apply after the names.
        knobs: what the named tunings set.
        description: what the scenario says of it; empty for knobs alone.
    """

    text: str
    names: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    knobs: frozenset[str]
    description: str

    def on(self, base: Case) -> Case:
        """What the tuning makes of a case: what is asked for comes last."""
        settings = dict(base.settings)
        for name, value in self.settings:
            settings.pop(name, None)
            settings[name] = value
        names = (*base.tunings, *self.names)
        return replace(base, settings=tuple(settings.items()), tunings=names)


def read_tuning(scenario: str, text: str) -> Tuning:
    """Return what a typed tuning stands for.

    Raises:
        InputError: a name that the scenario does not have, or a knob without a value.
    """
    known = read_scenario(find_scenario(scenario))[0].tunings
    names, settings = [], ""
    parts = text.split("+")
    for number, part in enumerate(parts):
        if "=" in part:
            settings = "+".join(parts[number:])
            break
        names.append(part.strip())
    for name in names:
        if name not in known:
            raise _unknown(name, text, known)
    chosen = _settings(settings)
    if "seed" in chosen:
        raise InputError("no tuning: both runs of a pair have the same one, see --seed", key="seed")
    return Tuning(
        text=text,
        names=tuple(names),
        settings=tuple(chosen.items()),
        knobs=frozenset(" ".join(knob.split()) for name in names for knob in known[name].settings),
        description="; ".join(known[name].description for name in names),
    )


def _unknown(name: str, text: str, known: Mapping[str, object]) -> InputError:
    if not name:
        message = "expected the name of a tuning, several with + between, or KNOB=VALUE"
        return InputError(message, key=text or "TUNING")
    if any(knob.match(name) is not None for knob in KNOBS):
        return InputError("expected a value: KNOB=VALUE", key=name)
    has = f": the scenario has {', '.join(known) or 'none'}; else KNOB=VALUE"
    return InputError(f"unknown tuning{nearest(name, known) or has}", key=name)


def _settings(text: str) -> dict[str, str]:
    """Return ``KNOB=VALUE,KNOB=VALUE``; a comma that no name and ``=`` follow is the value's."""
    settings: dict[str, str] = {}
    name = ""
    for part in text.split(",") if text else ():
        before, sign, value = part.partition("=")
        if sign and not before.strip():
            raise InputError("expected KNOB=VALUE", key=text)
        if sign:
            name = before.strip()
            settings.pop(name, None)
            settings[name] = value.strip()
        else:
            settings[name] += f",{part.strip()}"
    return settings
