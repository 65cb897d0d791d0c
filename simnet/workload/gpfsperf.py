"""gpfsperf: threads that create, read, or read and write files in sequence, record by record.

Each thread has a file of its own. `create` writes new files, `read` reads files that are there,
`mixrw` goes over them once and reads or writes each record, as chance and the read ratio say: a
block with records of both kinds is read and then written back from its first to its last written
record. Source: /usr/lpp/mmfs/samples/perf/gpfsperf.c, options -n, -r, -th, -readratio.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simnet.kernel.environment import Environment
from simnet.kernel.random import RandomStream, stream
from simnet.storage.scale.tokens import TokenManager
from simnet.workload.block_stream import BlockStream, CallCosts, Pass
from simnet.workload.sas import JobRun, Node, open_file

_FILES_OF_A_NODE = 4096
_FIRST_FILE = 1 << 36
_HUNDRED = 100


@dataclass(frozen=True)
class Arguments:
    """What it is called with."""

    test: str  # "create-seq", "read-seq" or "mixrw-seq"
    threads: int  # of each node
    file_bytes: int  # size of each thread's file
    readratio: int  # percent of the records that `mixrw` reads


class Gpfsperf:
    """Threads on every node, all started at once.

    Args:
        env: the simulation, whose unit is the ps.
        nodes: where.
        arguments: what it is called with.
        tokens: the token manager.
        costs: of calls; a record is one call.
        metadata_ps: time to read or create an inode.
        seed: of the choice between reading and writing.
    """

    def __init__(
        self,
        env: Environment,
        nodes: tuple[Node, ...],
        arguments: Arguments,
        *,
        tokens: TokenManager,
        costs: CallCosts,
        metadata_ps: int,
        seed: int,
    ) -> None:
        self.env = env
        self.arguments = arguments
        self.tokens = tokens
        self.costs = costs
        self.metadata_ps = metadata_ps
        self.runs: list[JobRun] = []  # one for each thread
        processes = []
        for node in nodes:
            for thread in range(arguments.threads):
                path = f"{node.name}.thread{thread}"
                work = BlockStream(env.sim, path, node.client, node.cpu, costs)
                run = JobRun(node.name, f"thread{thread}", arguments.test, work)
                self.runs.append(run)
                file = _FIRST_FILE + node.number * _FILES_OF_A_NODE + thread
                processes.append(env.process(self._thread(node, run, file, stream(seed, path))))
        # happens when all have ended, what they wrote being on disk
        self.done = env.all_of(processes)

    def _thread(
        self, node: Node, run: JobRun, file: int, random: RandomStream
    ) -> Generator[Any, Any, None]:
        env, size = self.env, self.arguments.file_bytes
        run.start_ps = env.sim.now
        writes = self.arguments.test != "read-seq"
        handle = yield from open_file(
            env, node, self.tokens, self.metadata_ps, file, size, run.stream, write=writes
        )
        other = node.client.open(file, size, run.stream)
        for what in self._passes(file, random, node.client.block_bytes):
            event = env.event()
            run.stream.begin(
                what,
                handle if what.read_file >= 0 else None,
                other if what.write_file >= 0 else None,
                event.succeed,
            )
            yield event
        node.client.close(handle)
        node.client.close(other)
        if writes:
            # fsync: the time of the test ends when all is on disk
            event = env.event()
            node.client.when_clean(file, event.succeed)
            yield event
        run.end_ps = env.sim.now

    def _passes(self, file: int, random: RandomStream, block_bytes: int) -> list[Pass]:
        size = self.arguments.file_bytes
        if self.arguments.test == "create-seq":
            return [Pass(write_file=file, write_bytes=size)]
        if self.arguments.test == "read-seq":
            return [Pass(read_file=file, read_size_bytes=size, read_bytes=size)]
        return [
            self._mixed(file, random, block, block_bytes)
            for block in range(-(-size // block_bytes))
        ]

    def _mixed(self, file: int, random: RandomStream, block: int, block_bytes: int) -> Pass:
        """Choose for each record of a block; the block is one pass."""
        start = block * block_bytes
        size = min(block_bytes, self.arguments.file_bytes - start)
        record = self.costs.call_bytes
        records = range(0, size, record)
        written = [at for at in records if random.below(_HUNDRED) >= self.arguments.readratio]
        first = written[0] if written else 0
        last = min(written[-1] + record, size) if written else 0
        read = len(written) < len(records)
        return Pass(
            read_file=file if read else -1,
            read_size_bytes=start + size if read else 0,
            first_block=block,
            read_bytes=size if read else 0,
            write_file=file if written else -1,
            write_at_bytes=start + first,
            write_bytes=last - first,
            whole=True,
        )
