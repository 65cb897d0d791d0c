"""SAS jobs on the nodes of a cluster: SimPy processes, each a sequence of steps."""

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simnet.host.lpar import LparCpu
from simnet.kernel.environment import Environment
from simnet.kernel.random import stream
from simnet.storage.scale.client import ScaleClient
from simnet.storage.scale.files import Handle
from simnet.storage.scale.tokens import EVERYTHING, TokenManager
from simnet.workload.block_stream import BlockStream, CallCosts, Pass
from simnet.workload.sas_plan import Job, Step

_INPUTS_OF_A_PROGRAM = 256
_PROGRAMS = 4096
_STEPS_OF_A_JOB = 4096
_JOBS_OF_A_NODE = 4096
_FIRST_WORK_FILE = 1 << 30


@dataclass(frozen=True)
class Node:
    """A client of the file system."""

    number: int  # from 0
    name: str  # of the partition
    cpu: LparCpu  # its processors
    client: ScaleClient  # its pagepool and what is behind


@dataclass
class JobRun:
    """What became of a job; times in ps, `end_ps` is -1 while it runs."""

    # which job of which partition
    node: str
    name: str
    kind: str
    stream: BlockStream  # does its work, and counts what it reads, writes and uses
    start_ps: int = -1
    end_ps: int = -1


def open_file(
    env: Environment,
    node: Node,
    tokens: TokenManager,
    metadata_ps: int,
    number: int,
    size_bytes: int,
    user: BlockStream,
    *,
    write: bool,
) -> Generator[Any, Any, Handle]:
    """Open a file: its token, its inode if the node has not got it, then the handle."""
    grant = tokens.acquire(node.number, number, EVERYTHING, write=write)
    for loser in dict.fromkeys(loser for loser, _, _ in grant.revoked):
        flushed = env.event()
        holder = tokens.clients[loser]
        holder.give_up(number)
        holder.when_clean(number, flushed.succeed)
        yield flushed
    delay_ps = grant.delay_ps
    if not node.client.knows(number):
        delay_ps += metadata_ps
    if delay_ps:
        yield env.timeout(delay_ps)
    return node.client.open(number, size_bytes, user)


class SasJobs:
    """Runs the jobs of each node's plan.

    Args:
        env: the simulation, whose unit is the ps.
        nodes: where.
        jobs: of each node, its plan.
        at_once: jobs that run at once on a node.
        tokens: the token manager.
        costs: of a program's calls.
        metadata_ps: time to read or create an inode.
        seed: of random calls.
    """

    def __init__(
        self,
        env: Environment,
        nodes: tuple[Node, ...],
        jobs: tuple[tuple[Job, ...], ...],
        *,
        at_once: int,
        tokens: TokenManager,
        costs: CallCosts,
        metadata_ps: int,
        seed: int,
    ) -> None:
        self.env = env
        self.tokens = tokens
        self.costs = costs
        self.metadata_ps = metadata_ps
        self.seed = seed
        self.runs: list[JobRun] = []  # one for each job, in the order of nodes and jobs
        processes = []
        for node, own in zip(nodes, jobs, strict=True):
            left: deque[tuple[Job, JobRun]] = deque()
            for job in own:
                path = f"{node.name}.{job.name}"
                work = BlockStream(env.sim, path, node.client, node.cpu, costs)
                run = JobRun(node.name, job.name, job.kind, work)
                self.runs.append(run)
                left.append((job, run))
            processes += [env.process(self._slot(node, left)) for _ in range(at_once)]
        self.done = env.all_of(processes)  # happens when all have ended

    def _slot(self, node: Node, left: deque[tuple[Job, JobRun]]) -> Generator[Any, Any, None]:
        """Run one job after the other, as long as there are any."""
        while left:
            job, run = left.popleft()
            if job.start_ps > self.env.sim.now:
                yield self.env.timeout(job.start_ps - self.env.sim.now)
            yield from self._job(node, job, run)

    def _job(self, node: Node, job: Job, run: JobRun) -> Generator[Any, Any, None]:
        run.start_ps = self.env.sim.now
        first = _FIRST_WORK_FILE + ((node.number * _JOBS_OF_A_NODE + job.number) * _STEPS_OF_A_JOB)
        for number, step in enumerate(job.steps):
            yield from self._step(node, job, run, step, first + number)
        for number in range(len(job.steps)):
            node.client.delete(first + number)
            self.tokens.forget(first + number)
        run.end_ps = self.env.sim.now

    def _step(
        self, node: Node, job: Job, run: JobRun, step: Step, own: int
    ) -> Generator[Any, Any, None]:
        """Pass over files and write one, then call at random, compute, wait."""
        env, work = self.env, run.stream
        # each node works on a copy of its own
        if step.before_ps:
            yield from self._compute(run, step.before_ps)
        inputs = (node.number * _PROGRAMS + job.program) * _INPUTS_OF_A_PROGRAM
        writing = None
        if step.write_bytes:
            writing = yield from self._open(node, own, step.write_bytes, work, write=True)
        at_bytes = 0
        for scan in step.scans:
            file = own - 1 if scan.work else inputs + scan.file
            reading = yield from self._open(node, file, scan.size_bytes, work, write=False)
            what = Pass(
                read_file=file,
                read_size_bytes=scan.size_bytes,
                read_bytes=scan.read_bytes,
                ways=scan.ways,
                write_file=own,
                write_at_bytes=at_bytes,
                write_bytes=scan.write_bytes if writing else 0,
                work_fs_per_byte=step.fs_per_byte,
                pause_fs_per_byte=step.pause_fs_per_byte,
            )
            event = env.event()
            work.begin(what, reading, writing, event.succeed)
            yield event
            node.client.close(reading)
            at_bytes += scan.write_bytes
        if writing:
            node.client.close(writing)
        if step.random_calls and step.scans:
            scan = step.scans[0]
            file = own - 1 if scan.work else inputs + scan.file
            reading = yield from self._open(node, file, scan.size_bytes, work, write=False)
            blocks = -(-scan.size_bytes // node.client.block_bytes)
            event = env.event()
            random = stream(self.seed, f"{work.path}.{own}")
            work.call_at_random(reading, blocks, step.random_calls, random, event.succeed)
            yield event
            node.client.close(reading)
        if step.compute_ps:
            yield from self._compute(run, step.compute_ps)
        if step.pause_ps:
            yield env.timeout(step.pause_ps)

    def _compute(self, run: JobRun, work_ps: int) -> Generator[Any, Any, None]:
        event = self.env.event()
        run.stream.compute(work_ps, event.succeed)
        yield event

    def _open(
        self, node: Node, file: int, size_bytes: int, work: BlockStream, *, write: bool
    ) -> Generator[Any, Any, Handle]:
        return (
            yield from open_file(
                self.env, node, self.tokens, self.metadata_ps, file, size_bytes, work, write=write
            )
        )
