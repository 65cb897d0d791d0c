"""One metric of a comparison."""

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """One metric; percent is of what was predicted, null where that is nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: str
    kind: str = Field(description="of quantity: what is predicted about equally well")
    before: float | None = Field(
        default=None, description="mean measured before a change; the prediction begins there"
    )
    predicted: float
    low: float = Field(description="of the prediction's 95 % interval")
    high: float
    measured: float = Field(description="mean over the captures")
    captures: int = Field(description="files that say it; of a change, on the side with fewer")
    measured_low: float = Field(description="of the mean's 95 % interval; of one capture, itself")
    measured_high: float
    difference: float = Field(description="measured minus predicted")
    percent: float | None
    inside: bool = Field(description="no difference is proven at 95 % confidence")
