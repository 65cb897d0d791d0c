"""What a report is made of. Texts are plain: the template escapes them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from markupsafe import Markup

_MOST_ROWS = 200
_MOST_PRINTED = 40
# of a way, in a row
_MOST_STAGES = 5


@dataclass(frozen=True)
class Notes:
    """Sentences; warnings stand out."""

    form: ClassVar[str] = "notes"
    lines: tuple[str, ...]
    warning: bool = False
    caption: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with values."""

    form: ClassVar[str] = "facts"
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """Cells in rows, the first `left` columns to the left; of a long table the first rows.

    A `folded` one is opened by a click, and is open in print unless it is long.
    """

    form: ClassVar[str] = "table"
    caption: str
    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1
    folded: bool = False

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows that are in the report."""
        return self.rows[:_MOST_ROWS]

    @property
    def long(self) -> bool:
        """Whether print leaves it out where nobody opened it."""
        return len(self.rows) > _MOST_PRINTED

    @property
    def hidden(self) -> int:
        """How many are not."""
        return len(self.rows) - len(self.shown)


@dataclass(frozen=True)
class Picture:
    """A figure as SVG that is part of the page; see `svg`."""

    form: ClassVar[str] = "picture"
    caption: str
    svg: Markup


@dataclass(frozen=True)
class Typed:
    """What to type for one purpose, to be copied as it stands."""

    form: ClassVar[str] = "typed"
    purpose: str
    text: str


@dataclass(frozen=True)
class Use:
    """How full a resource is, 0 to 1, in one case (before, after); without a name: not at all."""

    case: str
    resource: str
    share: float
    drops: int


@dataclass(frozen=True)
class Stage:
    """A station on the way, with the fullest resource of its kind in each case."""

    name: str
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Stages:
    """The way through a system."""

    form: ClassVar[str] = "stages"
    caption: str
    stages: tuple[Stage, ...]

    @property
    def columns(self) -> int:
        """So many stand in a row, that rows are equally long."""
        rows = math.ceil(len(self.stages) / _MOST_STAGES) or 1
        return math.ceil(len(self.stages) / rows)


Block: TypeAlias = Notes | Facts | Table | Picture | Typed | Stages


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Verdict:
    """The answer, and why; `tone` is `good`, `bad`, `open` or `plain`."""

    answer: str
    reason: str
    tone: str = "plain"


@dataclass(frozen=True)
class Part:
    """The answer to one question."""

    question: str  # what was asked
    verdicts: Sequence[Verdict]  # the answer
    sections: Sequence[Section]  # all that stands behind it
    nature: str = "a prediction by simulation"  # what kind of knowledge it is
    of: Sequence[str] = ()  # the machine and its load, a line each
    first: Sequence[Block] = ()  # what stands on the first screen, with the answer
    foot: str = ""  # how much was done for it, and its fingerprint
