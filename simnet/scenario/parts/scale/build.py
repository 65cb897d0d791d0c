"""Build the clients of a file system, their jobs, and what serves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.environment import Environment
from simnet.scenario.parts.nsd.build import make_cluster
from simnet.scenario.parts.nsd.resources import nsd_resources
from simnet.scenario.parts.scale.jobs import JobSystem
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import Tuning
from simnet.storage.scale.tokens import TokenManager
from simnet.workload.block_stream import CallCosts
from simnet.workload.gpfsperf import Arguments, Gpfsperf
from simnet.workload.sas import Node, SasJobs
from simnet.workload.sas_plan import Mix, plan

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.sas.schema import SasMix
    from simnet.scenario.parts.scale.schema import Lpars, Scale
    from simnet.scenario.system.resource import Resource

_KIB, _MIB = 1 << 10, 1 << 20
_FS = 1000
_TEST_20 = "20-test"
_AT_ONCE = {_TEST_20: 20, "30-test": 30}
_ONE = 1000


def build_clients(
    effective: Effective,
    *,
    seed: int,
    per_frame: bool = False,  # noqa: ARG001 - no frames here
    tracer: Any = None,
) -> JobSystem:
    """Make partitions, their part of the file system, the servers and the jobs.

    Args:
        effective: the configuration; it has `lpars`, `scale` and `sas`.
        seed: of all random streams.
        per_frame: makes no difference.
        tracer: receives spans and counters, or None.
    """
    lpars, scale, sas = effective.lpars, effective.scale, effective.sas
    if lpars is None or scale is None or sas is None:
        raise LookupError("lpars")
    env = Environment()
    env.sim.tracer = tracer
    count = effective.workload.nodes
    cluster = make_cluster(env.sim, effective, clients=count, seed=seed)
    nodes = tuple(_node(env, number, lpars, scale, cluster) for number in range(count))
    costs = CallCosts(
        effective.workload.message_bytes, lpars.call_ps, lpars.copy_mib_ps * _FS // _MIB
    )
    tokens = TokenManager(scale.token_ps)
    tokens.clients.update({node.number: node.client for node in nodes})
    common: dict[str, Any] = {
        "tokens": tokens,
        "costs": costs,
        "metadata_ps": scale.metadata_ps,
        "seed": seed,
    }
    jobs: SasJobs | Gpfsperf
    if effective.workload.type == "gpfsperf" and effective.gpfsperf:
        arguments = Arguments(
            effective.workload.test,
            effective.gpfsperf.threads,
            effective.gpfsperf.file_bytes,
            effective.gpfsperf.readratio,
        )
        jobs = Gpfsperf(env, nodes, arguments, **common)
    else:
        mix = _mix(sas, effective.workload.test, effective.workload.length_permille)
        plans = tuple(
            plan(mix, seed=seed, call_bytes=effective.workload.message_bytes, node=number)
            for number in range(count)
        )
        jobs = SasJobs(env, nodes, plans, at_once=mix.at_once, **common)
    parts = {"cluster": cluster, "tokens": tokens}

    names: dict[int, tuple[str, ...]] = {node.number: (node.name,) for node in nodes}

    def offered() -> tuple[Resource, ...]:
        return nsd_resources(cluster, names)

    return JobSystem(env, nodes, jobs.runs, jobs.done, parts, offered=offered)


def _node(env: Environment, number: int, lpars: Lpars, scale: Scale, cluster: Any) -> Node:
    name = f"lpar{number + 1}"
    cpu = LparCpu(env.sim, f"{name}.cpu", _cores(lpars, number))
    tuning = Tuning(
        pagepool_bytes=scale.pagepool_bytes,
        block_bytes=scale.block_bytes,
        prefetch_percent=scale.prefetch_pct,
        prefetch_threads=scale.prefetchers,
        worker_threads=scale.worker_threads,
        max_mb_per_s=scale.max_mbps,
        max_files_to_cache=scale.max_files_to_cache,
        seq_discard_threshold_bytes=scale.seq_discard_threshold_bytes,
    )
    client = ScaleClient(
        env.sim,
        f"{name}.client",
        number=number,
        cluster=cluster,
        cpu=cpu,
        tuning=tuning,
        daemon_fs_per_byte=max(lpars.daemon_mib_ps - lpars.receive_mib_ps, 0) * _FS // _MIB,
    )
    cluster.attach(number, cpu, lpars.receive_mib_ps * _KIB // _MIB)
    return Node(number, name, cpu, client)


def _cores(lpars: Lpars, number: int) -> LparCores:
    """Return a partition's cores; between two and four threads a core gains evenly."""
    two, four = lpars.smt2_throughput_permille, lpars.smt4_throughput_permille
    throughput = tuple(
        share * lpars.speed_permille // _ONE
        for share in (_ONE, two, (two + four) // 2, four)[: lpars.threads]
    )
    one = lpars.purr_one_thread_permille if lpars.threads > 1 else _ONE
    last = max(lpars.threads - 1, 1)
    purr = tuple(one + (_ONE - one) * more // last for more in range(lpars.threads))
    return LparCores(lpars.cores[number], lpars.threads, throughput, purr)


def _mix(sas: SasMix, test: str, length_permille: int) -> Mix:
    """Return the plan's parameters; sizes and times a byte in its units."""
    return Mix(
        compute=sas.compute_programs,
        memory=sas.memory_programs,
        io=sas.io_programs,
        jobs=sas.jobs_20 if test == _TEST_20 else sas.jobs_30,
        at_once=_AT_ONCE[test],
        length_permille=length_permille,
        nominal_ps=sas.nominal_ps,
        spread=sas.spread,
        start_ps=sas.start_ps,
        step_ps=sas.step_ps,
        unevenness=sas.unevenness,
        cpu_ps=sas.cpu_ps,
        compute_share_permille=sas.compute_share_permille,
        bytes=sas.data_bytes,
        io_share_permille=sas.io_share_permille,
        read_share_permille=sas.read_share_permille,
        reread_share_permille=sas.reread_share_permille,
        merge_share_permille=sas.merge_share_permille,
        merge_ways=sas.merge_ways,
        random_share_permille=sas.random_share_permille,
        inputs=sas.inputs,
        small_file_bytes=sas.small_file_bytes,
        large_file_bytes=sas.large_file_bytes,
        scan_fs_per_byte=sas.scan_mib_ps * _FS // _MIB,
        pause_permille=sas.pause_permille,
    )
