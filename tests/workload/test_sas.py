"""SAS mixed analytics and gpfsperf on a stand-in for the servers."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.environment import Environment
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import Tuning
from simnet.storage.scale.tokens import TokenManager
from simnet.workload.block_stream import CallCosts
from simnet.workload.gpfsperf import Arguments, Gpfsperf
from simnet.workload.sas import Node, SasJobs
from simnet.workload.sas_plan import Mix, plan
from tests.workload.stand_in import StandIn

S = 10**12
MIB = 1 << 20
CALL = 256 << 10
COSTS = CallCosts(CALL, 5 * 10**6, 150)
MIX = Mix(
    compute=10,
    memory=2,
    io=8,
    jobs=71,
    at_once=20,
    length_permille=1000,
    nominal_ps=900 * S,
    spread=8,
    start_ps=180 * S,
    step_ps=90 * S,
    unevenness=8,
    cpu_ps=670 * S,
    compute_share_permille=930,
    bytes=125 * 10**9,
    io_share_permille=850,
    read_share_permille=650,
    reread_share_permille=300,
    merge_share_permille=300,
    merge_ways=8,
    random_share_permille=1,
    inputs=4,
    small_file_bytes=256 * MIB,
    large_file_bytes=16384 * MIB,
    scan_fs_per_byte=10**6,
    pause_permille=100,
)
SMALL = replace(
    MIX,
    jobs=7,
    at_once=3,
    length_permille=10,
    small_file_bytes=64 * MIB,
    large_file_bytes=256 * MIB,
)


def nodes_of(env: Environment, count: int, pool: int = 4 << 30) -> tuple[StandIn, tuple[Node, ...]]:
    servers = StandIn(env.sim, latency_ps=40 * 10**9, rate_bytes_s=5 * 10**9)
    nodes = []
    for number in range(count):
        cpu = LparCpu(env.sim, f"n{number}.cpu", LparCores(16, 2, (1000, 1400), (600, 1000)))
        client = ScaleClient(
            env.sim,
            f"n{number}.client",
            number=number,
            cluster=servers,
            cpu=cpu,
            tuning=Tuning(pool, 16 * MIB, 40, 341, 1024, 24000, 50000, 1 << 30),
            daemon_fs_per_byte=440,
        )
        nodes.append(Node(number, f"n{number}", cpu, client))
    return servers, tuple(nodes)


def jobs_on(env: Environment, nodes: tuple[Node, ...], mix: Mix, seed: int = 1) -> SasJobs:
    jobs = tuple(plan(mix, seed=seed, call_bytes=CALL, node=n.number) for n in nodes)
    tokens = TokenManager(200 * 10**6)
    tokens.clients.update({node.number: node.client for node in nodes})
    return SasJobs(
        env,
        nodes,
        jobs,
        at_once=mix.at_once,
        tokens=tokens,
        costs=COSTS,
        metadata_ps=5 * 10**9,
        seed=seed,
    )


mixes = st.builds(
    lambda **values: replace(MIX, **values),
    jobs=st.sampled_from([20, 71, 101]),
    spread=st.integers(1, 30),
    unevenness=st.integers(1, 30),
    io_share_permille=st.integers(500, 950),
    reread_share_permille=st.integers(0, 900),
    merge_share_permille=st.integers(0, 900),
    random_share_permille=st.integers(0, 20),
    length_permille=st.sampled_from([100, 500, 1000]),
)


@settings(max_examples=20, deadline=None)
@given(mixes, st.integers(0, 9))
def test_a_plan_moves_the_data_and_uses_the_cpu_that_it_is_given(mix: Mix, seed: int) -> None:
    jobs = plan(mix, seed=seed, call_bytes=CALL)
    steps = [step for job in jobs for step in job.steps]
    read = sum(scan.read_bytes for step in steps for scan in step.scans)
    read += sum(step.random_calls for step in steps) * CALL
    written = sum(step.write_bytes for step in steps)
    length = mix.length_permille / 1000
    assert read + written == pytest.approx(mix.bytes * mix.jobs * length, rel=0.01)
    assert read == pytest.approx(0.65 * (read + written), rel=0.01)
    cpu_ps = sum(
        step.before_ps
        + step.compute_ps
        + sum(scan.read_bytes for scan in step.scans) * step.fs_per_byte // 1000
        for step in steps
    )
    assert cpu_ps == pytest.approx(mix.cpu_ps * mix.jobs * length, rel=0.03)
    assert all(sum(s.write_bytes for s in step.scans) == step.write_bytes for step in steps)


def test_as_many_jobs_run_at_once_as_the_test_says() -> None:
    env = Environment()
    _, nodes = nodes_of(env, 1)
    work = jobs_on(env, nodes, SMALL)
    env.run(until=work.done)
    starts = [run.start_ps for run in work.runs]
    assert starts == sorted(starts)
    at_once = [
        sum(other.start_ps <= run.start_ps < other.end_ps for other in work.runs)
        for run in work.runs
    ]
    assert max(at_once) == SMALL.at_once
    assert sum(run.end_ps - run.start_ps for run in work.runs) > 2 * env.sim.now


def test_programs_are_repeated_and_take_turns() -> None:
    jobs = plan(MIX, seed=1, call_bytes=CALL)
    kinds = {job.program: job.kind for job in jobs}
    assert sorted(kinds.values()).count("compute") == 10
    assert sorted(kinds.values()).count("io") == 8
    # the first of each slot, in turn
    first = [job.kind for job in jobs[:10]]
    assert first.count("io") == 4
    # what a run moves in all is its program's
    again = [
        sum(step.write_bytes for step in job.steps)
        for job in jobs
        if job.program == jobs[0].program
    ]
    assert max(again) - min(again) < 1000


def test_short_programs_are_repeated_more_often() -> None:
    jobs = plan(MIX, seed=1, call_bytes=CALL)
    runs = {job.program: 0 for job in jobs}
    for job in jobs:
        runs[job.program] += 1
    assert min(runs.values()) <= 2
    assert max(runs.values()) >= 6


def test_jobs_conserve_bytes_and_end() -> None:
    env = Environment()
    servers, nodes = nodes_of(env, 2)
    work = jobs_on(env, nodes, SMALL)
    env.run(until=work.done)
    planned = plan(SMALL, seed=1, call_bytes=CALL)
    asked = sum(
        sum(scan.read_bytes for scan in step.scans) for job in planned for step in job.steps
    )
    assert sum(run.stream.read_bytes for run in work.runs) >= 2 * asked
    assert all(run.end_ps > run.start_ps >= 0 for run in work.runs)
    assert all(
        run.end_ps - run.start_ps + 10**6 >= run.stream.used_ps + run.stream.io_wait_ps
        for run in work.runs
    )
    assert sum(node.client.read_bytes for node in nodes) == servers.read_bytes
    # the library of work files is gone
    assert not any(number >= 1 << 30 for node in nodes for number in node.client.files)


def test_the_same_seed_gives_the_same_run_and_another_does_not() -> None:
    ends = []
    for seed in (1, 1, 2):
        env = Environment()
        _, nodes = nodes_of(env, 1)
        work = jobs_on(env, nodes, SMALL, seed)
        env.run(until=work.done)
        ends.append([run.end_ps for run in work.runs])
    assert ends[0] == ends[1] != ends[2]


def perf(test: str, **more: int) -> tuple[Environment, StandIn, Gpfsperf]:
    env = Environment()
    servers, nodes = nodes_of(env, 2)
    tokens = TokenManager(200 * 10**6)
    tokens.clients.update({node.number: node.client for node in nodes})
    arguments = Arguments(test, 3, 100 * MIB + 1, more.get("readratio", 70))
    work = Gpfsperf(
        env,
        nodes,
        arguments,
        tokens=tokens,
        costs=CallCosts(MIB, 5 * 10**6, 150),
        metadata_ps=5 * 10**9,
        seed=1,
    )
    env.run(until=work.done)
    return env, servers, work


def test_gpfsperf_creates_and_reads_every_byte() -> None:
    size = 6 * (100 * MIB + 1)
    _, servers, work = perf("create-seq")
    assert sum(run.stream.written_bytes for run in work.runs) == size
    assert size <= servers.written_bytes <= size + 6 * MIB
    assert servers.read_bytes == 0
    _, servers, work = perf("read-seq")
    assert sum(run.stream.read_bytes for run in work.runs) == size
    assert size <= servers.read_bytes <= size + 6 * MIB


@pytest.mark.parametrize(("readratio", "reads", "writes"), [(100, 1, 0), (0, 0, 1), (70, 1, 0.7)])
def test_mixrw_reads_blocks_with_any_record_that_is_read(
    readratio: int, reads: float, writes: float
) -> None:
    _, servers, _ = perf("mixrw-seq", readratio=readratio)
    size = 6 * (100 * MIB + 1)
    assert servers.read_bytes == pytest.approx(reads * size, rel=0.02)
    assert servers.written_bytes == pytest.approx(writes * size, rel=0.15)
