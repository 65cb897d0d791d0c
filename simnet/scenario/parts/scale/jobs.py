"""A built system whose work ends: jobs on the clients of a file system, and its counters.

There are no packets here and no ports of the host's own: a partition's processors, its part of the
file system and the jobs on it are what is counted. What passes between clients and servers is
counted in each second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simnet.scenario.system.resource import Resource
from simnet.scenario.system.system import CpuTimes, FlowCounts, Snapshot, System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simnet.workload.sas import JobRun, Node


@dataclass(frozen=True)
class JobCounts:
    """What a job has done so far."""

    node: str  # name of the partition
    # which job
    name: str
    kind: str
    start_ps: int  # when it began; -1 before
    end_ps: int  # when it ended; -1 before
    cpu_ps: int  # time on hardware threads, user and system
    io_wait_ps: int  # time in which it waited for blocks
    # by its calls
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class LparCounts:
    """What a partition has done so far."""

    name: str  # of the partition
    cores: int  # dedicated to it
    purr_ps: int  # core time that counts as used
    threads_ps: int  # time on hardware threads
    # that came from servers and went to them
    read_bytes: int
    written_bytes: int
    # blocks read that were in the pagepool, on their way, neither
    hits: int
    late: int
    misses: int
    bins: tuple[int, ...]  # bytes that passed in each second of the simulation


class _NoMachine:
    """Stands for a host of which no processor is simulated packet by packet."""

    cpus: tuple[Any, ...] = ()


class JobSystem(System):
    """Partitions, file system and jobs of one scenario, ready to run.

    Args:
        nodes: the partitions.
        runs: the jobs, in a fixed order.
        done: happens when all jobs have ended.
        parts: what else it is made of, by name: the cluster of servers.
        offered: what the cluster's resources are; none where it is None.
    """

    ends = True

    def __init__(
        self,
        env: Any,
        nodes: tuple[Node, ...],
        runs: list[JobRun],
        done: Any,
        parts: dict[str, Any],
        *,
        offered: Callable[[], Iterable[Resource]] | None = None,
    ) -> None:
        machine: Any = _NoMachine()
        super().__init__(env, machine, (), (), parts)
        self.nodes = nodes
        self.runs = runs
        self.done = done
        self._offered = offered

    def _go_on(self, duration_ps: int) -> None:
        """Simulate `duration_ps` more, or until all jobs have ended."""
        if self.done.processed:
            return
        end = self.env.event()

        def stop(_event: Any) -> None:
            if not end.triggered:
                end.succeed()

        # not `any_of`: once it has happened, it would take the condition `done` apart
        for event in (self.done, self.env.timeout(duration_ps)):
            event.callbacks.append(stop)
        self.env.run(until=end)

    def snapshot(self) -> Snapshot:
        """Read all counters."""
        return Snapshot(
            time_ps=self.env.sim.now,
            cpus=tuple(self._cpus()),
            ports=(),
            flows=tuple(FlowCounts(node.name, node.name, _moved(node), ()) for node in self.nodes),
            work_ps={},
            more={
                "jobs": tuple(_job(run) for run in self.runs),
                "lpars": tuple(_lpar(node) for node in self.nodes),
            },
        )

    def _cpus(self) -> Iterable[CpuTimes]:
        """Yield hardware threads, the partition's first ones of each core first."""
        number = 0
        now = self.env.sim.now
        for place, node in enumerate(self.nodes):
            cpu = node.cpu
            for busy_ps in cpu.busy_ps():
                system_ps = busy_ps * cpu.system_done_ps // max(cpu.done_ps, 1)
                yield CpuTimes(
                    id=number,
                    node=place,
                    user_ps=busy_ps - system_ps,
                    system_ps=system_ps,
                    softirq_ps=0,
                    irq_ps=0,
                    iowait_ps=0,
                    steal_ps=0,
                    idle_ps=now - busy_ps,
                    user_ticks=0,
                    system_ticks=0,
                    softirq_ticks=0,
                    irq_ticks=0,
                    idle_ticks=0,
                )
                number += 1

    def resources(self) -> tuple[Resource, ...]:
        """Cores of the partitions, as the PURR counts them, and what the servers have."""
        cores = [
            Resource(
                f"{node.name} cores",
                "cpu",
                node.cpu.purr_ps(),
                node.cpu.cores.cores * 10**12,
                flows=(node.name,),
            )
            for node in self.nodes
        ]
        return (*cores, *(self._offered() if self._offered else ()))

    def progress(self) -> tuple[int, int]:
        """Bytes that passed between clients and servers, and time on hardware threads, in ps."""
        return sum(map(_moved, self.nodes)), sum(sum(node.cpu.busy_ps()) for node in self.nodes)


def _moved(node: Node) -> int:
    return int(node.client.read_bytes + node.client.written_bytes)


def _job(run: JobRun) -> JobCounts:
    work = run.stream
    return JobCounts(
        run.node,
        run.name,
        run.kind,
        run.start_ps,
        run.end_ps,
        work.used_ps,
        work.io_wait_ps,
        work.read_bytes,
        work.written_bytes,
    )


def _lpar(node: Node) -> LparCounts:
    client = node.client
    return LparCounts(
        node.name,
        node.cpu.cores.cores,
        node.cpu.purr_ps(),
        sum(node.cpu.busy_ps()),
        client.read_bytes,
        client.written_bytes,
        client.hits,
        client.late,
        client.misses,
        tuple(client.bins),
    )
