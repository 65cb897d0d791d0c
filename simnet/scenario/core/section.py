"""What every group of values of a model or a scenario is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Section"]


class Section(BaseModel):
    """A frozen group of values; unknown keys are errors.

    Attributes:
        by: attribute that chooses one of the section's variants; empty where there are none.
        beside: keys that a model's file may have beside values, as pydantic takes them: no part
            of what is modelled.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    by: ClassVar[str] = ""
    beside: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @classmethod
    def variants(cls) -> Mapping[str, type[Section]]:
        """Return what a model consists of, by the value of the attribute `by`."""
        return {}

    @classmethod
    def unused(cls, values: Mapping[str, Any]) -> Collection[str]:  # noqa: ARG003 - for others
        """Return the attributes that nothing reads beside such values: they cannot be set."""
        return ()
