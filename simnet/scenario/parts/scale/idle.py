"""Which settings of a file system's clients and servers nothing reads in a configuration."""

from collections.abc import Iterator
from typing import Any, Final

from simnet.scenario.core.effective import Effective

_MIB: Final = 1 << 20
_LINKS: Final = ("storage.miimon_ps", "storage.retransmit_ps", "lpars.failover_ps")


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    storage, scale = effective.storage, effective.scale
    if effective.lpars is None or storage is None or scale is None:
        return
    if storage.mode != "802.3ad":
        yield "storage.xmit_hash_policy", f"the servers' ports are in {storage.mode}, no hash"
    yield "switch.load_balance", "the switch hashes all addresses and ports of a connection"
    yield "switch.buffer_per_port_bytes", "no frame is dropped where flows are simulated"
    if not effective.lan.pause:
        yield "switch.pause_xoff_bytes", "the switch sends no pause"
    for place in _LINKS:
        yield place, "no link fails"
    if not effective.workload.failed_disks:
        yield "filesystem.nsd_raid_reconstruct_aggressiveness", "no disk fails"
    block = scale.block_bytes // _MIB
    yield "scale.maxblocksize_bytes", f"it only permits larger blocks: those here are of {block}M"
    yield from _of_workload(effective, scale)


def _of_workload(effective: Effective, scale: Any) -> Iterator[tuple[str, str]]:
    """What the jobs do not need: the other workload's values, and prefetch where none is."""
    if effective.workload.type == "sas":
        yield "gpfsperf", "SAS jobs run, not gpfsperf"
        return
    yield "sas", "gpfsperf runs, not SAS jobs"
    yield "workload.length_permille", "gpfsperf runs, not SAS jobs"
    gpfsperf, test = effective.gpfsperf, effective.workload.test
    if gpfsperf is None:
        return
    if test != "mixrw-seq":
        yield "gpfsperf.readratio", f"{test} does not mix"
    if gpfsperf.file_bytes <= scale.seq_discard_threshold_bytes:
        yield "scale.seq_discard_threshold_bytes", "no file is larger"
