"""Virtual SCSI: a client's adapter, the hypervisor's queue between partitions, the server's target.

Sources: drivers/scsi/ibmvscsi/ibmvscsi.c (client) of Linux 2.6.18 and ibmvscsis.c 1.0.0 (server)
by Boutcher, Leon and Xie, which SLES carried; Power Architecture Platform Requirements. The client
puts an SRP request into a page of its own and sends 16 bytes that point to it through the
hypervisor's command/response queue, which interrupts the server. There kblockd fetches the
request, copies what is written out of the client's memory by a hypervisor call, and submits a bio
to the queue of the real disk, on its own account: one I/O context for all clients. When that is
complete a tasklet copies what was read into the client's memory and answers the same way.

Limits: the server's login response grants `request_limit` requests for the adapter, of which the
client keeps two for error recovery, whichever of its disks they are for; a disk of it has at most
`cmd_per_lun`. Where an adapter has no room, its disks wait as SCSI hosts' do: in the order in
which they found it full, before the one whose request was just completed (`starved_list`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.storage.block.request import Bio, IoContext
from simnet.storage.disk.model import SECTOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.host.softirq.deferred import DeviceInterrupt, WorkQueue
    from simnet.kernel.simulator import Simulator
    from simnet.storage.block.queue import RequestQueue
    from simnet.storage.disk.command import Command, DiskPartition

# of the requests granted, for aborts and resets
_RESERVED = 2
_KIB_SECTORS = 1024 // SECTOR_BYTES


@dataclass(frozen=True)
class VscsiCosts:
    """CPU time of one request, in whole nanoseconds kept as ps."""

    submit_ps: int  # client, building and sending it
    complete_ps: int  # client, interrupt and completion
    notice_ps: int  # server, its interrupt
    serve_ps: int  # server, kblockd, to the bio
    answer_ps: int  # server, from the disk's interrupt to the answer
    copy_kib_ps: int  # server, the hypervisor's copy of each KiB on its CPU

    def copy_ps(self, sectors: int) -> int:
        """Time to copy a request's data."""
        return self.copy_kib_ps * sectors // _KIB_SECTORS // 1000 * 1000


class CommandQueue(Component):
    """One direction of the hypervisor's queue between two partitions.

    Args:
        latency_ps: from the sender's hypervisor call until the other partition is interrupted.
    """

    def __init__(self, sim: Simulator, path: str, latency_ps: int) -> None:
        super().__init__(sim, path)
        self.latency_ps = latency_ps
        self.messages = 0
        self._sent: deque[Callable[[], None]] = deque()

    def send(self, deliver: Callable[[], None]) -> None:
        """Have `deliver` called when the other partition is interrupted; messages keep order."""
        self.messages += 1
        self._sent.append(deliver)
        self.sim.after(self.latency_ps, self, 0, 0, WIRE)

    def on_event(self, kind: int, arg: int) -> None:
        """A message is there."""
        self._sent.popleft()()


