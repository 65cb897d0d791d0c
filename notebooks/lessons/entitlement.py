"""Two partitions that share processors: which of them has one, in each tenth of a millisecond."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lessons.drawing import BLUE, VERMILION
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MS: Final = 10**9
_WARM_UP: Final = 100 * _MS
_STEP: Final = _MS // 10
_COLOURS: Final = {"sends": VERMILION, "receives": BLUE}


def dispatched(scenario: str, *, steps: int = 400, **settings: str) -> pd.DataFrame:
    """Return the share of each tenth of a millisecond in which a partition has a processor.

    It begins after 100 ms; the index is in ms. The scenario joins two partitions by a virtual LAN,
    and `settings` are further ones.
    """
    system = build(load(scenario, settings=settings), seed=1)
    system.run(_WARM_UP)
    virtual: Any = system.machine.cpus[0].virtual
    partitions = {"sends": virtual.partition, "receives": virtual.pool.partitions[1]}
    consumed = [[one.consumed_ps for one in partitions.values()]]
    for _ in range(steps):
        system.run(_STEP)
        consumed.append([one.consumed_ps for one in partitions.values()])
    shares = np.diff(np.array(consumed), axis=0) / _STEP
    return pd.DataFrame(shares, np.arange(steps) * _STEP / _MS, list(partitions))


def draw_dispatched(found: pd.DataFrame, axes: Axes) -> None:
    """Draw a band for each partition, filled while it has a processor."""
    for place, (name, colour) in enumerate(_COLOURS.items()):
        filled = place + 0.8 * found[name]
        axes.fill_between(found.index, place, filled, step="post", color=colour, label=name)
    axes.set_yticks([0.4, 1.4], list(_COLOURS))
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("partition (has a processor)")
