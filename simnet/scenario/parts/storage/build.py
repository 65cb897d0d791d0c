"""Build a system of a client with virtual disks and their server."""

from collections.abc import Iterator
from typing import Any

from simnet.host.delayed_action import DelayedAction
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.storage.machines import DiskFlow, Storage
from simnet.scenario.parts.storage.resources import StoragePath
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import System


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """The first look of pdflush, which writes what has been dirty for long."""
    interval_ps = effective.kernel.dirty_writeback_ps
    if effective.ffsb and interval_ps:
        yield DelayedAction("pdflush", "first looks for old pages", interval_ps)


def build_storage(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put disks, virtual SCSI and threads around two machines; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    server = ground.add_machine(effective.peers[0], "peer0")
    storage = Storage(ground.env, effective, ground.machine, server, seed=seed)
    return System(
        ground.env,
        ground.machine,
        (),
        [(name, name, DiskFlow(queue)) for name, queue in storage.queues.items()],
        {"storage": storage},
        offers=StoragePath(storage),
        waiting=storage,
        counters={"disks": storage.disks, "peer_cpus": storage.peer_cpus},
        ground=ground,
    )
