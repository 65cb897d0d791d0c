"""Micro-partitions: virtual processors that share physical ones, as POWER5's hypervisor has it.

In each dispatch window of 10 ms a partition gets its entitlement, in equal parts for its virtual
processors. A virtual processor whose CPUs have nothing to execute cedes (H_CEDE), keeps what is
left of its part, and runs again when an interrupt or a prod wakes it. One that has used its part up
waits for the next window if its partition is capped; otherwise it gets of the pool's spare time, in
proportion to weights. Sources: IBM, "Advanced POWER Virtualization on IBM System p5" (SG24-7940);
Linux 2.6.16, arch/powerpc/platforms/pseries/setup.c (`pseries_shared_idle`: cede at once).

Which of several runs first is not published. Here: the one that would otherwise not get its part
within its window (so that every part fits, if windows coincide), then one that has some of it left,
those that run already first, then spare time, in slices, to the partition that has had least of it
for its weight.

The processor utilisation resource register (PURR) of a CPU counts the time of its virtual
processor: all while it executes alone, half while its SMT sibling executes, too.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu, VirtualProcessor
from simnet.kernel.component import Component
from simnet.kernel.sentinel import NEVER
from simnet.kernel.simulator import Simulator

# states of a virtual processor
_CEDED: cython.int = 0
_READY: cython.int = 1
_ARRIVING: cython.int = 2
_RUNNING: cython.int = 3
# events of a virtual processor and of the pool, after whatever CPUs do at that time
_PRIORITY: cython.int = 3
# of the time that a weight of one would have had
_SHARE: cython.longlong = 256


@cython.final
@cython.cclass
class LogicalPartition:
    """What virtual processors of one partition have in common.

    Args:
        name: of its virtual processors' paths.
        entitled_ps: of physical processors' time in each window.
        capped: gets no more than that.
        weight: of its share of spare time; 0 for none.
        phase_ps: by how much its windows lag behind the pool's.
    """

    name: Any = None
    entitled_ps: cython.longlong = 0
    takes_spare: cython.bint = False
    weight: cython.longlong = 0
    phase_ps: cython.longlong = 0
    spare: cython.longlong = 0  # what it has had of spare time, for its weight
    processors: list[Any] = None

    def __init__(
        self, name: str, *, entitled_ps: int, capped: bool, weight: int, phase_ps: int = 0
    ) -> None:
        self.name = name
        self.entitled_ps = entitled_ps
        self.takes_spare = not capped and weight > 0
        self.weight = weight
        self.phase_ps = phase_ps
        self.processors = []

    @property
    def consumed_ps(self) -> int:
        """Time of physical processors that it has had until now."""
        return sum(processor.total_ps() for processor in self.processors)


@cython.final
@cython.cclass
class SharedProcessor(VirtualProcessor):
    """A virtual processor of a partition.

    Args:
        pool: the physical processors.
        path: component path.
        partition: whose it is.
        part_ps: of the partition's entitlement in each window.
        cpus: its threads; none for one that always computes, and of which nothing else matters.

    Attributes:
        dispatches, cedes: how often it was given a processor, and gave it up.
    """

    pool: ProcessorPool = None
    partition: LogicalPartition = None
    cpus: list[Any] = None
    part_ps: cython.longlong = 0
    left_ps: cython.longlong = 0
    window_end_ps: cython.longlong = 0
    state: cython.int = 0
    since_ps: cython.longlong = 0
    used_ps: cython.longlong = 0
    slice_end_ps: cython.longlong = 0
    ready_number: cython.longlong = 0
    timer: cython.longlong = 0
    counted_ps: cython.longlong = 0
    executing: cython.int = 0
    dispatches: cython.longlong = 0
    cedes: cython.longlong = 0

    def __init__(
        self,
        pool: ProcessorPool,
        path: str,
        partition: LogicalPartition,
        part_ps: int,
        cpus: list[Cpu],
    ) -> None:
        super().__init__(pool.sim, path)
        self.pool = pool
        self.partition = partition
        self.cpus = list(cpus)
        self.part_ps = part_ps
        self.state = _CEDED
        partition.processors.append(self)
        pool.processors.append(self)
        for cpu in self.cpus:
            cpu.virtual = self
            cpu.leave()
        if not self.cpus:
            pool.request(self)

    # -- what its CPUs say ------------------------------------------------------------------

    def work_arrived(self, cpu: Cpu) -> cython.int:
        """An interrupt or a prod (H_PROD) for one of its CPUs."""
        if self.state == _CEDED:
            self.pool.request(self)
        return 0

    def became_idle(self, cpu: Cpu) -> cython.int:
        """Cede when no thread has anything to execute."""
        other: Cpu
        if self.state != _RUNNING:
            return 0
        for other in self.cpus:
            if other.level >= 0 or other.wants:
                return 0
        self._use()
        self.cedes += 1
        self.state = _CEDED
        for other in self.cpus:
            other.leave()
        return self.pool.released()

    def changed(self, cpu: Cpu) -> cython.int:
        """Count the PURR up to now."""
        other: Cpu
        bit: cython.int = 1
        self._count()
        self.executing = 0
        for other in self.cpus:
            if other.level >= 0:
                self.executing |= bit
            bit *= 2
        return 0

    # -- time -------------------------------------------------------------------------------

    def _count(self) -> cython.int:
        """Give the time since the last count to the threads that have executed."""
        now: cython.longlong = self.sim.now
        elapsed: cython.longlong = now - self.counted_ps
        mask: cython.int = self.executing
        sharing: cython.longlong = 0
        part: cython.longlong
        bit: cython.int = 1
        other: Cpu
        self.counted_ps = now
        if self.state != _RUNNING or elapsed == 0:
            return 0
        while bit <= mask:
            if mask & bit:
                sharing += 1
            bit *= 2
        bit = 1
        for other in self.cpus:
            if mask & bit:
                part = elapsed // sharing
                other.purr_ps += part
                elapsed -= part
                sharing -= 1
            bit *= 2
        return 0

    def _use(self) -> cython.int:
        """Take what it has run off its part, and beyond that off its partition's spare time."""
        now: cython.longlong = self.sim.now
        ran: cython.longlong = now - self.since_ps
        self._count()
        if self.state != _RUNNING:
            return 0
        self.since_ps = now
        self.used_ps += ran
        if ran > self.left_ps:
            ran -= self.left_ps
            self.left_ps = 0
            if self.partition.weight > 0:
                self.partition.spare += ran * _SHARE // self.partition.weight
        else:
            self.left_ps -= ran
        return 0

    def total_ps(self) -> cython.longlong:
        """Time of physical processors that it has had until now."""
        if self.state == _RUNNING:
            return self.used_ps + self.sim.now - self.since_ps
        return self.used_ps

    def count(self) -> None:
        """Bring the PURR of its CPUs up to date."""
        self._count()

    def _refill(self, window_ps: cython.longlong) -> cython.int:
        """A window has begun: what is left of the part before is lost."""
        now: cython.longlong = self.sim.now
        phase: cython.longlong = self.partition.phase_ps
        if now >= self.window_end_ps:
            # of what is never negative: compiled, a division rounds towards 0
            self.window_end_ps = (now + window_ps - phase) // window_ps * window_ps + phase
            self.left_ps = self.part_ps
        return 0

    # -- getting and losing a physical processor --------------------------------------------

    def _dispatch(self, delay_ps: cython.longlong) -> cython.int:
        self.state = _ARRIVING
        self.dispatches += 1
        self.timer = self.sim.at(self.sim.now + delay_ps, self, 0, 0, _PRIORITY)
        return 0

    def _preempt(self) -> cython.int:
        """Lose the processor; its CPUs still have something to execute. `_use` was called."""
        cpu: Cpu
        if self.state == _ARRIVING:
            self.sim.cancel(self.timer)
        self.state = _READY
        self.ready_number = self.pool.next_number()
        for cpu in self.cpus:
            cpu.leave()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The physical processor holds its registers: go on."""
        cpu: Cpu
        self.since_ps = self.sim.now
        self.counted_ps = self.sim.now
        self.state = _RUNNING
        self.pool.running(self)
        for cpu in self.cpus:
            cpu.arrive()


@cython.final
@cython.cclass
class ProcessorPool(Component):
    """The physical processors that partitions share.

    Args:
        sim: the simulation.
        path: component path.
        count: of physical processors.
        window_ps: dispatch window.
        dispatch_ps: from the decision to run a virtual processor until it runs.
        slice_ps: of spare time.
        phase_ps: by how much a partition's windows lag behind those of the one added before.
    """

    count: cython.int = 0
    window_ps: cython.longlong = 0
    dispatch_ps: cython.longlong = 0
    slice_ps: cython.longlong = 0
    phase_ps: cython.longlong = 0
    processors: list[Any] = None
    partitions: list[Any] = None
    number: cython.longlong = 0
    timer: cython.longlong = 0
    timer_ps: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        count: int,
        window_ps: int,
        dispatch_ps: int,
        slice_ps: int,
        phase_ps: int = 0,
    ) -> None:
        super().__init__(sim, path)
        self.count = count
        self.window_ps = window_ps
        self.dispatch_ps = dispatch_ps
        self.slice_ps = slice_ps
        self.phase_ps = phase_ps
        self.processors = []
        self.partitions = []

    def add(self, partition: LogicalPartition, threads: list[list[Cpu]]) -> None:
        """Give a partition its virtual processors.

        Args:
            partition: the partition.
            threads: of each virtual processor, its CPUs.
        """
        partition.phase_ps += len(self.partitions) * self.phase_ps
        partition.phase_ps %= self.window_ps
        self.partitions.append(partition)
        parts = partition.entitled_ps // len(threads)
        for number, cpus in enumerate(threads):
            SharedProcessor(
                self, f"{self.path}.{partition.name}.vp{number}", partition, parts, cpus
            )

    # -- what virtual processors say --------------------------------------------------------

    def next_number(self) -> cython.longlong:
        """Number of the next in the queue."""
        self.number += 1
        return self.number

    def request(self, processor: SharedProcessor) -> cython.int:
        """A virtual processor that had ceded has something to execute."""
        processor.state = _READY
        processor.ready_number = self.next_number()
        if processor.partition.takes_spare:
            self._join(processor)
        return self._look_at(self.sim.now)

    def _join(self, joining: SharedProcessor) -> cython.int:
        """Spare time that a partition had no use for gives it no claim to more later."""
        least: cython.longlong = NEVER
        other: SharedProcessor
        for other in self.processors:
            if other is joining or other.state == _CEDED or not other.partition.takes_spare:
                continue
            if other.partition is joining.partition:
                return 0
            if other.partition.spare < least:
                least = other.partition.spare
        if least != NEVER and joining.partition.spare < least:
            joining.partition.spare = least
        return 0

    def released(self) -> cython.int:
        """A virtual processor has ceded: perhaps another waits."""
        other: SharedProcessor
        for other in self.processors:
            if other.state == _READY:
                return self._look_at(self.sim.now)
        return 0

    def running(self, processor: SharedProcessor) -> cython.int:
        """A virtual processor runs from now on: choose anew when its part ends."""
        if processor.left_ps > 0:
            return self._look_at(self.sim.now + processor.left_ps)
        return 0

    # -- choosing ---------------------------------------------------------------------------

    def _look_at(self, when: cython.longlong) -> cython.int:
        """Choose anew at `when`, if not before."""
        if self.timer != 0:
            if self.timer_ps <= when:
                return 0
            self.sim.cancel(self.timer)
        self.timer_ps = when
        self.timer = self.sim.at(when, self, 0, 0, _PRIORITY)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Choose who runs."""
        processor: SharedProcessor
        self.timer = 0
        for processor in self.processors:
            processor._use()  # noqa: SLF001 - C method of this module
            processor._refill(self.window_ps)  # noqa: SLF001 - C method of this module
        self._choose()
        self._arm()

    def _choose(self) -> cython.int:
        """Give the physical processors to those that come first."""
        processor: SharedProcessor
        chosen: list[Any] = []
        best: SharedProcessor
        while len(chosen) < self.count:
            best = None
            for processor in self.processors:
                if (
                    self._eligible(processor)
                    and processor not in chosen
                    and (best is None or self._before(processor, best))
                ):
                    best = processor
            if best is None:
                break
            chosen.append(best)
        for processor in self.processors:
            if processor.state >= _ARRIVING and processor not in chosen:
                processor._preempt()  # noqa: SLF001 - C method of this module
        for processor in chosen:
            if processor.state == _READY:
                processor._dispatch(self.dispatch_ps)  # noqa: SLF001 - C method of this module
        return 0

    def _eligible(self, processor: SharedProcessor) -> cython.bint:
        return processor.state != _CEDED and (
            processor.left_ps > 0 or processor.partition.takes_spare
        )

    def _class(self, processor: SharedProcessor) -> cython.int:
        """0: has no time to lose; 1, 2: has some of its part left; 3, 4: gets spare time."""
        if processor.left_ps > 0:
            if processor.left_ps >= processor.window_end_ps - self.sim.now:
                return 0
            return 1 if processor.state >= _ARRIVING else 2
        if processor.state >= _ARRIVING and processor.slice_end_ps > self.sim.now:
            return 3
        return 4

    def _before(self, one: SharedProcessor, other: SharedProcessor) -> cython.bint:
        """Whether `one` comes first."""
        rank: cython.int = self._class(one)
        rival: cython.int = self._class(other)
        if rank != rival:
            return rank < rival
        if rank >= 3 and one.partition.spare != other.partition.spare:  # noqa: PLR2004 - spare time
            return one.partition.spare < other.partition.spare
        return one.ready_number < other.ready_number

    def _arm(self) -> cython.int:
        """Choose anew when the next part, slice or window ends, or has to begin."""
        now: cython.longlong = self.sim.now
        when: cython.longlong = NEVER
        then: cython.longlong
        processor: SharedProcessor
        for processor in self.processors:
            if processor.state == _CEDED:
                continue
            then = processor.window_end_ps
            if processor.left_ps > 0:
                if processor.state == _RUNNING and now + processor.left_ps < then:
                    then = now + processor.left_ps
                elif processor.state == _READY and then - processor.left_ps > now:
                    then -= processor.left_ps
            elif processor.state >= _ARRIVING:
                if processor.slice_end_ps <= now:
                    processor.slice_end_ps = now + self.slice_ps
                if processor.slice_end_ps < then:
                    then = processor.slice_end_ps
            if then < when:
                when = then
        if when < NEVER:
            self._look_at(when)
        return 0
