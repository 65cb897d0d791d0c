"""What a cure would change, as a diagnosis has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Prediction"]


@dataclass(frozen=True)
class Prediction:
    """What a cure would change, or why that is not said.

    Attributes:
        whatif: the cure as `simnet whatif` takes it.
        verdict: `yes`, `no`, `no difference` or `cannot tell`; empty without a prediction.
        said: gain and price in words.
        changes: each measure before and after, with its change and range in percent.
        load: the file that shows what is carried.
        why: why there is no prediction; empty if there is one.
    """

    whatif: str
    verdict: str = ""
    said: str = ""
    changes: tuple[dict[str, Any], ...] = ()
    load: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        if self.why:
            return {"whatif": self.whatif, "verdict": "", "why": self.why}
        return {
            "whatif": self.whatif,
            "verdict": self.verdict,
            "said": self.said,
            "load": self.load,
            "changes": list(self.changes),
        }
