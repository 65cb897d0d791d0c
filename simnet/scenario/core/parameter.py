"""One value of a model: what it is, where it comes from and how sure it is.

A model file writes a value as a table::

    rx_usecs = {value = "20 us", state = "datasheet", source = "tg3.h: LOW_RXCOL_TICKS_CLRTCKS"}

``low`` and ``high`` give the range in which the true value is expected; predictions carry it.
A :class:`Spec` says which kind of value a key takes and its legal range. The same spec serves the
file (where it turns the table into a :class:`Parameter`) and the effective value (a plain number).
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from simnet.scenario.core.units import KINDS, Kind, UnitError, format_quantity

# How sure a value of a model is.
ModelState: TypeAlias = Literal["measured", "datasheet", "calibrated", "assumed"]
# Values that a scenario or a person sets are neither sure nor unsure.
State: TypeAlias = Literal["measured", "datasheet", "calibrated", "assumed", "chosen"]
Value: TypeAlias = (
    int | bool | str | tuple[int, ...] | tuple[str, ...] | tuple[tuple[int, ...], ...]
)
Scalar: TypeAlias = str | int | float | bool


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

    def as_text(self, value: int) -> str:
        """Return another value (base units) as a person writes it."""
        return format_quantity(value, _kind_of(self.unit))

    @property
    def range(self) -> str:
        """The range as a person writes it; empty without one."""
        if self.low is None or self.high is None:
            return ""
        kind = _kind_of(self.unit)
        return f"{format_quantity(self.low, kind)} to {format_quantity(self.high, kind)}"


def _kind_of(unit: str) -> Kind:
    return next((kind for kind in KINDS.values() if unit and kind.base == unit), KINDS["count"])


SHAPE: Final = "shape"
"""In a generated JSON schema: the name of a part of :mod:`simnet.scenario.core.jsonschema`."""


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
    """What a key takes."""

    doc: str  # one line for people: what the value is

    @property
    def when_missing(self) -> str:
        """What a model means that leaves the value out; empty: the default, as any other value."""
        return ""

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
        value = {"value": self.value_schema()}
        return {"description": self.doc, SHAPE: "sourced", "properties": value}

    def _checked(self, value: Any) -> Any:
        try:
            self.check(value)
        except UnitError as error:
            raise PydanticCustomError("value", "{why}", {"why": str(error)}) from error
        return value


def _sourced(raw: Any) -> Any:
    """Refuse an empty source: a reader of a value must be able to check it."""
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
