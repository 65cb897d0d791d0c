"""A tuning as typed: names of tunings, knobs with values or commands that set knobs, or both.

``affinity``, ``affinity+numactl``, ``net.ipv4.tcp_low_latency=1,irqbalance=off``,
``affinity+net.ipv4.tcp_low_latency=1``, ``ethtool -C eth0 rx-usecs 40 tx-usecs 40``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simnet.errors import InputError
from simnet.scenario.commands.ready import READY, named, ready_names, ready_tuning
from simnet.scenario.commands.typed import is_command, knob_named, settings_of_commands
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.library import read_scenario
from simnet.scenario.core.load import unknown_tuning
from simnet.scenario.core.subject import Proposal
from simnet.scenario.scenarios import find_scenario
from simnet.study.work.cases import Case, Member


@dataclass(frozen=True)
class Tuning:
    """One alternative to what is."""

    text: str  # as typed
    names: tuple[str, ...]  # tunings that the scenario defines, or its system has ready, in order
    settings: tuple[tuple[str, str], ...]  # knobs and values, in order; they apply after the names
    knobs: frozenset[str]  # what the named tunings set
    description: str  # what the scenario says of it; empty for knobs alone

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
        InputError: a name that neither the scenario nor its system has, a command that sets no
            knob, or a knob without a value.
    """
    known = read_scenario(find_scenario(scenario))[0].tunings
    names, settings = [], ""
    knobs: list[str] = []
    docs = []
    parts = text.split("+")
    for number, part in enumerate(parts):
        name = named(part.strip())
        ready = None if name in known else _ready(scenario, name)
        if ready is None and name not in known:
            if is_command(part) or "=" in part:
                _check_number(scenario, part)
                settings = "+".join(parts[number:])
                break
            raise _unknown(name, text, scenario, known)
        names.append(name)
        knobs += [knob for knob, _ in ready.settings] if ready else known[name].settings
        docs.append(ready.doc if ready else known[name].description)
    chosen = _commands(settings) if is_command(settings) else _settings(settings)
    if "seed" in chosen:
        raise InputError("no tuning: both runs of a pair have the same one, see --seed", key="seed")
    return Tuning(
        text=text,
        names=tuple(names),
        settings=tuple(chosen.items()),
        knobs=frozenset(" ".join(knob.split()) for knob in knobs),
        description="; ".join(docs),
    )


def _ready(scenario: str, name: str) -> Proposal | None:
    """What the system has ready under a name."""
    return ready_tuning(name, _plain(scenario)) if READY.fullmatch(name) else None


def _check_number(scenario: str, part: str) -> None:
    """Refuse a tuning that takes a number, without one: ``queues=all``."""
    name = part.partition("=")[0].strip()
    if READY.fullmatch(name) and f"{name}=N" in ready_names(_plain(scenario)):
        raise InputError(f"expected a whole number, as in {name}=4", key=part)


def _plain(scenario: str) -> Effective:
    """The system as it is, which other questions ask for as well."""
    return Member(Case(scenario)).effective()


def _unknown(name: str, text: str, scenario: str, known: Mapping[str, object]) -> InputError:
    if not name:
        message = "expected the name of a tuning, several with + between, or KNOB=VALUE"
        return InputError(message, key=text or "TUNING")
    if _is_knob(name):
        return InputError("expected a value: KNOB=VALUE", key=name)
    message = unknown_tuning(name, known, _plain(scenario)).message
    hint = "" if "did you mean" in message else "; else KNOB=VALUE, or a command"
    return InputError(f"{message}{hint}", key=name)


def _is_knob(name: str) -> bool:
    return any(knob.match(name) is not None for knob in KNOBS)


def _commands(text: str) -> dict[str, str]:
    """Return the settings that commands make."""
    found = settings_of_commands(text)
    if found is None:
        if _is_knob(knob_named(text)):
            raise InputError("expected a value", key=text)
        raise InputError("not how a knob of simnet is set: `simnet list knobs` has all", key=text)
    return dict(found)


def _settings(text: str) -> dict[str, str]:
    """Return ``KNOB=VALUE,KNOB=VALUE``; a comma that no name and ``=`` follow is the value's."""
    settings: dict[str, str] = {}
    name = ""
    for part in text.split(",") if text else ():
        before, sign, value = part.partition("=")
        if sign and not before.strip():
            raise InputError("expected KNOB=VALUE", key=text)
        if sign:
            name = knob_named(" ".join(before.split()))
            settings.pop(name, None)
            settings[name] = value.strip()
        else:
            settings[name] += f",{part.strip()}"
    return settings
