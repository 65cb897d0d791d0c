"""A component in plain Python that writes down what it is told."""

from collections.abc import Callable
from typing import Any

from simnet.kernel.component import Component


class Recorder(Component):
    """Logs (time, kind, argument), then calls `then(kind, argument)` if there is one."""

    def __init__(self, sim: Any, path: str = "recorder") -> None:
        super().__init__(sim, path)
        self.log: list[tuple[int, int, int]] = []
        self.then: Callable[[int, int], object] | None = None

    def on_event(self, kind: int, arg: int) -> None:
        self.log.append((self.sim.now, kind, arg))
        if self.then is not None:
            self.then(kind, arg)
