"""What `simnet diagnose --json` prints: the document `simnet.diagnose/1`."""

from typing import Final, Literal

from pydantic import Field

from simnet.diagnose.prediction import Prediction
from simnet.rows import Count, Printed, Row

SCHEMA: Final = "simnet.diagnose/1"


class Evidence(Row):
    """A value, and the line that says it."""

    file: str
    line: Count
    kind: str
    name: str
    value: float
    text: str = Field(description="the value as printed; empty for counters")


class Command(Row):
    """What to type."""

    do: str
    undo: str = Field(description="what takes it back; empty where nothing does or need")
    whatif: str = Field(description="as `simnet whatif` takes it; empty if it is not modelled")


class Finding(Row):
    """Where something is lost, by which evidence, and what cures it."""

    rule: str
    title: str
    place: str
    subject: str = Field(description="port, CPU or device; empty for the host")
    outside: bool = Field(description="no setting of the host cures it")
    sure: str = Field(description="certain, likely or possible")
    weight: float = Field(description="how much it matters, 0 to 100")
    said: str = Field(description="the evidence in words")
    evidence: tuple[Evidence, ...]
    means: str
    cure: str
    commands: tuple[Command, ...]
    modelled: bool
    prediction: Prediction | None
    threshold: str
    source: str


class Place(Row):
    """A place where nothing is lost, and what says so."""

    place: str
    said: str
    file: str
    line: Count


class Unread(Row):
    """A command in a file of whose output nothing is known."""

    line: Count
    typed: str


class File(Row):
    """What was read of a file."""

    name: str
    lines: Count
    facts: Count
    kinds: dict[str, Count] = Field(description="values by the output that they are of")
    unread: tuple[Unread, ...]
    broken: str = Field(default="", description="why nothing of a JSON or XML can be read")


class Document(Printed):
    """The answer."""

    schema_: Literal["simnet.diagnose/1"] = Field(default=SCHEMA, alias="schema")
    version: str
    sources: tuple[str, ...] = Field(description="as they were typed; empty for this machine")
    verdict: Literal["nothing wrong", "found", "cannot tell"]
    outside: bool = Field(description="the heaviest finding is outside of the host")
    findings: tuple[Finding, ...]
    ruled_out: tuple[Place, ...]
    ask: tuple[str, ...] = Field(description="outputs that would tell most of what is missing")
    systems: tuple[str, ...] = Field(
        default=(), description="other than Linux that files are of: nothing else is read of these"
    )
    files: tuple[File, ...]
