"""What partitions that are clients of a file system need, and which settings nothing reads."""

from collections.abc import Iterator
from typing import Any, Final

from simnet.errors import InputError
from simnet.scenario.core.checks import check_message
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.tree import Path, Table, Tree, dotted
from simnet.scenario.parts.storage.checks import check_disk_model

_MIB: Final = 1 << 20
_PERMILLE: Final = 1000
_GRAIN_BYTES: Final = 4096
_DISKS: Final = ("disk", "log_disk")
_TESTS: Final = {"sas": ("20-test", "30-test"), "gpfsperf": ("create-seq", "read-seq", "mixrw-seq")}
_LINKS: Final = ("storage.miimon_ps", "storage.retransmit_ps", "lpars.failover_ps")


def check_clients(tree: Tree, table: Table) -> None:
    """Check clients of a file system.

    Raises:
        InputError: more cores or memory than the server has, a pagepool that a partition has no
            memory for, a block size that there is not, tracks, threads or a log that the servers
            cannot have, disks that are none, a test of another workload.
    """
    check_message(tree, table)
    _check_parts(tree, table)
    _check_cores(tree, table)
    _check_scale(tree, table)
    _check_servers(tree, table)
    for name in _DISKS:
        check_disk_model((name,), tree.get((name,)), name, table)
    _check_workload(tree, table)


def _check_parts(tree: Tree, table: Table) -> None:
    for key, place in (
        ("client", "scale"),
        ("storage", "storage"),
        ("file_system", "filesystem"),
        ("sas", "sas"),
        ("switch", "switch"),
    ):
        if place not in tree.values:
            raise table.error((place,), "system", f"{key}: missing, there are lpars")


def _check_cores(tree: Tree, table: Table) -> None:
    lpars, machine, cpu = (tree.get(path) for path in _PARTS)
    name = tree.get(("host", "name"))
    there = machine["nodes"] * machine["sockets_per_node"] * cpu["cores_per_socket"]
    cores = lpars["cores"]
    if sum(cores) > there:
        message = f"{sum(cores)} cores in {len(cores)} partitions: {name} has {there}"
        raise table.error(("lpars", "cores"), "system.lpars", message)
    memory = machine["nodes"] * machine["memory_per_node_bytes"]
    if lpars["memory_bytes"] * len(cores) > memory:
        message = f"{len(cores)} partitions of {lpars['memory_bytes']} B: {name} has {memory} B"
        raise table.error(("lpars", "memory_bytes"), "system.lpars", message)
    if lpars["threads"] not in {1, 2, 4} or lpars["threads"] > cpu["threads_per_core"]:
        message = f"expected 1, 2 or 4 threads of a core, got {lpars['threads']}"
        raise table.error(("lpars", "threads"), "system.lpars", message)


_PARTS: Final[tuple[Path, ...]] = (("lpars",), ("host", "machine"), ("host", "cpu"))


