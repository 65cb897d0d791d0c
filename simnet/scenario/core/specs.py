"""The kinds of values that a key can take: quantities, names, flags, links."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from simnet.host.cpulist import CPULIST, cpulist_text, parse_cpulist
from simnet.scenario.core.parameter import SHAPE, Spec, Value
from simnet.scenario.core.units import KINDS, Kind, UnitError, format_quantity, parse_quantity

_HASH_KEY: Final = "(microsoft|[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){39})"

ANY: Final = -1
"""As the length of a list: however many."""
# of a number in a message
_MOST_DIGITS: Final = 18


@dataclass(frozen=True)
class Quantity(Spec):
    """A number with a unit, or several."""

    kind: str = "count"  # key of :data:`simnet.scenario.core.units.KINDS`
    low: str = "0"  # smallest legal value, with unit
    high: str = "0"  # largest legal value, with unit
    length: int = 0  # how many numbers; 0 for one number that is not a list, `ANY` for one or more
    fits: bool = False  # whether it and others fit each other or do not: it is not varied by itself

    @property
    def quantity_kind(self) -> Kind:
        """The kind of quantity."""
        return KINDS[self.kind]

    @property
    def suffix(self) -> str:
        """What the attribute name adds to the file's key: the unit."""
        return self.quantity_kind.suffix

    @property
    def unit(self) -> str:
        """The base unit as shown to people."""
        return self.quantity_kind.base

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest legal value in base units."""
        kind = self.quantity_kind
        return parse_quantity(self.low, kind), parse_quantity(self.high, kind)

    def parse(self, raw: Any) -> Value:
        """Return the value in base units; see :meth:`Spec.parse`."""
        if not self.length:
            return self._parse_one(raw)
        items = raw if isinstance(raw, (list, tuple)) else str(raw).split()
        if self.length != ANY and len(items) != self.length:
            raise UnitError(f"expected {self.length} values, got {len(items)}")
        return tuple(self._parse_one(item) for item in items)

    def _parse_one(self, raw: Any) -> int:
        if not isinstance(raw, (str, int, float)):
            kind = self.quantity_kind
            raise UnitError(f"expected {kind.name} such as {kind.example!r}")
        value = parse_quantity(raw, self.quantity_kind)
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise :class:`UnitError` unless ``value`` (base units) is in the legal range."""
        low, high = self.bounds
        for item in value if isinstance(value, tuple) else (value,):
            if not low <= item <= high:
                shown = _shown(item, self.quantity_kind)
                raise UnitError(f"{shown} is outside the legal range {self.low} to {self.high}")

    def text(self, value: Any) -> str:
        """Return ``value`` (base units) as a person writes it."""
        items = value if isinstance(value, tuple) else (value,)
        return ", ".join(format_quantity(item, self.quantity_kind) for item in items)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        one: dict[str, Any] = {
            "description": f"{self.low} to {self.high}",
            SHAPE: "quantity" if self.quantity_kind.unit else "number",
        }
        if not self.length:
            return one
        if self.length == ANY:
            return {"type": "array", "items": one}
        return {"type": "array", "items": one, "minItems": self.length, "maxItems": self.length}


@dataclass(frozen=True)
class Choice(Spec):
    """One of a few names."""

    choices: tuple[str, ...] = ()

    def parse(self, raw: Any) -> Value:
        """Return the name; see :meth:`Spec.parse`."""
        self.check(raw)
        return str(raw)

    def check(self, value: Any) -> None:
        """Raise :class:`UnitError` unless ``value`` is one of the names."""
        if value not in self.choices:
            raise UnitError(f"expected one of {', '.join(self.choices)}, got {value!r}")

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"enum": list(self.choices)}


_FLAGS: Final = {"on": True, "1": True, "true": True, "off": False, "0": False, "false": False}


@dataclass(frozen=True)
class Flag(Spec):
    """On or off."""

    def parse(self, raw: Any) -> Value:
        """Return True or False; see :meth:`Spec.parse`."""
        flag = raw if isinstance(raw, bool) else _FLAGS.get(str(raw).lower())
        if flag is None:
            raise UnitError(f"expected on or off, got {raw!r}")
        return flag

    def text(self, value: Any) -> str:
        """Return ``on`` or ``off``."""
        return "on" if value else "off"

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Feature(Flag):
    """Whether a kernel has something: on or off; left out where its model does not say."""

    since: str = ""  # first upstream version of Linux that has it

    @property
    def when_missing(self) -> str:
        """That nothing is known."""
        return "unknown"


#: an interface's name: what Linux takes (`dev_valid_name`), in letters, digits and the usual marks
PORT_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.-]{0,14}"


@dataclass(frozen=True)
class PortName(Spec):
    """A network interface, or ``none``."""

    def parse(self, raw: Any) -> Value:
        """Return the name; see :meth:`Spec.parse`."""
        self.check(raw)
        return str(raw)

    def check(self, value: Any) -> None:
        """Raise :class:`UnitError` unless ``value`` can be the name of an interface."""
        if not re.fullmatch(PORT_NAME, str(value)):
            raise UnitError(f"expected an interface such as eth0, or none, got {value!r}")

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "string", "pattern": f"^{PORT_NAME}$"}


