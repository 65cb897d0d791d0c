"""Which values of the way nothing reads: where no path passes one, and of bursts without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.netem.schema import Netem


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    if reason := _elsewhere(effective):
        yield "netem", reason
        yield "netem_to_system", reason
        return
    for place in ("netem", "netem_to_system"):
        way: Netem = getattr(effective, place)
        if not way.gemodel_p_ppb:
            for field in ("gemodel_r_ppb", "gemodel_h_ppb", "gemodel_k_ppb"):
                yield f"{place}.{field}", f"no burst of losses begins: {place}.gemodel_p is 0"
        if not way.reorders:
            yield f"{place}.gap", f"no frame is reordered: {place}.reorder is 0"
        if not way.delay_ps:
            yield f"{place}.reorder_ppb", f"no frame is late: {place}.delay is 0"


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
