"""A client with virtual disks, the server behind them, and the threads that use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from simnet.host.costs import cycles_ps
from simnet.host.iowait import IowaitClock
from simnet.host.softirq.deferred import DeviceInterrupt, WorkQueue
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.random import stream
from simnet.scenario.parts.disks.build import make_disk
from simnet.scenario.parts.storage.columns import DiskCounts, PeerCpu
from simnet.scenario.parts.storage.schema import UNSET
from simnet.storage.block.queue import RequestQueue
from simnet.storage.block.sysfs import store
from simnet.storage.disk.command import DiskPartition, disk_partitions
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel
from simnet.storage.files.files import FileSystem
from simnet.storage.files.page_cache import PageCache, PageCosts, Process
from simnet.storage.files.pdflush import Pdflush
from simnet.storage.virtual_scsi.scsi_adapter import UntaggedAdapter
from simnet.storage.virtual_scsi.vscsi import (
    CommandQueue,
    VirtualAdapter,
    VirtualDisk,
    VscsiCosts,
    VscsiServer,
)
from simnet.workload.ffsb import Access, FfsbThread, ThreadGroup

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.host.machine import Machine
    from simnet.kernel.environment import Environment
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.parts.storage.schema import BlockQueue, FfsbGroup, Iosched, Vscsi

_PAGE_BYTES: Final = 4096
_KIB: Final = 1024
_LARGEST_REQUEST_SECTORS: Final = 1024
_GRAIN_SECTORS: Final = 8
_FIRST_IRQ: Final = 16
# a shell starts the threads within this time
_START_SPREAD_PS: Final = 10 * 10**9


class DiskFlow:
    """What passes a disk of the system, as a flow: bytes moved, and the time of each request."""

    latency_kind: ClassVar[str] = "response"

    def __init__(self, queue: RequestQueue) -> None:
        self.queue = queue
        self.times = LogHistogram()
        queue.times = self.times

    @property
    def delivered(self) -> int:
        """Bytes that have been read or written."""
        return SECTOR_BYTES * int(sum(self.queue.stats.sectors))

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the times from insertion to completion: (upper ps, count)."""
        return tuple(self.times.buckets())