@dataclass(frozen=True)
class HashKey(Spec):
    """The key of a Toeplitz hash: 40 bytes, as ``ethtool -X`` takes them, or ``microsoft``.

    The name stands for the key that Microsoft verifies the hash with.
    """

    def parse(self, raw: Any) -> Value:
        """Return the bytes as ``6d:5a:...``, or the name; see :meth:`Spec.parse`."""
        self.check(raw)
        return str(raw).lower()

    def check(self, value: Any) -> None:
        """Raise :class:`UnitError` unless ``value`` is a key."""
        if not re.fullmatch(_HASH_KEY, str(value)):
            raise UnitError(f"expected microsoft or 40 bytes such as 6d:5a:56:..., got {value!r}")

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "string", "pattern": f"^{_HASH_KEY}$"}


@dataclass(frozen=True)
class Edges(Spec):
    """The links of a graph: pairs of numbers."""

    def parse(self, raw: Any) -> Value:
        """Return the pairs, smaller number first; see :meth:`Spec.parse`."""
        try:
            pairs = tuple(sorted((min(a, b), max(a, b)) for a, b in raw))
        except (TypeError, ValueError):
            raise UnitError("expected pairs of node numbers such as [[0, 1], [1, 2]]") from None
        if not all(isinstance(end, int) and end >= 0 for pair in pairs for end in pair):
            raise UnitError("expected pairs of node numbers such as [[0, 1], [1, 2]]")
        if any(a == b for a, b in pairs) or len(set(pairs)) != len(pairs):
            raise UnitError("expected each link once and between two different nodes")
        return pairs

    def text(self, value: Any) -> str:
        """Return the pairs as ``0-1 0-2``."""
        return " ".join(f"{a}-{b}" for a, b in value)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        node = {"type": "integer", "minimum": 0}
        pair = {"type": "array", "items": node, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": pair}


@dataclass(frozen=True)
class CpuSets(Spec):
    """Sets of logical CPUs that have none in common, as the kernel lists them: ``0-3,8``."""

    def parse(self, raw: Any) -> Value:
        """Return each set's CPUs, ascending; see :meth:`Spec.parse`."""
        texts = raw if isinstance(raw, (list, tuple)) else [raw]
        sets = [parse_cpulist(text) if _is_cpulist(text) else None for text in texts]
        if not all(sets):
            raise UnitError('expected lists of CPUs such as ["0-3,8-11", "4-7"]')
        every = [cpu for one in sets for cpu in one or ()]
        if len(set(every)) != len(every):
            raise UnitError("expected each CPU in one of the lists")
        return tuple(tuple(sorted(one or ())) for one in sets)

    def text(self, value: Any) -> str:
        """Return the sets as ``0-3,8-11 4-7``."""
        return " ".join(map(cpulist_text, value))

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "array", "items": {"type": "string", "pattern": f"^{CPULIST}$"}}


def _shown(value: int, kind: Kind) -> str:
    """A value that is not legal, briefly: a slip of the hand may have a hundred digits."""
    exact = format_quantity(value, kind)
    number, _, unit = exact.partition(" ")
    return exact if len(number) <= _MOST_DIGITS else f"{float(number):.3g} {unit}".rstrip()


def _is_cpulist(text: Any) -> bool:
    return isinstance(text, str) and re.fullmatch(CPULIST, text) is not None


def time(doc: str, low: str, high: str) -> Quantity:
    """Return the spec of a time; the attribute ends with ``_ps``."""
    return Quantity(doc, "time", low, high)


def size(doc: str, low: str, high: str, length: int = 0) -> Quantity:
    """Return the spec of a size; the attribute ends with ``_bytes``."""
    return Quantity(doc, "size", low, high, length)


def rate(doc: str, low: str, high: str) -> Quantity:
    """Return the spec of a data rate; the attribute ends with ``_bps`` (bits per second)."""
    return Quantity(doc, "rate", low, high)


def frequency(doc: str, low: str, high: str) -> Quantity:
    """Return the spec of a frequency; the attribute ends with ``_hz``."""
    return Quantity(doc, "frequency", low, high)


def cycles(doc: str, low: int = 0, high: int = 1_000_000) -> Quantity:
    """Return the spec of clock cycles; the attribute ends with ``_cycles``."""
    return Quantity(doc, "cycles", f"{low} cycles", f"{high} cycles")


def ratio(doc: str, low: str, high: str, *, fits: bool = False) -> Quantity:
    """Return the spec of a ratio; the attribute ends with ``_permille``."""
    return Quantity(doc, "ratio", low, high, fits=fits)


def share(doc: str, low: str = "0 %", high: str = "100 %") -> Quantity:
    """Return the spec of a share; the attribute ends with ``_ppb`` (parts of a billion)."""
    return Quantity(doc, "share", low, high)


def count(doc: str, low: int, high: int, *, fits: bool = False) -> Quantity:
    """Return the spec of a plain number; the attribute has no suffix."""
    return Quantity(doc, "count", str(low), str(high), fits=fits)
