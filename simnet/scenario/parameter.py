"""One value of a model: what it is, where it comes from and how sure it is.

A model file writes a value as a table::

    rx_usecs = {value = "20 us", state = "datasheet", source = "tg3.h: LOW_RXCOL_TICKS_CLRTCKS"}

``low`` and ``high`` give the range in which the true value is expected; predictions carry it.
A :class:`Spec` says which kind of value a key takes and its legal range. The same spec serves the
file (where it turns the table into a :class:`Parameter`) and the effective value (a plain number).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError, core_schema

from simnet.scenario.units import KINDS, Kind, UnitError, format_quantity, parse_quantity

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

__all__ = [
    "Bare",
    "Choice",
    "Edges",
    "Flag",
    "ModelState",
    "Parameter",
    "Quantity",
    "Scalar",
    "Spec",
    "State",
    "Value",
    "count",
    "cycles",
    "frequency",
    "rate",
    "ratio",
    "size",
    "time",
]

# How sure a value of a model is.
ModelState: TypeAlias = Literal["measured", "datasheet", "calibrated", "assumed"]
# Values that a scenario or a person sets are neither sure nor unsure.
State: TypeAlias = Literal["measured", "datasheet", "calibrated", "assumed", "chosen"]
Value: TypeAlias = int | bool | str | tuple[int, ...] | tuple[tuple[int, int], ...]
Scalar: TypeAlias = str | int | float | bool
Raw: TypeAlias = Scalar | list[Scalar] | list[list[int]]


class Parameter(BaseModel):
    """A value with its provenance.

    Attributes:
        value: in base units: ps, bytes, bit/s, Hz, cycles, permille, or a plain number.
        unit: the base unit as shown to people; empty for plain numbers, names and flags.
        source: document, kernel file or data sheet, or the file and line or option that set it.
        state: how sure the value is.
        low: lower end of the range in which the true value is expected; None when not ranged.
        high: upper end of that range.
        text: the value as a person writes it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Value
    unit: str
    source: str
    state: State
    low: int | None = None
    high: int | None = None
    text: str

    @property
    def suffix(self) -> str:
        """What the attribute of such a value ends with, and the key in files does not."""
        return _kind_of(self.unit).suffix

    @property
    def range(self) -> str:
        """The range as a person writes it; empty without one."""
        if self.low is None or self.high is None:
            return ""
        kind = _kind_of(self.unit)
        return f"{format_quantity(self.low, kind)} to {format_quantity(self.high, kind)}"


def _kind_of(unit: str) -> Kind:
    return next((kind for kind in KINDS.values() if unit and kind.base == unit), KINDS["count"])


