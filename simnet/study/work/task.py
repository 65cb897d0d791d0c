"""One simulation to do, here or on another machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simnet.study.run.run import simulate

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.run.result import Result
    from simnet.study.work.store import Store


@dataclass(frozen=True)
class Task:
    """One simulation to do, with all that it needs: no file is read where it is done."""

    number: int  # distinguishes it from the others
    effective: Effective  # what to simulate
    settings: tuple[tuple[str, str], ...]  # for the record in the result
    key: str  # names its result in a store

    def __str__(self) -> str:
        """What it simulates, as a person would set it."""
        given = ", ".join(f"{name}={value}" for name, value in self.settings)
        tuned = "+".join(self.effective.tunings)
        parts = (self.effective.scenario, tuned, given, f"seed {self.effective.run.seed}")
        return ", ".join(part for part in parts if part)

    def done(self, store: Store) -> Result:
        """Simulate, keep the result and return it; one that a lost process has kept is taken."""
        result = store.get(self.key)
        if result is None:
            result = simulate(self.effective, settings=dict(self.settings))
            store.put(self.key, result)
        return result