class Storage:
    """All disks of a configuration, both machines' queues, and the client's page cache.

    Args:
        effective: the configuration.
        client, server: the machines.
        seed: of all random streams.
    """

    def __init__(
        self, env: Environment, effective: Effective, client: Machine, server: Machine, *, seed: int
    ) -> None:
        self.env = env
        self.sim = env.sim
        self.effective = effective
        self.client = client
        self.server = server
        self.seed = seed
        self.iowait = IowaitClock(client.cpus)
        self.server_queues: dict[str, RequestQueue] = {}
        self.partitions: dict[str, tuple[DiskPartition, RequestQueue]] = {}
        self._real_disks(effective.peers[0])
        self.queues: dict[str, RequestQueue] = {}
        self.adapter_interrupts: dict[str, DeviceInterrupt] = {}
        if effective.vscsi is None:
            raise ValueError("disks of another machine without virtual SCSI")
        self._virtual_disks(effective.vscsi)
        self.cache = self._page_cache()
        self.systems: list[FileSystem] = []
        self.threads = self._threads()
        kernel = effective.kernel
        self.pdflush = Pdflush(
            self.cache,
            self.systems,
            self._process("pdflush0", 0),
            self._process("pdflush1", 0),
            interval_ps=kernel.dirty_writeback_ps,
            expire_ps=kernel.dirty_expire_ps,
        )

    # -- disks --------------------------------------------------------------------------------

    def _real_disks(self, host: Host) -> None:
        for given in host.disks:
            if given.disk is None:
                continue
            model = DiskModel(**given.disk.model_dump())
            disk = make_disk(self.sim, f"peer0.{given.name}.disk", model)
            target = disk if given.queue.tagged else UntaggedAdapter(disk, given.queue.queue_depth)
            queue = self._queue(
                f"peer0.{given.name}", target, given.queue, host, _LARGEST_REQUEST_SECTORS
            )
            _set_tunables(queue, given.iosched)
            self.server_queues[given.name] = queue
            ranges = [
                (part.name, _sectors(part.start_bytes), _sectors(part.size_bytes))
                for part in given.partitions
            ]
            for part in disk_partitions(disk, ranges):
                self.partitions[part.name] = (part, queue)

    def _virtual_disks(self, vscsi: Vscsi) -> None:
        host = self.effective.host
        adapters: list[VirtualAdapter] = []
        kblockd = WorkQueue(self.server, "peer0.kblockd", self.server.cpus[0])
        for number, given in enumerate(host.disks):
            if number < vscsi.adapters:
                adapters.append(self._adapter(number, vscsi, kblockd))
            adapter = adapters[number % vscsi.adapters]
            part, backing = self.partitions[given.backing]
            disk = VirtualDisk(adapter, part, backing)
            most = min(vscsi.max_transfer_bytes // SECTOR_BYTES, _LARGEST_REQUEST_SECTORS)
            queue = self._queue(f"client.{given.name}", disk, given.queue, host, most)
            _set_tunables(queue, given.iosched)
            disk.queue = queue
            queue.run_starved = adapter.run_starved
            self.queues[given.name] = queue
            self.adapter_interrupts[given.name] = adapter.interrupt

    def _queue(
        self, path: str, target: Any, given: BlockQueue, host: Host, most_sectors: int
    ) -> RequestQueue:
        queue = RequestQueue(
            self.sim,
            path,
            target,
            scheduler=given.scheduler,
            hz=host.kernel.hz,
            nr_requests=given.nr_requests,
            max_hw_sectors=most_sectors,
            depth=given.queue_depth,
        )
        if given.max_sectors_bytes:
            largest = min(given.max_sectors_bytes // _KIB, most_sectors * SECTOR_BYTES // _KIB)
            store(queue, "max_sectors_kb", str(largest))
        store(queue, "read_ahead_kb", str(given.read_ahead_bytes // _KIB))
        return queue

    def _adapter(self, number: int, given: Vscsi, kblockd: WorkQueue) -> VirtualAdapter:
        here, there = self.effective.cpu, self.effective.peers[0].cpu

        def client(cycles: int) -> int:
            return cycles_ps(cycles, here.clock_hz)

        def server(cycles: int) -> int:
            return cycles_ps(cycles, there.clock_hz)

        costs = VscsiCosts(
            submit_ps=client(given.submit_cycles),
            complete_ps=client(given.complete_cycles),
            notice_ps=server(given.notice_cycles),
            serve_ps=server(given.serve_cycles),
            answer_ps=server(given.answer_cycles),
            copy_kib_ps=server(given.copy_kib_cycles),
        )
        requests, answers = (
            CommandQueue(self.sim, f"vscsi{number}.{name}", given.crq_latency_ps)
            for name in ("requests", "answers")
        )
        target = VscsiServer(
            DeviceInterrupt(self.server, f"peer0.vscsi{number}", _FIRST_IRQ + number),
            kblockd,
            costs,
            answers,
        )
        return VirtualAdapter(
            DeviceInterrupt(self.client, f"client.vscsi{number}", _FIRST_IRQ + number),
            costs,
            requests,
            target,
            request_limit=given.request_limit,
        )

    # -- the client's processes ---------------------------------------------------------------

    def _page_cache(self) -> PageCache:
        kernel, costs = self.effective.kernel, self.client.costs
        lines = _PAGE_BYTES // costs.line_bytes
        return PageCache(
            self.env,
            hz=kernel.hz,
            pages=kernel.page_cache_bytes // _PAGE_BYTES,
            cpus=len(self.client.cpus),
            dirty_ratio=kernel.dirty_ratio,
            dirty_background_ratio=kernel.dirty_background_ratio,
            costs=PageCosts(
                call_ps=costs.syscall_ps,
                user_ps=costs.user_recv_ps,
                page_ps=costs.page_ps,
                copy_ps=lines * costs.copy_line_ps,
                bio_ps=costs.bio_ps,
            ),
        )

    def _process(self, name: str, number: int) -> Process:
        cpus = self.client.cpus
        return Process(
            self.env, self.client, f"client.{name}", cpus[number % len(cpus)], self.iowait
        )

    def _threads(self) -> list[FfsbThread]:
        threads: list[FfsbThread] = []
        ends: dict[str, int] = {}
        for given in self.effective.ffsb:
            system = FileSystem(
                self.queues[given.disk],
                self.adapter_interrupts[given.disk],
                given.num_files,
                given.file_bytes // _PAGE_BYTES,
                first_sector=ends.get(given.disk, 0),
            )
            ends[given.disk] = system.end_sector
            self.systems.append(system)
            group = _group(given)
            for number in range(given.num_threads):
                process = self._process(f"ffsb.{given.name}{number}", len(threads))
                begin_ps = 1 + stream(self.seed, f"{process.path}.start").below(_START_SPREAD_PS)
                threads.append(
                    FfsbThread(
                        group, process, self.cache, system, seed=self.seed, begin_ps=begin_ps
                    )
                )
        return threads

    # -- what can be read ---------------------------------------------------------------------

    def disks(self) -> tuple[DiskCounts, ...]:
        """Counters of all disks."""
        now = self.sim.now
        return tuple(
            DiskCounts(host, name, queue.stats.snapshot(now))
            for host, queues in (("client", self.queues), ("peer0", self.server_queues))
            for name, queue in queues.items()
        )

    def peer_cpus(self) -> tuple[PeerCpu, ...]:
        """Times of the server's CPUs."""
        found = []
        for cpu in self.server.cpus:
            times = cpu.times()
            system_ps = times["system_ps"] + times["softirq_ps"] + times["irq_ps"]
            found.append(
                PeerCpu("peer0", cpu.cpu_id, times["user_ps"], system_ps, 0, 0, times["idle_ps"])
            )
        return tuple(found)

    def iowait_ps(self, cpu: Cpu) -> int:
        """Idle time of a CPU of the client in which a process waited for a disk."""
        return self.iowait.iowait_ps(cpu)

    def blocked(self) -> int:
        """Processes of the client that wait for a disk now."""
        return sum(self.iowait.waiting)

    def interrupts(self) -> int:
        """How often virtual adapters have interrupted the client."""
        return sum(one.line.total for one in set(self.adapter_interrupts.values()))


def _sectors(size_bytes: int) -> int:
    return size_bytes // SECTOR_BYTES // _GRAIN_SECTORS * _GRAIN_SECTORS


def _set_tunables(queue: RequestQueue, given: Iosched) -> None:
    for name, value in given.model_dump().items():
        if value != UNSET:
            store(queue, f"iosched/{name}", str(value))


def _group(given: FfsbGroup) -> ThreadGroup:
    return ThreadGroup(
        weights=(
            given.read_weight,
            given.readall_weight,
            given.write_weight,
            given.writeall_weight,
        ),
        read=Access(
            at_random=given.read_random,
            pages=given.read_bytes // _PAGE_BYTES,
            block_pages=given.read_block_bytes // _PAGE_BYTES,
        ),
        write=Access(
            at_random=given.write_random,
            pages=given.write_bytes // _PAGE_BYTES,
            block_pages=given.write_block_bytes // _PAGE_BYTES,
        ),
        fsync_file=given.fsync_file,
    )
