"""Commands of an administrator, read as settings: ``ethtool -G eth0 rx 4096``.

What a knob has typed is read backwards, so a command is known if it is how a knob is set. Several
stand with ``;`` or ``&&`` between. Nothing is executed.

Sources: ethtool(8), ip-link(8), sysctl(8), systemctl(1), service(8).
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from simnet.scenario.commands.distribution import STYLES
from simnet.scenario.core.entries import PEER
from simnet.scenario.core.knob import PLACES, Knob
from simnet.scenario.core.knobs import KNOBS, knob_of

_LONGEST: Final = 100_000
_PLACE: Final = re.compile(r"\\\{(\w+)\\\}")
_EACH_PORT: Final = r"\{port\}"
# ethtool -C eth0 rx-usecs 20 tx-usecs 50: what is before the pairs
_ETHTOOL_HEAD: Final = 3
_PAIR: Final = 2
_VERBS: Final = {"stop": "off", "start": "on"}
_LOOP: Final = re.compile(r"for \w+ in (\S+); do echo (\S+) > \$\w+; done")


class _Form(NamedTuple):
    """A command of a knob, word by word, and the knob."""

    words: tuple[re.Pattern[str], ...]
    knob: Knob


def settings_of_commands(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the settings that commands make, in their order; None if one of them is no knob's.

    Args:
        text: one command or several; ``sudo`` before them is passed over.
    """
    found: list[tuple[str, str]] = []
    for words in _commands(text):
        for single in _each(words):
            setting = _setting(single)
            if setting is None:
                return None
            found.append(setting)
    return tuple(found) or None


def knob_named(typed: str) -> str:
    """Return the name of the knob that a command without its value sets, else what was typed.

    Of ``ip link set dev eth0 mtu`` it is ``ifconfig eth0 mtu``; the peers' have ``peer:`` before.
    """
    peer, name = (PEER, typed[len(PEER) :]) if typed.startswith(PEER) else ("", typed)
    if " " not in name or knob_of(name) is not None:
        return typed
    found = settings_of_commands(f"{name} 1")
    return f"{peer}{found[0][0]}" if found is not None and len(found) == 1 else typed


def is_command(text: str) -> bool:
    """Whether a text is a command that sets a knob, or begins as one does and assigns nothing."""
    words = next(iter(_commands(text)), ())
    if not words or words[0] not in _programs():
        return False
    return "=" not in text or settings_of_commands(text) is not None


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the commands of a text, each as its words."""
    if len(text) > _LONGEST:
        return
    lexer = shlex.shlex(_LOOP.sub(r"echo \2 > \1", text), posix=True, punctuation_chars=";&|>")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return
    command: list[str] = []
    for word in (*words, ";"):
        if word not in {";", "&&"}:
            command.append(word)
            continue
        if command[:1] == ["sudo"]:
            del command[0]
        if command:
            yield tuple(command)
        command = []


def _each(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a command for each of the settings that one makes at once."""
    head, pairs = tuple(words[:_ETHTOOL_HEAD]), words[_ETHTOOL_HEAD:]
    if words[0] == "ethtool" and len(pairs) > _PAIR and len(pairs) % _PAIR == 0:
        for first in range(0, len(pairs), _PAIR):
            yield (*head, *pairs[first : first + _PAIR])
    elif words[0] == "sysctl":
        for one in words[1:]:
            if one not in {"-w", "-q"}:
                yield "sysctl", "-w", one
    else:
        yield tuple(words)


def _setting(words: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the name of a knob and its value, as a command sets it."""
    for form in _forms():
        if len(form.words) != len(words):
            continue
        matches = [one.fullmatch(word) for one, word in zip(form.words, words, strict=True)]
        if not all(matches):
            continue
        parts = {name: text for one in matches if one for name, text in one.groupdict().items()}
        value = parts.pop("value", "")
        return form.knob.name.format(**parts), _VERBS.get(parts.get("verb", ""), value)
    return None


@cache
def _forms() -> tuple[_Form, ...]:
    return tuple(
        _Form(tuple(re.compile(_PLACE.sub(_group, re.escape(word))) for word in words), knob)
        for knob in KNOBS
        for command in _typed(knob)
        if (words := _words(command)) and any("{" in word for word in words)
    )


def _typed(knob: Knob) -> Iterator[str]:
    """Yield the commands that set a knob, whatever the machine's age."""
    if knob.scope == "irqbalance":
        for style in STYLES:
            yield style.irqbalance
    elif not knob.by_hand and not knob.compile_time:
        yield from filter(None, (knob.command, knob.today))
        if knob.today.startswith("ip link set dev "):
            yield knob.today.replace(" dev ", " ", 1)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _group(found: re.Match[str]) -> str:
    name = found[1]
    if name == "verb":
        return f"(?P<verb>{'|'.join(_VERBS)})"
    pattern = ".+" if name == "value" else PLACES.get(name, "[a-z]+")
    return f"(?P<{name}>{pattern}{f'|{_EACH_PORT}' if name == 'port' else ''})"


@cache
def _programs() -> frozenset[str]:
    return frozenset({words[0] for knob in KNOBS for one in _typed(knob) if (words := _words(one))})
