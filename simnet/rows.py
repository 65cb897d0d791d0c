"""What results and answers are made of: frozen rows, and the documents that `--json` prints."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
"""A number of things."""
Percent = Annotated[float, Field(ge=0.0, le=100.0)]
"""A share of a whole."""
Rate = Annotated[float, Field(ge=0.0)]
"""What comes in a second."""


class Row(BaseModel):
    """Frozen, and with no fields but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
