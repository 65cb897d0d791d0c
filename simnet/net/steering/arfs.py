"""Accelerated RFS: the port sends a flow to a queue of the CPU where it is read.

When a flow moves to another CPU, RFS asks the driver to send it to the queue that is nearest to
that CPU (`CpuRmap`). The driver remembers a rule for the flow and programs it from a kernel worker,
so later packets come by the other queue, and those before by the old one: nothing keeps the order
between both, in the kernel neither. A rule goes when its flow's entry says that nothing has come
for ten times as many packets as the table has entries, or that the entry is another flow's.

Source: net/core/dev.c `set_rps_cpu`, `rps_may_expire_flow`; mlx5/core/en_arfs.c
`mlx5e_rx_flow_steer`, `arfs_handle_work`, `arfs_may_expire_flow`; ice/ice_arfs.c
`ice_rx_flow_steer`, `ice_sync_arfs_fltrs`, of Linux 6.12, and ice_main.c for its service timer.
mlx5 has a work item for each rule, one after the other, each a command to the firmware; the service
task of ice writes all at once. Up to Linux 6.15 ice takes flows of one hash bucket and one flow
entry for the same. The time of the workers on a CPU is not counted, and no table is ever full.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cython

from simnet.kernel.priority import NIC
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header
from simnet.net.steering.backlog import Backlog
from simnet.net.steering.cpu_rmap import CpuRmap
from simnet.net.steering.flow_rules import FlowRules, flow_of
from simnet.net.steering.steering import Accelerator, PacketSteering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu
    from simnet.host.interrupt import IrqLine

_WORK: cython.int = 0
_TIMER: cython.int = 1
_NO_FILTER: cython.longlong = -1
# RPS_NO_FILTER
_FILTERS: cython.longlong = 0xFFFF
# MLX5E_ARFS_EXPIRY_QUOTA
_EXPIRY_QUOTA: cython.longlong = 60
# ICE_ARFS_LST_MASK
_BUCKET_MASK: cython.longlong = 1023
# rps_may_expire_flow
_TABLES_WITHOUT: cython.longlong = 10


@dataclass(frozen=True)
class ArfsDriver:
    """How a driver programs rules."""

    command_ps: int  # from a request to the rule in the device
    # one task writes all rules that were asked for; else each has a work item
    batches: bool = False
    by_flow_entry: bool = False  # flows with the same bucket and flow entry are one to it
    period_ps: int = 0  # the task runs so often even if nothing is asked for; 0: it does not


@cython.final
@cython.cclass
class _Rule:
    """`struct arfs_rule`, `struct ice_arfs_entry`."""

    key: Any = None  # what the driver finds it by
    flow: Any = None  # of the packets, see `flow_of`
    queue: cython.int = 0  # where they shall go
    entry: cython.longlong = 0  # the flow's entry in that queue's table when it was made
    filter_id: cython.longlong = 0  # its number
    waits: cython.bint = False  # it is still to be programmed

    def __init__(
        self,
        key: Any,
        flow: Any,
        queue: cython.int,
        entry: cython.longlong,
        filter_id: cython.longlong,
    ) -> None:
        self.key = key
        self.flow = flow
        self.queue = queue
        self.entry = entry
        self.filter_id = filter_id


@cython.final
@cython.cclass
class Arfs(Accelerator):
    """The driver's rules for flows of one port.

    Args:
        driver: how they are programmed.
        rules: of the port.
        lines: the interrupt of each queue.
        queues: what steers each queue's packets; None for a queue without a flow table.
        backlogs: of the machine's CPUs, by number.
        cpus: of the machine, by number.
    """

    command_ps: cython.longlong = 0
    batches: cython.bint = False
    by_flow_entry: cython.bint = False
    period_ps: cython.longlong = 0
    rules: FlowRules = None
    queues: list[Any] = None
    backlogs: list[Any] = None
    rmap: Any = None
    known: dict[tuple[int, int], _Rule] = None
    waiting: Any = None
    works: cython.bint = False
    ticks: cython.bint = False
    last_filter_id: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        driver: ArfsDriver,
        rules: FlowRules,
        lines: Sequence[IrqLine],
        queues: Sequence[PacketSteering | None],
        backlogs: list[Backlog],
        cpus: Sequence[Cpu],
    ) -> None:
        super().__init__(sim, path)
        self.command_ps = driver.command_ps
        self.batches = driver.batches
        self.by_flow_entry = driver.by_flow_entry
        self.period_ps = driver.period_ps
        self.rules = rules
        self.queues = list(queues)
        self.backlogs = backlogs
        self.rmap = CpuRmap(cpus, len(lines))
        for number, line in enumerate(lines):
            self._follow(number, line)
        for number, steering in enumerate(queues):
            if steering is not None:
                steering.accelerate(self, number)
        self.known = {}
        self.waiting = deque()

    def _follow(self, number: int, line: IrqLine) -> None:
        """`irq_cpu_rmap_add`: have the map follow an interrupt."""
        self.rmap.update(number, line.smp_affinity)
        rmap = self.rmap

        def notify(mask: int) -> None:
            rmap.update(number, mask)

        line.affinity_notify = notify

    # -- in the softirq -------------------------------------------------------------------------

    def steer(
        self, current: PacketSteering, header: Header, cpu: cython.longlong
    ) -> PacketSteering:
        """The part of `set_rps_cpu` for CONFIG_RFS_ACCEL; see `Accelerator.steer`."""
        number: cython.int = self.rmap.queue(cpu)
        wanted: PacketSteering
        entry: cython.longlong
        filter_id: cython.longlong
        if number == current.number:
            return current
        wanted = self.queues[number]
        if wanted is None or wanted.flow_mask < 0:
            return current
        entry = header.rxhash & wanted.flow_mask
        filter_id = self._rx_flow_steer(header, number, entry)
        wanted.flow_filters[entry] = filter_id
        entry = header.rxhash & current.flow_mask
        if current.flow_filters[entry] == filter_id:
            current.flow_filters[entry] = _NO_FILTER
        return wanted

    def _rx_flow_steer(
        self, header: Header, number: cython.int, entry: cython.longlong
    ) -> cython.longlong:
        """`ndo_rx_flow_steer`: find or make a rule; return its number."""
        flow = flow_of(header)
        key = flow
        rule: _Rule
        if self.by_flow_entry:
            key = (header.rxhash & _BUCKET_MASK, entry)
        rule = self.known.get(key)
        if rule is None:
            rule = _Rule(key, flow, number, entry, self.last_filter_id % _FILTERS)
            self.last_filter_id += 1
            self.known[key] = rule
            self.rules.added += 1
        elif rule.queue == number or rule.waits:
            return rule.filter_id
        else:
            rule.queue = number
            self.rules.updated += 1
        rule.waits = True
        self.waiting.append(rule)
        self._wake()
        if self.period_ps > 0 and not self.ticks:
            self.ticks = True
            self.sim.after(self.period_ps, self, _TIMER, 0, NIC)
        return rule.filter_id

    # -- in the worker --------------------------------------------------------------------------

    def _wake(self) -> cython.int:
        """`queue_work`."""
        if not self.works:
            self.works = True
            self.sim.after(self.command_ps, self, _WORK, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A rule is in the device, or the timer of the service task has fired."""
        removed: cython.longlong
        if kind == _TIMER:
            self.sim.after(self.period_ps, self, _TIMER, 0, NIC)
            self._wake()
            return
        self.works = False
        if self.batches:
            self._expire(len(self.known))
            while self.waiting:
                self._program(self.waiting.popleft())
            return
        self._program(self.waiting.popleft())
        removed = self._expire(_EXPIRY_QUOTA)
        if self.waiting:
            self.works = True
            self.sim.after(self.command_ps * (1 + removed), self, _WORK, 0, NIC)

    def _program(self, rule: _Rule) -> cython.int:
        """Packets go by the rule from now on."""
        rule.waits = False
        self.rules.steered[rule.flow] = rule.queue
        return 0

    def _expire(self, most: cython.longlong) -> cython.longlong:
        """Remove rules that may expire, up to so many; return how many did."""
        rule: _Rule
        stale: Any = []
        for rule in self.known.values():
            if len(stale) < most and not rule.waits and self._may_expire(rule):
                stale.append(rule)
        for rule in stale:
            del self.known[rule.key]
            self.rules.steered.pop(rule.flow, None)
        self.rules.expired += len(stale)
        return len(stale)

    def _may_expire(self, rule: _Rule) -> cython.bint:
        """`rps_may_expire_flow`."""
        steering: PacketSteering = self.queues[rule.queue]
        backlog: Backlog
        cpu: cython.longlong
        entry: cython.longlong = rule.entry
        if entry > steering.flow_mask or steering.flow_filters[entry] != rule.filter_id:
            return True
        cpu = steering.flow_cpus[entry]
        if cpu < 0:
            return True
        backlog = self.backlogs[cpu]
        return backlog.head - steering.flow_tails[entry] >= _TABLES_WITHOUT * steering.flow_mask
