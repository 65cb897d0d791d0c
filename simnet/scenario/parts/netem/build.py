"""Lay the way between two ports that are linked through a switch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from simnet.host.delayed_action import DelayedAction
from simnet.kernel.random import stream
from simnet.net.link.netem import Netem
from simnet.net.link.wire import SwitchedPath
from simnet.scenario.parts.netem.columns import counts_of
from simnet.scenario.system.resource import carried

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.resource import Resource

_KEPT: Final = "netem"
_PS: Final = 10**12
_BITS: Final = 8
# tcp_init_cwnd, in segments of Ethernet
_FIRST_BYTES: Final = 10 * 1448
# until losses are repaired and the window is found
_ROUNDS: Final = 4


def lay(ground: Ground, *sources: Any) -> None:
    """Let what ports and links send pass the way.

    Args:
        ground: what the system is made from.
        sources: each with the path that it sends by, `path_out`.
    """
    way = ground.effective.netem
    if not way.there:
        return
    ways: list[Netem] = ground.kept.setdefault(_KEPT, [])
    if not ways:
        ground.counters[_KEPT] = lambda: counts_of(ways)
        ground.resources.append(lambda: _resources(ground, ways))
    for source in sources:
        path = source.path_out
        if not isinstance(path, SwitchedPath):
            raise TypeError(f"{path}: no path through a switch")
        path.netem = Netem(
            path.path,
            stream(ground.seed, f"{path.path}.netem") if way.random else None,
            delay_ps=way.delay_ps,
            rate_bps=way.rate_bps,
            limit=way.limit,
            loss_ppb=way.loss_ppb,
            begin_ppb=way.gemodel_p_ppb,
            end_ppb=way.gemodel_r_ppb,
            bad_ppb=way.gemodel_h_ppb,
            good_ppb=way.gemodel_k_ppb,
        )
        ways.append(path.netem)


def _resources(ground: Ground, ways: Iterable[Netem]) -> Iterator[Resource]:
    """The bottleneck of each direction, if there is one."""
    now = ground.sim.now
    for way in ways:
        if way.rate_bps:
            yield carried(f"way {way.name}", "way", way.carried_bytes(now), way.rate_bps)


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """Yield when TCP has left slow start: a window that doubles with every round trip."""
    way = effective.netem
    if not way.delay_ps or effective.switch is None:
        return
    rate = min(filter(None, (way.rate_bps, effective.switch.link_rate_bps)))
    window = rate * 2 * way.delay_ps / _PS / _BITS
    rounds = _ROUNDS + max(0, math.ceil(math.log2(max(window / _FIRST_BYTES, 1))))
    yield DelayedAction(
        "TCP", f"has had {rounds} round trips to fill the way", rounds * 2 * way.delay_ps
    )
