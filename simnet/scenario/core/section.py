"""What every group of values of a model or a scenario is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A frozen group of values; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
