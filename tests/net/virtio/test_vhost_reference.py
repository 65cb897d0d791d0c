"""The worker against drivers/vhost/net.c written down as two loops that take their time.

`handle_tx_copy` and `handle_rx` of Linux 5.4 to 6.12, with `vhost_net_busy_poll`. What comes has a
picosecond of its own, all costs are whole nanoseconds: nothing happens at the same time by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.host.fair.rules import FairRules, fair_rules
from simnet.host.kvm.host_cpu import HostCpu, HostThread
from simnet.host.softirq.version import softirq_rules
from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, gro_rules
from simnet.net.link.skb import Skb, new_skb
from simnet.net.virtio.bridge import BridgePort
from simnet.net.virtio.tap import Tap
from simnet.net.virtio.vhost import VhostCosts, VhostWorker
from simnet.net.virtio.virtio_net import VirtioNet
from tests.host.parts import MS, NS, US, Agenda, make_costs, make_machine
from tests.net.parts import Line, Sink, asserted_ps, make_device

SWITCH = 3 * US
COSTS = VhostCosts(
    tx_frame_ps=700 * NS,
    rx_frame_ps=900 * NS,
    buffer_ps=50 * NS,
    bridge_ps=110 * NS,
    signal_ps=0,
    wakeup_ps=400 * NS,
    copy_line_ps=7 * NS,
    far_line_ps=3 * NS,
    line_bytes=64,
)
WIRE = 24
# VHOST_NET_BATCH, VHOST_NET_PKT_WEIGHT, VHOST_NET_WEIGHT of drivers/vhost/net.c
BATCH, PACKETS, BYTES = 64, 256, 0x80000
# a page without headroom (NET_SKB_PAD + NET_IP_ALIGN + 256) and `skb_shared_info`
SMALL = 3648
RX, TX = "rx", "tx"


def sleeps(number: int) -> bool:
    """Whether a frame finds a thread asleep where it goes."""
    return number % 3 == 0


class Far(BridgePort):
    """Where frames go; logs when each comes, and what the worker has had of the CPU until then."""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self.log: list[tuple[int, int]] = []
        self.nodes: set[int] = set()
        self.worker: VhostWorker | None = None
        self.used: list[int] = []
        self.other: Other | None = None

    def sleeps(self, skb: Skb) -> bool:
        return sleeps(skb.seq)

    def enqueue(self, skb: Skb) -> int:
        self.log.append((self.sim.now, skb.seq))
        self.nodes.add(skb.home_node)
        if self.worker is not None:
            self.used.append(self.worker.busy_ps())
        if self.other is not None:
            self.other.wake()
        return 0


class Other(HostThread):
    """Has the CPU for some time whenever it is woken, as what it waits for allows."""

    def __init__(self, host: HostCpu, work_ps: int) -> None:
        super().__init__(host, "other")
        self.work_ps = work_ps
        self.agenda = Agenda(host.sim, "other.agenda")
        self.asleep = True
        self.runs = 0
        self.turn = 0

    def wake(self) -> None:
        if self.asleep:
            self.asleep = False
            self.host.wake(self)

    def resumed(self) -> int:
        self.runs += 1
        self.turn += 1
        self.agenda.at(self.host.sim.now + self.work_ps, self.finish, self.turn)
        return 0

    def preempted(self) -> int:
        self.turn += 1
        return 0

    def finish(self, turn: int) -> None:
        if turn == self.turn:
            self.asleep = True
            self.host.block(self)


@dataclass
class System:
    """A guest that takes no time, its worker, and a bridge that logs."""

    node: int = 0
    busy_poll: int = 0
    tap_limit: int = 1000
    ring: int = 2048
    rules: FairRules = field(default_factory=lambda: fair_rules("6.6"))
    signal: int = 0
    latency: int = 0
    poll_ns: int = 0
    sim: Simulator = field(default_factory=Simulator)

    def __post_init__(self) -> None:
        machine = make_machine(
            self.sim, "guest", make_costs(poll=self.poll_ns), rules=softirq_rules("6.6")
        )
        self.sink = Sink(self.sim)
        device = make_device(
            self.sim, machine, rx_buffers=self.ring, tx_ring=self.ring - 19, qdisc_limit=5000
        )
        gro = Gro(gro_rules("6.6"), enabled=False)
        self.nic = VirtioNet(device, gro, tso=False, ring_size=self.ring)
        self.nic.line = Line(self.sim, 24, "eth0", machine.cpus, 1)
        self.far = Far(self.sim)
        self.host = HostCpu(
            self.sim,
            "host.cpu0",
            node=self.node,
            rules=self.rules,
            switch_ps=SWITCH,
            idle_states=None,
        )
        costs = {name: getattr(COSTS, name) for name in COSTS.__slots__}
        self.worker = VhostWorker(
            self.host,
            "vhost0",
            self.nic,
            Tap(),
            self.far,
            VhostCosts(**costs | {"signal_ps": self.signal}),
            guest_node=1,
            busy_poll_ps=self.busy_poll,
            tap_limit=self.tap_limit,
        )
        self.nic.attach(self.worker, US, 0, self.latency)
        self.agenda = Agenda(self.sim)

    def frame(self, number: int, length: int, node: int = 0) -> Skb:
        skb = new_skb(self.sink, number, number + 1, 0, 0, length + WIRE, push=False)
        skb.home_node = node
        return skb

    def come(self, what: Input) -> None:
        if what.kind == RX:
            for number in what.numbers:
                self.worker.enqueue(self.frame(number, what.length, number % 2))
        else:
            for number in what.numbers:
                self.nic.transmit(self.frame(number, what.length))
            self.nic.flush()

    def run(self, inputs: list[Input], until: int = 100 * MS) -> None:
        for what in inputs:
            self.agenda.at(what.time, self.come, what)
        self.sim.run_until(until)


@dataclass(frozen=True)
class Input:
    """Frames of one length that come at once."""

    time: int
    kind: str
    numbers: range
    length: int


def scheduled(plan: list[tuple[int, str, int, int]]) -> list[Input]:
    """Give each input its picosecond, and frames their numbers."""
    inputs = []
    time = number = 0
    for index, (gap, kind, count, length) in enumerate(plan):
        time += gap * US
        inputs.append(Input(time + index + 1, kind, range(number, number + count), length))
        number += count
    return inputs


class Kernel:
    """The two loops; `tx` and `rx` are what they handed on, and when."""

    def __init__(self, node: int, busy_poll: int, tap_limit: int, inputs: list[Input]) -> None:
        self.node = node
        self.busy_poll = busy_poll
        self.tap_limit = tap_limit
        self.inputs = list(inputs)
        self.clock = 0
        self.works: list[str] = []
        self.tap: list[tuple[int, int]] = []
        self.ring: list[tuple[int, int]] = []
        self.notify = self.waits = True
        self.poller = ""
        self.drops = self.kicks = self.mean = 0
        self.unread: list[int] = []
        self.tx: list[tuple[int, int]] = []
        self.rx: list[tuple[int, int]] = []
        while self.inputs or self.works:
            if not self.works:
                self.pass_time(self.inputs[0].time - self.clock)
                self.pass_time(SWITCH if self.works else 0)
            while self.works:
                self.handle_tx() if self.works.pop(0) == TX else self.handle_rx()

    def add(self, work: str) -> None:
        if work not in self.works:
            self.works.append(work)

    def take(self, what: Input) -> bool:
        """Frames come; return whether a worker that polls has something to do then."""
        if what.kind == TX:
            self.ring += [(number, what.length) for number in what.numbers]
            if self.notify:
                self.notify = False
                self.kicks += 1
                self.add(TX)
            elif self.poller == RX:
                self.add(TX)
            return True
        woken = False
        for number in what.numbers:
            if len(self.tap) == self.tap_limit:
                self.drops += 1
                continue
            self.tap.append((number, what.length))
            if self.waits:
                self.waits, woken = False, True
                self.add(RX)
        return woken

    def pass_time(self, ps: int) -> None:
        self.clock += ps
        while self.inputs and self.inputs[0].time <= self.clock:
            self.take(self.inputs.pop(0))
        if ps:
            # RECEIVE_AVG_WEIGHT of drivers/net/virtio_net.c
            for length in self.unread:
                self.mean = (63 * self.mean + length) // 64
            self.unread = []

    def may_poll(self) -> bool:
        return bool(self.busy_poll) and not self.works

    def poll(self, work: str) -> None:
        self.pass_time(0)
        end, self.poller = self.clock + self.busy_poll, work
        self.notify, self.waits = False, True
        while self.inputs and self.inputs[0].time <= end:
            self.clock = self.inputs[0].time
            if self.take(self.inputs.pop(0)):
                end = self.clock
        self.clock, self.poller = end, ""
        for length in self.unread:
            self.mean = (63 * self.mean + length) // 64
        self.unread = []

    def copy(self, length: int, *nodes: int) -> int:
        line = COSTS.copy_line_ps + COSTS.far_line_ps * sum(node != self.node for node in nodes)
        return -(-length // COSTS.line_bytes) * line

    def handle_tx(self) -> None:
        self.notify = False
        sent = total = 0
        polled = False
        batch: list[int] = []
        while True:
            if self.ring and sent < PACKETS and total < BYTES:
                number, length = self.ring[0]
                polled = False
                self.pass_time(COSTS.tx_frame_ps + self.copy(length, 1))
                del self.ring[0]
                batch.append(number)
                sent, total = sent + 1, total + length
                if length <= SMALL and len(batch) < BATCH:
                    continue
            if batch:
                woken = COSTS.wakeup_ps if sleeps(batch[0]) else 0
                self.pass_time(len(batch) * COSTS.bridge_ps + woken)
                self.tx += [(self.clock, number) for number in batch]
                batch = []
            elif self.ring:
                return self.add(TX)
            elif self.may_poll() and not polled:
                polled = True
                self.poll(TX)
            elif polled and self.works:
                return self.add(TX)
            else:
                self.notify = True
                return None

    def handle_rx(self) -> None:
        self.waits = False
        given = total = headcount = 0
        polled = False
        used: list[int] = []
        while True:
            if self.tap and given < PACKETS and total < BYTES:
                number, length = self.tap[0]
                polled = False
                buffers = -(-(length + 12) // min(max(1518, self.mean) + 12, 4096))
                self.pass_time(
                    COSTS.rx_frame_ps + buffers * COSTS.buffer_ps + self.copy(length, number % 2, 1)
                )
                del self.tap[0]
                used.append(number)
                self.lengths = [*getattr(self, "lengths", []), length]
                given, total, headcount = given + 1, total + length, headcount + buffers
                if headcount <= BATCH:
                    continue
            if used:
                self.rx += [(self.clock, number) for number in used]
                self.unread += self.lengths
                self.lengths = []
                used, headcount = [], 0
            elif self.tap:
                return self.add(RX)
            elif self.may_poll() and not polled:
                polled = True
                self.poll(RX)
            elif polled and self.works:
                return self.add(RX)
            else:
                self.waits = True
                self.notify = self.notify or polled
                return None


LENGTHS = st.sampled_from((54, 1000, 1514, SMALL, SMALL + 1, 20_000, 65_226))
PLANS = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from((RX, TX)), st.integers(1, 12), LENGTHS),
    min_size=1,
    max_size=14,
)
FLOODS = [(0, TX, 300, 54), (1, RX, 300, 54), (1, TX, 300, 1000), (0, RX, 1, 1000)]
LARGE = [(0, TX, 12, 65_226), (0, RX, 12, 65_226), (900, TX, 9, 65_536), (0, RX, 9, 65_536)]
# one byte less than the weight, and one more frame
ALMOST = [
    *[(0, kind, 7, 65_536) for kind in (TX, RX)],
    *[(0, kind, 1, 65_535) for kind in (TX, RX)],
    *[(0, kind, 3, 54) for kind in (TX, RX)],
]
BATCHES = [(0, TX, 64, 54), (300, TX, 65, 54), (300, TX, 63, 54)]
POLLED = [(0, RX, 1, 54), (9, TX, 2, 54), (3, RX, 1, 54), (10, TX, 1, 54), (90, RX, 1, 54)]


@settings(max_examples=30)
@example(plan=FLOODS, node=0, busy_poll=0, tap_limit=1000)
@example(plan=FLOODS, node=0, busy_poll=20 * US, tap_limit=1000)
@example(plan=LARGE, node=1, busy_poll=0, tap_limit=1000)
@example(plan=ALMOST, node=1, busy_poll=0, tap_limit=1000)
@example(plan=BATCHES, node=0, busy_poll=0, tap_limit=1000)
@example(plan=POLLED, node=0, busy_poll=20 * US, tap_limit=1000)
@given(
    plan=PLANS,
    node=st.integers(0, 1),
    busy_poll=st.sampled_from((0, 5 * US, 40 * US)),
    tap_limit=st.sampled_from((3, 1000)),
)
def test_each_frame_is_handed_on_when_the_kernel_s_loops_do(
    plan: list[tuple[int, str, int, int]], node: int, busy_poll: int, tap_limit: int
) -> None:
    inputs = scheduled(plan)
    system = System(node, busy_poll, tap_limit)
    system.run(inputs)
    kernel = Kernel(node, busy_poll, tap_limit, inputs)
    assert system.far.log == kernel.tx
    assert [(time, number) for time, _, number in system.sink.log] == kernel.rx
    worker = system.worker
    assert (worker.frames_tx, worker.frames_rx) == (len(kernel.tx), len(kernel.rx))
    assert (worker.drops, system.nic.kicks) == (kernel.drops, kernel.kicks)
    assert system.far.nodes <= {node}
    assert worker.starved == 0


@pytest.mark.parametrize("work_ps", [5 * US, 90 * US])
@pytest.mark.parametrize("credit_ps", [0, 12 * US])
def test_what_a_worker_has_done_depends_on_its_time_on_the_cpu_alone(
    credit_ps: int, work_ps: int
) -> None:
    inputs = scheduled([(0, TX, 40, 65_226), (0, RX, 30, 20_000), (0, TX, 100, 54)])
    logs, received = [], []
    for others in (False, True):
        system = System(rules=FairRules(20 * US, credit_ps, 4 * US))
        system.far.worker = system.worker
        other = Other(system.host, work_ps)
        if others:
            # the first frame that is sent wakes it, and each that finds it asleep
            system.far.other = other
        system.run(inputs)
        logs.append((system.far.used, [number for _, number in system.far.log]))
        received.append([number for _, _, number in system.sink.log])
        assert (system.worker.preemptions > 0) == others
        assert other.runs >= others
    assert logs[0] == logs[1]
    assert received[0] == received[1]


@pytest.mark.parametrize("poll_ns", [100, 20_000])
@pytest.mark.parametrize("kinds", [(TX,), (RX,), (TX, RX)])
def test_each_signal_is_paid_for_and_is_an_interrupt_of_the_guest(
    kinds: tuple[str, ...], poll_ns: int
) -> None:
    near = [(17 * (n % 5), kinds[n % len(kinds)], 1 + n % 4, 54 + n * 40) for n in range(40)]
    apart = [(100, kind, count, length) for _, kind, count, length in near]
    for plan in (near, apart):
        free, dear = (System(signal=ps, latency=NS, poll_ns=poll_ns) for ps in (0, 2 * US))
        for system in (free, dear):
            system.run(scheduled(plan))
            assert system.worker.signals == len(asserted_ps(system.nic)) > 0
        # frames that come apart are one piece of work each, whatever it costs
        more = dear.worker.busy_ps() - free.worker.busy_ps()
        assert plan is near or more == dear.worker.signals * 2 * US