class _Table(BaseModel):
    """The table that stands in a model file; converted by a spec into a `Parameter`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    value: Any
    source: str
    state: ModelState
    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Spec:
    """What a key takes.

    Attributes:
        doc: one line for people: what the value is.
    """

    doc: str

    @property
    def suffix(self) -> str:
        """What the attribute name adds to the file's key: the unit."""
        return ""

    @property
    def unit(self) -> str:
        """The base unit as shown to people."""
        return ""

    def key(self, attribute: str) -> str:
        """Return the key in files of the value that is called ``attribute`` in code."""
        return attribute.removesuffix(self.suffix) if self.suffix else attribute

    def parse(self, raw: Any) -> Value:
        """Return the value in base units.

        Raises:
            UnitError: ``raw`` is no legal value; the message says what was expected.
        """
        raise NotImplementedError

    def check(self, value: Any) -> None:
        """Raise :class:`UnitError` unless ``value`` (base units) is in the legal range."""

    def text(self, value: Any) -> str:
        """Return ``value`` (base units) as a person writes it."""
        return str(value)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        raise NotImplementedError

    def _from_table(self, table: _Table) -> Parameter:
        value = _convert(self, table.value, "value")
        low = None if table.low is None else _convert(self, table.low, "low")
        high = None if table.high is None else _convert(self, table.high, "high")
        if (low is None) != (high is None):
            raise PydanticCustomError("range", "low and high go together: give both or neither")
        if low is not None and not _ordered(low, value, high):
            raise PydanticCustomError("range", "expected low <= value <= high")
        return Parameter(
            value=value,
            unit=self.unit,
            source=table.source,
            state=table.state,
            low=low,  # type: ignore[arg-type]  # only quantities have ranges: `_ordered` saw to it
            high=high,  # type: ignore[arg-type]
            text=self.text(value),
        )

    def table_schema(self, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the validator that turns a table into a :class:`Parameter`."""
        return core_schema.no_info_after_validator_function(
            self._from_table, handler.generate_schema(_Table)
        )

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        if source is Parameter:
            table = self.table_schema(handler)
            return core_schema.no_info_before_validator_function(_sourced, table)
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        del schema, handler
        bound = {"type": ["string", "integer", "number"]}
        return {
            "type": "object",
            "description": self.doc,
            "additionalProperties": False,
            "required": ["value", "source", "state"],
            "properties": {
                "value": self.value_schema(),
                "source": {"type": "string", "minLength": 1},
                "state": {"enum": ["measured", "datasheet", "calibrated", "assumed"]},
                "low": bound,
                "high": bound,
            },
        }

    def _checked(self, value: Any) -> Any:
        try:
            self.check(value)
        except UnitError as error:
            raise PydanticCustomError("value", "{why}", {"why": str(error)}) from error
        return value


def _sourced(raw: Any) -> Any:
    """Refuse an empty source: whoever reads a value must be able to check it."""
    if isinstance(raw, dict) and raw.get("source") == "":
        raise PydanticCustomError("value", "{why}", {"why": "is empty", "field": "source"})
    return raw


def _convert(spec: Spec, raw: Any, field: str) -> Value:
    try:
        return spec.parse(raw)
    except UnitError as error:
        raise PydanticCustomError("value", "{why}", {"why": str(error), "field": field}) from error


def _ordered(low: Any, value: Any, high: Any) -> bool:
    numbers = all(isinstance(item, int) and not isinstance(item, bool) for item in (low, high))
    return numbers and low <= value <= high


@dataclass(frozen=True)
class Quantity(Spec):
    """A number with a unit, or several.

    Attributes:
        kind: key of :data:`simnet.scenario.units.KINDS`.
        low: smallest legal value, with unit.
        high: largest legal value, with unit.
        length: how many numbers; 0 for one number that is not a list.
    """

    kind: str = "count"
    low: str = "0"
    high: str = "0"
    length: int = 0

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
        if len(items) != self.length:
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
                shown = format_quantity(item, self.quantity_kind)
                raise UnitError(f"{shown} is outside the legal range {self.low} to {self.high}")

    def text(self, value: Any) -> str:
        """Return ``value`` (base units) as a person writes it."""
        items = value if isinstance(value, tuple) else (value,)
        return ", ".join(format_quantity(item, self.quantity_kind) for item in items)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        one: dict[str, Any] = {
            "description": f"{self.doc}; {self.low} to {self.high}",
            "examples": [self.quantity_kind.example],
        }
        if self.quantity_kind.unit:
            one["type"] = "string"
            one["pattern"] = r"^\s*\d[\d_]*(\.\d+)?([eE][+-]?\d+)?\s*[^\s\d].*$"
        else:
            one["type"] = ["integer", "number", "string"]
        if not self.length:
            return one
        return {
            "type": "array",
            "items": one,
            "minItems": self.length,
            "maxItems": self.length,
        }


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
        return {"enum": list(self.choices), "description": self.doc}


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
        return {"type": "boolean", "description": self.doc}


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
        return {"type": "array", "items": pair, "description": self.doc}


@dataclass(frozen=True)
class Bare:
    """Lets a scenario write ``message = "8 KiB"`` where a model would need a table.

    The parameter's source is empty; the loader fills in file and line.
    """

    spec: Spec

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        del source
        table = self.spec.table_schema(handler)
        return core_schema.no_info_wrap_validator_function(self._parse, table)

    def _parse(self, raw: Any, table: core_schema.ValidatorFunctionWrapHandler) -> Any:
        if isinstance(raw, dict):
            return table(raw)
        value = _convert(self.spec, raw, "value")
        unit, text = self.spec.unit, self.spec.text(value)
        return Parameter(value=value, unit=unit, source="", state="chosen", text=text)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        table = self.spec.__get_pydantic_json_schema__(schema, handler)
        return {"description": self.spec.doc, "anyOf": [self.spec.value_schema(), table]}


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


def ratio(doc: str, low: str, high: str) -> Quantity:
    """Return the spec of a ratio; the attribute ends with ``_permille``."""
    return Quantity(doc, "ratio", low, high)


def count(doc: str, low: int, high: int) -> Quantity:
    """Return the spec of a plain number; the attribute has no suffix."""
    return Quantity(doc, "count", str(low), str(high))
