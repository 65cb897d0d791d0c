"""What the queue before a bottleneck refuses, and which values of the way nothing reads."""

from collections.abc import Iterator

from simnet.net.qdisc.red import eval_ewma
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.tree import Table, Tree
from simnet.scenario.parts.netem.schema import Bottleneck, Netem


def check_bottleneck(tree: Tree, table: Table) -> None:
    """Refuse thresholds of RED that tc would."""
    given = Bottleneck(**tree.get(("bottleneck",)))
    if given.queue != "red":
        return
    least, most, burst = given.red_thresholds
    if not least < most <= given.red_limit_bytes:
        message = (
            f"min {least} B, max {most} B, limit {given.red_limit_bytes} B: expected each more"
        )
        raise table.error(("bottleneck", "red_max_bytes"), "bottleneck", message)
    try:
        eval_ewma(least, burst, given.red_avpkt_bytes)
    except ValueError as error:
        raise table.error(("bottleneck", "red_burst"), "bottleneck", str(error)) from None


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    if reason := _elsewhere(effective):
        yield "netem", reason
        yield "netem_to_system", reason
        yield "bottleneck", reason
        return
    ways = effective.netem, effective.netem_to_system
    if not any(way.rate_bps for way in ways):
        yield "bottleneck", "there is no bottleneck: netem.rate is 0"
    else:
        yield from _queue(effective)
    for place in ("netem", "netem_to_system"):
        way: Netem = getattr(effective, place)
        if not way.gemodel_p_ppb:
            for field in ("gemodel_r_ppb", "gemodel_h_ppb", "gemodel_k_ppb"):
                yield f"{place}.{field}", f"no burst of losses begins: {place}.gemodel_p is 0"
        if not way.reorders:
            yield f"{place}.gap", f"no frame is reordered: {place}.reorder is 0"
        if not way.delay_ps:
            yield f"{place}.reorder_ppb", f"no frame is late: {place}.delay is 0"


def _queue(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield what nothing reads of the queue before a bottleneck."""
    queue = effective.bottleneck
    for field in Bottleneck.model_fields:
        kind, _, rest = field.partition("_")
        if rest and kind != queue.queue:
            yield f"bottleneck.{field}", f"bottleneck.queue is {queue.queue}"
    if not queue.managed:
        yield "bottleneck.ecn", "the queue marks nothing: bottleneck.queue is fifo"
        return
    for place in ("netem", "netem_to_system"):
        if getattr(effective, place).rate_bps:
            yield f"{place}.limit", f"the limit is that of bottleneck.queue={queue.queue}"


def _elsewhere(effective: Effective) -> str:
    """Why no frame passes the way; empty where frames do."""
    outside = effective.kvm is None or any(not peer.guest for peer in effective.peers)
    reasons = (
        (effective.switch is None, "nothing here is on a network"),
        (effective.fabric, "the way through a fabric is not modelled"),
        (effective.hypervisor or not outside, "the hosts share a machine"),
        (effective.lpars, "the way between clients and servers of files is not modelled"),
        (any(port.enslaved for port in effective.ports), "the way behind a bond is not modelled"),
    )
    return next((text for there, text in reasons if there), "")
