"""What switching irqbalance on or off does not change in a simulation."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective

_STILL: Final = frozenset({"settled", "off"})


def same(before: Effective, after: Effective) -> Iterator[str]:
    """Yield that interrupts do not move where the daemon is represented by where it left them."""
    if before.irqbalance != after.irqbalance and {before.irqbalance, after.irqbalance} == _STILL:
        yield (
            "irqbalance is not simulated here, its map is frozen: interrupts stay where it has left"
            " them, with it and without; irqbalance.map=daemon simulates it"
        )
