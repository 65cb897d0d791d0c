"""What a cure would change, as a diagnosis has it."""

from typing import Final

from pydantic import Field

from simnet.rows import Row

TELLS_LOAD: Final = "sar -n DEV, two samples of ethtool -S or the output of a test"
"""What shows the load that a prediction is of."""
WOULD_TELL: Final = f"{TELLS_LOAD} would tell"
"""What to say where nothing does."""


class Moves(Row):
    """One measure before and after a cure."""

    metric: str
    unit: str
    before: float
    after: float | None
    change: str = Field(description="in percent, as printed")
    range: str = Field(description="what the change lies in, as printed; empty if not known")


class Prediction(Row):
    """What a cure would change, or why that is not said."""

    whatif: str = Field(description="the cure as `simnet whatif` takes it")
    verdict: str = Field(
        default="", description="yes, no, no difference or cannot tell; empty without a prediction"
    )
    said: str = Field(default="", description="what decides, and why, in words")
    load: str = Field(default="", description="the file that shows what is carried")
    changes: tuple[Moves, ...] = ()
    why: str = Field(default="", description="why there is no prediction; empty if there is one")
