"""What results and answers are made of: frozen rows, and the documents that `--json` prints."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
"""A number of things."""
Percent = Annotated[float, Field(ge=0.0, le=100.0)]
"""A share of a whole."""
Rate = Annotated[float, Field(ge=0.0)]
"""What comes in a second."""


def or_dash(value: float | None, form: str) -> str:
    """Return a number as a format has it; a dash where there is none."""
    return "-" if value is None else f"{value:{form}}"


@dataclass(frozen=True)
class Shown:
    """How every table shows a number; it stands at the field, `Annotated[Rate, Shown(...)]`."""

    heading: str  # of its column, with the unit that it is shown in
    digits: int = 0  # decimals
    scale: float = 1.0  # shown units in one of its own

    def text(self, value: float | None, comma: str = "") -> str:
        """Return a value in the unit that it is shown in; a comma separates thousands."""
        scaled = None if value is None else value * self.scale
        return or_dash(scaled, f"{comma}.{self.digits}f")


class Row(BaseModel):
    """Frozen, and with no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def shown(cls, name: str) -> Shown:
        """Return how tables show a field."""
        return next(one for one in cls.model_fields[name].metadata if isinstance(one, Shown))

    @classmethod
    def headings(cls, names: Iterable[str]) -> list[str]:
        """Return the headings of the columns of fields."""
        return [cls.shown(name).heading for name in names]

    def cells(self, names: Iterable[str], comma: str = "") -> list[str]:
        """Return fields as tables show them."""
        return [self.shown(name).text(getattr(self, name), comma) for name in names]


class Printed(Row):
    """A document; its key `schema` says of which kind and version."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: str = Field(alias="schema")

    def to_json(self, *, indent: int | None = 2) -> str:
        """The document as the command prints it with `--json`."""
        return self.model_dump_json(by_alias=True, indent=indent)


class Study(Printed):
    """The answer to a question about a scenario, from many runs."""

    scenario: str
    version: str
    fingerprint: str = Field(description="digest of the fingerprints of all results behind it")
    settings: dict[str, str] = Field(description="knobs set for all runs")
    options: dict[str, str] = Field(default={}, description="those that say how runs are made")
    source: str = Field(default="", description="the scenario as it was typed: a name or a path")
    machine: tuple[str, ...] = Field(
        default=(), description="machine and cards, and kernel and load: a line each"
    )
