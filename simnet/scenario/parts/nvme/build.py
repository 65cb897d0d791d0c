"""From a drive of a configuration to the drive and its queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.host.costs import cycles_ps
from simnet.host.interrupt import IrqLine
from simnet.scenario.parts.disks.build import make_disk
from simnet.scenario.parts.storage.schema import UNSET
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel
from simnet.storage.multiqueue.affinity import spread
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.queue import MultiQueue
from simnet.storage.multiqueue.schedulers import scheduler_of

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Host
    from simnet.scenario.parts.nvme.schema import HostDrive, NvmeDriver
    from simnet.scenario.system.ground import Ground

#: of the first queue of the first drive; ports have lower numbers
FIRST_IRQ = 1000


def costs_of(driver: NvmeDriver, clock_hz: int, scheduler: str = "none") -> MqCosts:
    """What steps cost on CPUs of a clock, those of a scheduler with them."""
    own = f"{scheduler.replace('-', '_')}_"

    def ps(cycles: int) -> int:
        return cycles_ps(cycles, clock_hz)

    return MqCosts(
        submit_ps=ps(driver.submit_cycles),
        page_ps=ps(driver.page_cycles),
        schedule_ps=ps(getattr(driver, f"{own}cycles", 0)),
        lock_ps=ps(getattr(driver, f"{own}lock_cycles", 0)),
        lock_lines=driver.lock_lines,
        complete_ps=ps(driver.complete_cycles),
        poll_ps=max(ps(driver.poll_cycles), 1000),
    )


def make_queue(
    ground: Ground, host: Host, driver: NvmeDriver, drive: HostDrive, first_irq: int
) -> MultiQueue:
    """Return the queue of a drive with its hardware queues; polled ones have no interrupt."""
    machine = ground.machine
    disk = make_disk(ground.sim, f"{drive.name}.drive", DiskModel(**drive.disk.model_dump()))
    # one is left for what is not polled (`nvme_setup_irqs`): a drive may have fewer than is known
    polled = min(driver.poll_queues, len(machine.online), drive.disk.queues - 1)
    groups = spread(machine.online, min(drive.disk.queues - polled, len(machine.online)))
    lines: list[IrqLine | None] = [
        IrqLine(
            first_irq + number,
            f"{drive.name}q{number}",
            machine.cpus,
            sum(1 << cpu.cpu_id for cpu in cpus),
        )
        for number, cpus in enumerate(groups)
    ]
    if polled:
        groups = [*groups, *spread(machine.online, polled)]
        lines += [None] * polled
    given = drive.queue
    queue = MultiQueue(
        ground.sim,
        drive.name,
        disk,
        machine=machine,
        costs=costs_of(driver, host.cpu.clock_hz, given.scheduler),
        lines=lines,
        groups=groups,
        hz=host.kernel.hz,
        io_queue_depth=min(driver.io_queue_depth, drive.disk.queue_depth),
        nr_requests=given.nr_requests,
        scheduler=scheduler_of(given.scheduler, host.kernel.version),
        rq_affinity=given.rq_affinity,
        nomerges=given.nomerges,
        max_sectors=given.max_sectors_bytes // SECTOR_BYTES,
        node=drive.node,
    )
    if drive.name in machine.domains:
        queue.domain = machine.domains[drive.name]
    for name, value in drive.iosched.model_dump().items():
        if value != UNSET:
            queue.scheduler.store(name, value)
    return queue