def _check_scale(tree: Tree, table: Table) -> None:
    scale, lpars = tree.get(("scale",)), tree.get(("lpars",))
    block = scale["block_bytes"]
    path: Path = ("scale", "block_bytes")
    if block % _MIB or (block // _MIB) & (block // _MIB - 1):
        raise table.error(path, "system.client", f"expected 1M, 2M, 4M, 8M or 16M, got {block} B")
    if block > scale["maxblocksize_bytes"]:
        message = (
            f"blocks of {block // _MIB}M: mmchconfig maxblocksize is"
            f" {scale['maxblocksize_bytes']} B"
        )
        raise table.error(path, "system.client", message)
    pool, memory = scale["pagepool_bytes"], lpars["memory_bytes"]
    path = ("scale", "pagepool_bytes")
    if pool >= memory:
        message = f"a pagepool of {pool >> 20}M: a partition has {memory >> 20}M of memory"
        raise table.error(path, "system.client", message)
    if pool < 8 * block:
        message = f"a pagepool of {pool >> 20}M holds less than 8 blocks of {block >> 20}M"
        raise table.error(path, "system.client", message)


def _check_servers(tree: Tree, table: Table) -> None:
    storage, filesystem = tree.get(("storage",)), tree.get(("filesystem",))
    block, data = tree.get(("scale", "block_bytes")), filesystem["data_strips"]

    def refuse(message: str, *attributes: str) -> InputError:
        """Return an error at the first of these values that was set."""
        paths = [("filesystem", attribute) for attribute in attributes]
        path = next((path for path in paths if dotted(path) in table.origins), paths[0])
        return table.error(path, "system.file_system", message)

    if filesystem["first_permille"] + filesystem["extent_permille"] > _PERMILLE:
        message = "first and extent together are more than the disks"
        raise refuse(message, "first_permille", "extent_permille")
    if block % (data * _GRAIN_BYTES):
        message = f"blocks of {block // _MIB}M cannot be cut into {data} strips of whole 4 KiB"
        raise refuse(message, "data_strips")
    width, disks = data + filesystem["parity_strips"], storage["array_disks"]
    if width > disks:
        message = f"a track has {width} strips, each on a disk of its own: an array has {disks}"
        raise table.error(("storage", "array_disks"), "system.storage", message)
    threads, ratio = filesystem["nsd_max_worker_threads"], filesystem["nsd_raid_small_thread_ratio"]
    if threads <= ratio:
        message = f"{threads} threads, {ratio} for small requests to each for large ones: none left"
        raise refuse(message, "nsd_max_worker_threads", "nsd_raid_small_thread_ratio")
    high = filesystem["nsd_raid_flusher_fw_log_high_watermark_bytes"]
    limit = filesystem["nsd_raid_flusher_fw_log_limit_bytes"]
    if high >= limit:
        message = f"the log empties from {high >> 20}M on: it holds {limit >> 20}M at most"
        log = "nsd_raid_flusher_fw_log"
        raise refuse(message, f"{log}_high_watermark_bytes", f"{log}_limit_bytes")


def _check_workload(tree: Tree, table: Table) -> None:
    workload, lpars, sas = (tree.get((part,)) for part in ("workload", "lpars", "sas"))
    legal = _TESTS.get(workload["type"])
    if legal is None:
        message = f"clients of a file system run {' or '.join(_TESTS)}, not {workload['type']}"
        raise table.error(("workload", "type"), "workload.type", message)
    if workload["test"] not in legal:
        message = f"expected one of {', '.join(legal)}, got {workload['test']}"
        raise table.error(("workload", "test"), "workload.test", message)
    if workload["nodes"] > len(lpars["cores"]):
        message = f"{workload['nodes']} nodes: there are {len(lpars['cores'])} partitions"
        raise table.error(("workload", "nodes"), "workload.nodes", message)
    servers = tree.get(("storage", "servers"))
    if workload["failed_disks"] > servers:
        message = f"{workload['failed_disks']} disks, one a server: there are {servers} servers"
        raise table.error(("workload", "failed_disks"), "workload.failed_disks", message)
    if workload["type"] == "gpfsperf" and "gpfsperf" not in tree.values:
        message = "gpfsperf: the scenario has no table [gpfsperf]"
        raise table.error(("workload", "type"), "workload.type", message)
    if sas["small_file_bytes"] > sas["large_file_bytes"]:
        message = "the smallest file is larger than the largest"
        raise table.error(("sas", "small_file_bytes"), "system.sas", message)
    if not sas["compute_programs"] + sas["memory_programs"] + sas["io_programs"]:
        raise table.error(("sas", "io_programs"), "system.sas", "expected at least one program")
    if tree.get(("run", "warm_up_ps")):
        message = "jobs are measured from the start on: expected 0 s"
        raise table.error(("run", "warm_up_ps"), "run.warm_up", message)
    if tree.get(("run", "precision_permille")):
        message = "a run of jobs ends when they have ended: no precision"
        raise table.error(("run", "precision_permille"), "run.precision", message)


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
