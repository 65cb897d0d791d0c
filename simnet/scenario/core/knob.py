"""A knob: how its value is read, written, applied on a real machine and undone."""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

from simnet.host.cpulist import cpu_ranges, cpulist_text, cpus_of_words
from simnet.scenario.core.parameter import Spec, Value
from simnet.scenario.core.specs import PORT_NAME, Flag, Quantity
from simnet.scenario.core.units import UnitError, parse_quantity

_LAST_CPU: Final = 9999
# a large host has one for each of its queues
_MASKS: Final = 4096
# what takes 1 and 0 where others take on and off
_NUMERIC_FLAGS: Final = ("sysctl ", "ip route ", "no ", "echo ", "uci ")
PLACES: Final = {
    "irq": r"\d+",
    "queue": r"\d{1,4}|\*",
    # a bridge is no port of a host
    "port": rf"(?!br-){PORT_NAME}",
    "drive": r"nvme\d+n\d+",
}
"""Patterns of what stands for a place in a name; items of a part of hosts have names of letters."""


@lru_cache(_MASKS)
def cpu_mask_text(cpus: tuple[int, ...]) -> str:
    """Return a mask as ``/proc/irq/N/smp_affinity`` takes it: hexadecimal, commas every 32 CPUs."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    words = []
    while digits:
        digits, word = digits[:-8], digits[-8:]
        words.append(word)
    return ",".join(reversed(words))


@lru_cache(_MASKS)
def _cpus_of_mask(text: str) -> tuple[int, ...]:
    words = text.removeprefix("0x").split(",")
    if not all(re.fullmatch(r"[0-9a-fA-F]{1,64}", word) for word in words):
        raise UnitError(f"expected a hexadecimal CPU mask such as '4' or 'ff', got {text!r}")
    if any(len(word) > 8 for word in words[1:]):  # noqa: PLR2004 (32 CPUs a word)
        raise UnitError(f"expected at most 8 digits after each comma, got {text!r}")
    return cpus_of_words(words)


class Stage(IntEnum):
    """Kinds of settings in the order in which they apply, whatever order they are given in."""

    VALUES = auto()
    """Parameters and values of models: what a knob finds, and changes."""
    CPUS = auto()
    """Knobs that say how many CPUs there are: they decide where interrupts may go."""
    QUEUES = auto()
    """Knobs that say how many queues there are: they decide which of them can be set."""
    KNOBS = auto()
    """All other knobs."""


@dataclass(frozen=True)
class CpuMask(Spec):
    """A set of CPUs as a hexadecimal mask; ``none_allowed`` where 0 switches something off."""

    none_allowed: bool = False

    def parse(self, raw: Any) -> Value:
        """Return the CPUs of the mask, ascending; see :meth:`Spec.parse`."""
        cpus = _cpus_of_mask(str(raw))
        if not cpus and not self.none_allowed:
            raise UnitError("the mask is empty: at least one CPU has to take the interrupt")
        return cpus

    def text(self, value: Any) -> str:
        """Return the mask in hexadecimal."""
        return cpu_mask_text(value)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "string", "pattern": "^(0x)?[0-9a-fA-F]+(,[0-9a-fA-F]{1,8})*$"}


@dataclass(frozen=True)
class CpuList(Spec):
    """A set of CPUs as a list of numbers and ranges, as in ``0,8-11``."""

    all_if_none: bool = False  # none stands for all

    def parse(self, raw: Any) -> Value:
        """Return the CPUs of the list, ascending; see :meth:`Spec.parse`."""
        text = str(raw)
        ranges = cpu_ranges(text)
        if not ranges or max(map(max, ranges)) > _LAST_CPU:
            raise UnitError(f"expected a list of CPUs such as '6' or '0,8-11', got {text!r}")
        for first, last in ranges:
            if first > last:
                raise UnitError(f"{first}-{last} ends before it begins")
        return tuple(sorted({cpu for first, last in ranges for cpu in range(first, last + 1)}))

    def text(self, value: Any) -> str:
        """Return the list, with ranges where CPUs follow each other."""
        return cpulist_text(range(_LAST_CPU + 1) if self.all_if_none and not value else value)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": ["integer", "string"]}


@dataclass(frozen=True)
class NodeNumber(Spec):
    """A NUMA node: its number, ``nic`` for the node of the stream's NIC, ``any`` for no binding."""

    def parse(self, raw: Any) -> Value:
        """Return the node's number, or ``"nic"`` or ``"any"``; see :meth:`Spec.parse`."""
        text = str(raw)
        if text in {"nic", "any"}:
            return text
        if not re.fullmatch(r"\d{1,4}", text):
            raise UnitError(f"expected a node number, nic or any, got {text!r}")
        return int(text)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": ["integer", "string"]}