class VscsiServer:
    """The target driver on the server's partition.

    Args:
        interrupt: of the adapter there, and of the tasklet that answers.
        kblockd: kernel thread that takes requests.
        costs: of a request.
        answers: queue to the client.
    """

    def __init__(
        self,
        interrupt: DeviceInterrupt,
        kblockd: WorkQueue,
        costs: VscsiCosts,
        answers: CommandQueue,
    ) -> None:
        self.interrupt = interrupt
        self.kblockd = kblockd
        self.costs = costs
        self.answers = answers
        self.context = IoContext("kblockd")

    def receive(self, command: Command, disk: VirtualDisk) -> None:
        """A request has come: interrupt, kblockd, a bio; it holds its answer until all is done."""
        costs = self.costs
        work_ps = costs.serve_ps + (costs.copy_ps(command.sectors) if command.write else 0)

        def taken() -> None:
            self.kblockd.schedule(self.interrupt.cpu, work_ps, lambda: self._submit(command, disk))

        self.interrupt.interrupt(costs.notice_ps, taken)

    def _submit(self, command: Command, disk: VirtualDisk) -> None:
        """`process_rw`, after `split_iu` where the real queue takes less at a time."""
        queue, start = disk.backing_queue, disk.backing.start
        pieces = range(0, command.sectors, queue.max_sectors)
        left = len(pieces)

        def done(_bio: Bio) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._done(command, disk)

        for offset in pieces:
            sectors = min(queue.max_sectors, command.sectors - offset)
            queue.submit(
                Bio(
                    start + command.sector + offset,
                    sectors,
                    write=command.write,
                    context=self.context,
                    done=done,
                    sync=True,
                )
            )

    def _done(self, command: Command, disk: VirtualDisk) -> None:
        """`endio_task`: copy what was read, answer."""
        costs = self.costs
        work_ps = costs.answer_ps + (0 if command.write else costs.copy_ps(command.sectors))
        self.interrupt.interrupt(
            work_ps, lambda: self.answers.send(lambda: disk.adapter.answered(command))
        )


class VirtualAdapter:
    """The client's adapter, with the disks that the server maps to it.

    Args:
        interrupt: of the adapter; sending mostly follows a completion, so its CPU does that too.
        costs: of a request.
        requests: queue to the server.
        server: what is at its end.
        request_limit: that the server's login response grants.
    """

    def __init__(
        self,
        interrupt: DeviceInterrupt,
        costs: VscsiCosts,
        requests: CommandQueue,
        server: VscsiServer,
        *,
        request_limit: int,
    ) -> None:
        self.interrupt = interrupt
        self.costs = costs
        self.requests = requests
        self.server = server
        # requests that it sends before there are answers
        self.can_queue = max(request_limit - _RESERVED, 1)
        self.busy = 0  # requests that have no answer yet
        self.starved: list[RequestQueue] = []  # queues that found no room, in order

    def submit(self, command: Command, disk: VirtualDisk) -> bool:
        """Send a command; False if the adapter has as many as it may (`scsi_host_queue_ready`)."""
        waits = disk.queue in self.starved
        if self.busy >= self.can_queue:
            if not waits and disk.queue is not None:
                self.starved.append(disk.queue)
            return False
        if waits and disk.queue is not None:
            self.starved.remove(disk.queue)
        self.busy += 1
        self.interrupt.follow(
            self.costs.submit_ps,
            lambda: self.requests.send(lambda: self.server.receive(command, disk)),
        )
        return True

    def answered(self, command: Command) -> None:
        """The server's answer has come: interrupt, then completion."""
        self.interrupt.interrupt(self.costs.complete_ps, lambda: self._complete(command))

    def _complete(self, command: Command) -> None:
        self.busy -= 1
        command.owner.command_done(command)

    def run_starved(self) -> None:
        """Let disks that waited for room go on (`scsi_run_queue`)."""
        while self.starved and self.busy < self.can_queue:
            queue = self.starved.pop(0)
            queue.remove_plug()
            if not queue.empty():
                queue.run()
            if queue in self.starved:
                return


class VirtualDisk:
    """A disk of the client: a range of sectors of a disk of the server.

    Args:
        adapter: through which it is reached.
        backing: the partition of the server's disk.
        backing_queue: of that disk.

    Attributes:
        queue: its request queue at the client; set when that is made.
    """

    def __init__(
        self, adapter: VirtualAdapter, backing: DiskPartition, backing_queue: RequestQueue
    ) -> None:
        self.adapter = adapter
        self.backing = backing
        self.backing_queue = backing_queue
        self.queue: RequestQueue | None = None

    @property
    def sectors(self) -> int:
        """How many sectors can be addressed."""
        return self.backing.sectors

    def submit(self, command: Command) -> bool:
        """Take a command; False if the adapter has no room."""
        return self.adapter.submit(command, self)
