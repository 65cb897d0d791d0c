"""What vhost workers did: their counters, and what a result says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.core.subject import Column
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.net.virtio.vhost import VhostWorker
    from simnet.scenario.system.system import Snapshot


def counts_of(worker: VhostWorker) -> dict[str, int]:
    """Cumulative counters of a worker and of the queues that it serves."""
    return {
        "busy_ps": worker.busy_ps(),
        "frames_rx": worker.frames_rx,
        "frames_tx": worker.frames_tx,
        "kicks": worker.nic.kicks,
        "signals": worker.signals,
        "preemptions": worker.preemptions,
        "starved": worker.starved,
        "drops": worker.drops,
    }


def _rows(start: Snapshot, end: Snapshot) -> tuple[dict[str, str | float], ...]:
    """Rates and shares of each worker between two snapshots."""
    elapsed_ps = end.time_ps - start.time_ps
    before: Mapping[str, Any] = start.more.get("vhost", {})
    found = []
    for name, last in end.more.get("vhost", {}).items():
        more = {key: value - before[name][key] for key, value in last.items()}
        row: dict[str, str | float] = {"name": name}
        row["busy"] = 100 * more["busy_ps"] / elapsed_ps
        for key in ("frames_rx", "frames_tx", "kicks", "signals"):
            row[f"{key}_per_s"] = more[key] * PS_PER_S / elapsed_ps
        row |= {key: more[key] for key in ("preemptions", "starved", "drops")}
        found.append(row)
    return tuple(found)


COLUMNS: Final = (
    Column(
        "vhost",
        tuple[dict[str, str | float], ...],
        "one entry a vhost worker: its share of its CPU, frames, kicks and interrupts a second",
        _rows,
        table=True,
        order=65,
    ),
)