@dataclass(frozen=True)
class ModelName(Spec):
    """The name of a model, or of a file with one."""

    def parse(self, raw: Any) -> Value:
        """Return the name; see :meth:`Spec.parse`."""
        return str(raw)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "string"}


@dataclass(frozen=True)
class AppliedKnob:
    """A knob as set in a scenario or on the command line."""

    name: str  # as typed
    value: str  # the value that is set
    before: str  # the value without it
    apply: str  # command that sets it on the machine
    undo: str  # command that restores ``before``
    modelled: bool  # False when the model ignores it
    note: str  # caveat; empty when there is none
    source: str  # file and line, or ``--set``
    unknown: str = ""  # why nobody knows what it does here; empty where that is known


@dataclass(frozen=True)
class Knob:
    """One knob, or one for each port, interrupt or queue."""

    # as typed, with ``{port}``, ``{irq}``, ``{queue}`` or ``{disk}`` if there are several, or
    # another name in braces for an item of a part of hosts; for all queues a ``*`` may be
    # typed
    name: str
    doc: str  # what it does, one line
    spec: Spec  # form and legal range of its value
    # what it changes: a part of each host or beside the hosts, by its place (``disks.queue``
    # is the queue of one of a host's disks), a port (``interface``), each of its queues
    # (``rx-queue``, ``tx-queue``), its interrupts, its ``nic``, the ``workload``, a whole
    # ``model`` of the system, ``none`` of these, or what a subject turns itself, see
    # `simnet.scenario.core.subject.Steps`
    scope: str
    # the attribute, which a port and its queues have because a knob changes it; empty for
    # scope ``none``
    target: str
    command: str  # how to set it, with ``{value}``
    # of a port or a queue, its value where the knob was not turned; None for what the NIC
    # says
    default: Any = None
    own: bool = False  # only the system under test has it
    # how, where distributions have other tools than `command` needs; empty for none
    today: str = ""
    unit: str = ""  # unit of a bare number; empty when the value has none
    note: str = ""  # caveat for people
    since: str = "2.6.0"  # first upstream kernel that has it
    # the kernel's attribute that says whether it has it, where distributions differ
    feature: str = ""
    compile_time: bool = False  # it is a constant: the kernel has to be rebuilt
    # network drivers that alone have it; else each has it whose NIC has the target
    drivers: tuple[str, ...] = ()
    needs: str = ""  # the attribute that a NIC has to have for what is set of its queues
    each: str = ""  # the command for all queues, if it is no loop over files
    unset: str = ""  # the command for a value of 0 that stands for not set; empty if `command` does
    system: Literal["linux", "aix"] = "linux"  # operating system that has it
    stage: Stage = Stage.KNOBS  # when it applies
    # the command that sets it over a reboot, too; empty if `command` does, None where a
    # script has to set it at each boot, or a file of sysctls
    keep: str | None = None
    by_hand: bool = False  # no command sets it
    # what has to begin after it was set; empty where it acts at once
    fresh: Literal["", "connections", "sockets"] = ""
    restarts: bool = False  # the port may go down and up again for it
    undone: bool = True  # what it does can be undone
    together: bool = False  # its subject says what is typed for it and others, see `Subject.typed`
    also: tuple[str, ...] = ()  # further attributes of the NIC that it sets to the same value
    remark: Callable[[Any], str] | None = None  # what there is to say of a value; empty for nothing
    modelled: bool = True  # whether a simulation depends on it; not where nothing reads its target

    def fits(self, driver: str, fields: Container[str]) -> bool:
        """Return whether the NICs of a driver, which have these fields, have the knob."""
        needs = self.target if self.scope == "nic" else self.needs
        return (not self.drivers or driver in self.drivers) and (not needs or needs in fields)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        def place(found: re.Match[str]) -> str:
            return f"(?P<{found[1]}>{PLACES.get(found[1], '[a-z]+')})"

        return re.compile(re.sub(r"\\{(\w+)\\}", place, re.escape(self.name)))

    def match(self, name: str) -> dict[str, str] | None:
        """Return port, interrupt and the like of a typed name; None when it is another knob."""
        typed = " ".join(name.split())
        # to compile the patterns of all knobs takes longer than to load a scenario
        front, brace, _ = self.name.partition("{")
        if not brace:
            return {} if typed == front else None
        found = self._pattern.fullmatch(typed) if typed.startswith(front) else None
        return found.groupdict() if found else None

    def typed(self, value: str, parts: Mapping[str, str], *, today: bool = False) -> str:
        """Return the command that sets the knob to a value, as `admin_text` writes it.

        Args:
            value: as `admin_text` writes it.
            parts: port or interrupt in its name.
            today: whether the machine has the tools that distributions come with since 2014.
        """
        on = value == "on"
        verbs = {"start_stop": "start" if on else "stop", "detach": "" if on else " -d"}
        usual = self.today if today and self.today else self.command
        command = self.unset if self.unset and value == "0" else usual
        whole = parts.get("queue") == "*"
        typed = (self.each if whole and self.each else command).format(
            value=value, **verbs, **parts
        )
        if self.each or not whole:
            return typed
        file = self.name.format(**parts)
        return f"for file in {file}; do echo {value} > $file; done"

    def parse(self, raw: Any) -> Value:
        """Return a value in base units; a bare number is in the knob's own unit.

        The machine takes whole numbers of that unit and nothing else, so neither does this.

        Raises:
            UnitError: not a legal value; the message says what was expected.
        """
        if not self.unit:
            return self.spec.parse(raw)
        text = str(raw)
        items = text.split(",") if "," in text else text.split()
        several = isinstance(self.spec, Quantity) and self.spec.length
        typed = [self._with_unit(item) for item in items] if several else self._with_unit(text)
        value = self.spec.parse(typed)
        numbers: Any = value if several else (value,)
        if any(number % self._unit_in_base for number in numbers):
            raise UnitError(f"expected a whole number of {self.unit}, got {text!r}")
        return value

    def _with_unit(self, text: str) -> str:
        bare = re.fullmatch(r"\s*[+-]?[\d.]+\s*", text)
        return f"{text.strip()} {self.unit}" if bare else text

    @cached_property
    def _unit_in_base(self) -> int:
        """Base units in one unit of the knob."""
        if not isinstance(self.spec, Quantity):
            return 1
        return parse_quantity(f"1 {self.unit}", self.spec.quantity_kind)

    def admin_text(self, value: Any) -> str:
        """Return a value (base units) as the real machine takes it."""
        items = value if isinstance(value, tuple) else (value,)
        if isinstance(self.spec, Quantity) and self.unit:
            return " ".join(_number(item, self._unit_in_base) for item in items)
        if isinstance(self.spec, Quantity) and self.spec.kind == "count" and self.spec.length:
            return " ".join(map(str, items))
        if isinstance(self.spec, Flag) and self.command.startswith(_NUMERIC_FLAGS):
            return "1" if value else "0"
        return self.spec.text(value)


def ignored(name: str, doc: str, spec: Spec, command: str, **more: Any) -> Knob:
    """Return a knob that is accepted and that changes nothing here."""
    return Knob(name, doc, spec, "none", "", command, **more)


def _number(value: int, scale: int) -> str:
    """Return a value in a unit; a model's own may be no whole number of it."""
    whole, rest = divmod(value, scale)
    return str(whole) if not rest else f"{value / scale:g}"
