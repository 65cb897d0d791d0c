"""Lay the way between two ports that are linked through a switch, with its bottleneck's queue."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simnet.host.delayed_action import DelayedAction
from simnet.kernel.random import stream
from simnet.net.link.netem import Netem
from simnet.net.link.skb import SwitchedPath
from simnet.net.qdisc.bottleneck import Bottleneck
from simnet.net.qdisc.codel import CodelLimits, CodelQueue
from simnet.net.qdisc.qdisc import Qdisc
from simnet.net.qdisc.red import Red, eval_ewma, eval_idle_damping
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.netem.columns import Way, counts_of, more_of
from simnet.scenario.parts.netem.schema import Bottleneck as Queue
from simnet.scenario.parts.netem.schema import Netem as Section
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.resource import Resource, carried
from simnet.time_units import PS_PER_S

_KEPT: Final = "netem"
_BITS: Final = 8
_MTU: Final = 1514
# tcp_init_cwnd, in segments of Ethernet
_FIRST_BYTES: Final = 10 * 1448
# until losses are repaired and the window is found
_ROUNDS: Final = 4


def lay(ground: Ground, near: Any, far: Any) -> None:
    """Let what a port of the system and one of a peer send pass the way.

    Args:
        ground: what the system is made from.
        near: has the path that it sends by, `path_out`.
        far: has the same.
    """
    back = ground.effective.netem_to_system
    both = ground.effective.netem
    _lay(ground, near.path_out, both)
    _lay(ground, far.path_out, back if back.there else both)


def _lay(ground: Ground, path: Any, way: Section) -> None:
    """Let what passes a path pass the way."""
    if not way.there:
        return
    if not isinstance(path, SwitchedPath):
        raise TypeError(f"{path}: no path through a switch")
    ways: list[Way] = ground.kept.setdefault(_KEPT, [])
    if not ways:
        ground.counters[_KEPT] = lambda: counts_of(ways)
        ground.observed[_KEPT] = lambda: more_of(ways)
        ground.resources.append(lambda: _resources(ground, ways))
    queue = ground.effective.bottleneck
    managed = bool(queue.managed and way.rate_bps)
    path.netem = Netem(
        path.path,
        stream(ground.seed, f"{path.path}.netem") if way.random else None,
        delay_ps=way.delay_ps,
        rate_bps=0 if managed else way.rate_bps,
        limit=0 if managed else way.limit,
        loss_ppb=way.loss_ppb,
        begin_ppb=way.gemodel_p_ppb,
        end_ppb=way.gemodel_r_ppb,
        bad_ppb=way.gemodel_h_ppb,
        good_ppb=way.gemodel_k_ppb,
        jitter_ps=way.jitter_ps,
        reorder_ppb=way.reorder_ppb,
        gap=way.gap if way.reorders else 0,
        duplicate_ppb=way.duplicate_ppb,
    )
    bottleneck = None
    if managed:
        discipline = _qdisc(queue, way.rate_bps, ground.seed, path.path)
        name = f"{path.path}.bottleneck"
        bottleneck = Bottleneck(ground.sim, name, path, discipline, way.rate_bps)
        path.queue = bottleneck
    ways.append(Way(path.netem, bottleneck))


def _qdisc(queue: Queue, rate_bps: int, seed: int, path: str) -> Qdisc:
    """The discipline of the queue before a bottleneck."""
    if queue.queue == "codel":
        limits = CodelLimits(
            queue.codel_target_ps,
            queue.codel_interval_ps,
            _MTU,
            ecn=queue.ecn,
            ce_threshold_ps=queue.codel_ce_threshold_ps or None,
        )
        return CodelQueue(limits, queue.codel_limit)
    least, most, burst = queue.red_thresholds
    wlog = eval_ewma(least, burst, queue.red_avpkt_bytes)
    cell_log, shifts = eval_idle_damping(wlog, queue.red_avpkt_bytes, rate_bps)
    return Red(
        stream(seed, f"{path}.red"),
        limit=queue.red_limit_bytes,
        qmin=least,
        qmax=most,
        probability_ppb=queue.red_probability_ppb,
        wlog=wlog,
        cell_log=cell_log,
        shifts=shifts,
        ecn=queue.ecn,
    )


def _resources(ground: Ground, ways: Iterable[Way]) -> Iterator[Resource]:
    """The bottleneck of each direction, if there is one."""
    now = ground.sim.now
    for way in ways:
        name = f"way {way.netem.name}"
        if way.bottleneck:
            yield carried(name, "way", way.bottleneck.bytes, way.bottleneck.rate_bps)
        elif way.netem.rate_bps:
            yield carried(name, "way", way.netem.carried_bytes(now), way.netem.rate_bps)


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """Yield when TCP has left slow start: a window that doubles with every round trip."""
    way, back = effective.netem, effective.netem_to_system
    trip_ps = way.delay_ps + (back if back.there else way).delay_ps
    if not trip_ps or effective.switch is None:
        return
    rate = min(filter(None, (way.rate_bps, back.rate_bps, effective.switch.link_rate_bps)))
    window = rate * trip_ps / PS_PER_S / _BITS
    rounds = _ROUNDS + max(0, math.ceil(math.log2(max(window / _FIRST_BYTES, 1))))
    yield DelayedAction("TCP", f"has had {rounds} round trips to fill the way", rounds * trip_ps)
