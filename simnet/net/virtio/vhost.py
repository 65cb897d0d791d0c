"""A worker thread of vhost-net, between the virtqueues of a guest and its tap device.

Source: drivers/vhost/net.c (`handle_tx_copy`, `handle_rx`, `vhost_net_busy_poll`), vhost.c, and
drivers/net/tun.c (`tun_get_user`, `tun_net_xmit`) of Linux 5.4 to 6.12. A device has a worker for
each pair of queues. It does one of two pieces of work at a time:

- send: take frames that the guest has added, copy each into an `sk_buff`, and hand it to the
  bridge. Frames smaller than a page are collected, up to 64. Kicks are off until no frame is left.
- receive: take frames from the tap's queue, copy each into the guest's buffers, and report them,
  after 64 buffers or when none is left. Without buffers it waits for a kick.

After 512 KiB or 256 packets a piece of work goes to the end of the queue. When nothing is left, the
worker looks for more during `poll-us` before it asks for kicks and blocks.

The bridge's work is done where the frame is sent: it puts it into a queue of another tap, whose
worker it wakes, or hands it to the driver of a port. What finds a tap full is dropped. Zero copy
(`experimental_zcopytx`) is off.
"""

# mypy: no-strict-optional

from dataclasses import dataclass
from typing import Any

import cython

from simnet.host.kvm.host_cpu import BLOCKED, RUNNING, HostCpu
from simnet.kernel.priority import CPU
from simnet.kernel.sentinel import NONE
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.virtio.backend import RX, TX, Backend
from simnet.net.virtio.bridge import BridgePort
from simnet.net.virtio.tap import Tap
from simnet.net.virtio.virtio_net import VirtioNet

# VHOST_NET_BATCH, VHOST_NET_PKT_WEIGHT, VHOST_NET_WEIGHT
_BATCH: cython.int = 64
_MOST_PACKETS: cython.int = 256
_MOST_BYTES: cython.longlong = 0x80000
# what fits into a page with headroom and skb_shared_info (`vhost_net_build_xdp`)
_SMALL_BYTES: cython.longlong = 4096 - 320 - 128
# preamble, FCS and gap, which are not copied
_WIRE_BYTES: cython.longlong = 24
# what it does
_NOTHING: cython.int = 0
_COPIES_TX: cython.int = 1
_SENDS_BATCH: cython.int = 2
_COPIES_RX: cython.int = 3
_SIGNALS_RX: cython.int = 4
_POLLS: cython.int = 5
_GOES_ON: cython.int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class VhostCosts:
    """What a worker's steps cost, in ps."""

    tx_frame_ps: int  # taking a frame from the guest, its bytes apart
    rx_frame_ps: int  # giving a frame to the guest, bytes and buffers apart
    buffer_ps: int  # one of its buffers
    bridge_ps: int  # tap, bridge, and the other tap's queue
    signal_ps: int  # an interrupt for the guest (eventfd, irqfd)
    wakeup_ps: int  # waking another thread
    copy_line_ps: int  # copying a cache line between buffers of the own node
    far_line_ps: int  # more, for each end that is on another node
    line_bytes: int  # cache line


@cython.final
@cython.cclass
class VhostWorker(Backend):
    """The thread of one pair of queues.

    Args:
        host: the CPU that it is pinned to.
        nic: the pair of queues.
        own: the guest's tap, of which this is the next queue.
        far: the tap or port that frames go to.
        costs: of its steps.
        guest_node: node of the guest's memory.
        busy_poll_ps: `poll-us`.
        tap_limit: frames in the tap's queue.
    """

    nic: VirtioNet = None
    # the guest's tap, and where frames go
    own: Tap = None
    far: BridgePort = None
    tx_frame_ps: cython.longlong = 0
    rx_frame_ps: cython.longlong = 0
    buffer_ps: cython.longlong = 0
    bridge_ps: cython.longlong = 0
    signal_ps: cython.longlong = 0
    wakeup_ps: cython.longlong = 0
    copy_line_ps: cython.longlong = 0
    far_line_ps: cython.longlong = 0
    line_bytes: cython.longlong = 0
    busy_poll_ps: cython.longlong = 0
    guest_node: cython.int = 0
    tap: SkbQueue = None  # frames for the guest
    tap_limit: cython.int = 0
    pending: list[Any] = None
    work: cython.int = 0
    phase: cython.int = 0
    has_polled: cython.bint = False
    batch: SkbQueue = None
    used: SkbQueue = None
    claimed: cython.int = 0
    filled: cython.int = 0
    done: cython.int = 0
    packets: cython.int = 0
    bytes: cython.longlong = 0
    timer: cython.longlong = 0
    end_ps: cython.longlong = 0
    left_ps: cython.longlong = 0
    drops: cython.longlong = 0  # frames that found the tap's queue full
    starved: cython.longlong = 0  # how often frames waited for buffers of the guest
    signals: cython.longlong = 0  # interrupts that it asked for
    # that it gave to the guest, and took from it
    frames_rx: cython.longlong = 0
    frames_tx: cython.longlong = 0

    def __init__(
        self,
        host: HostCpu,
        path: str,
        nic: VirtioNet,
        own: Tap,
        far: BridgePort,
        costs: VhostCosts,
        *,
        guest_node: int,
        busy_poll_ps: int,
        tap_limit: int,
    ) -> None:
        super().__init__(host, path)
        self.nic = nic
        self.own = own
        self.far = far
        own.workers.append(self)
        self.tx_frame_ps = costs.tx_frame_ps
        self.rx_frame_ps = costs.rx_frame_ps
        self.buffer_ps = costs.buffer_ps
        self.bridge_ps = costs.bridge_ps
        self.signal_ps = costs.signal_ps
        self.wakeup_ps = costs.wakeup_ps
        self.copy_line_ps = costs.copy_line_ps
        self.far_line_ps = costs.far_line_ps
        self.line_bytes = costs.line_bytes
        self.busy_poll_ps = busy_poll_ps
        self.guest_node = guest_node
        self.tap = SkbQueue()
        self.tap_limit = tap_limit
        self.pending = []
        self.work = NONE
        self.phase = _NOTHING
        self.batch = SkbQueue()
        self.used = SkbQueue()

    # -- what wakes it ------------------------------------------------------------------------

    def kicked(self, queue: cython.int) -> cython.int:
        """`handle_tx_kick`, `handle_rx_kick`."""
        return self._queue(queue)

    def published(self) -> cython.int:
        """Frames to be sent are there: who polls sees them."""
        if self.phase == _POLLS and self.state == RUNNING:
            if self.work == RX and self.nic.avail.count > 0 and TX not in self.pending:
                self.pending.append(TX)
            return self._run(_GOES_ON, 0)
        return 0

    def enqueue(self, skb: Skb) -> cython.int:
        """`tun_net_xmit`: put a frame into the tap's queue, and wake the worker."""
        if self.tap.count >= self.tap_limit:
            self.drops += 1
            return 0
        self.tap.append(skb)
        if self.waits_rx:
            self.waits_rx = False
            return self._queue(RX)
        return 0

    def _queue(self, queue: cython.int) -> cython.int:
        """`vhost_work_queue`."""
        if queue not in self.pending:
            self.pending.append(queue)
        if self.state == BLOCKED:
            return self.host.wake(self)
        return self.published()

    # -- the thread ---------------------------------------------------------------------------

    def resumed(self) -> cython.int:
        """Go on with what was interrupted, or begin."""
        if self.phase == _NOTHING:
            return self._begin()
        return self._run(self.phase, self.left_ps)

    def preempted(self) -> cython.int:
        """Keep what is left of the piece of work; one that wakes another just ends."""
        if self.timer == 0:
            self.phase = _GOES_ON
            self.left_ps = 0
            return 0
        self.sim.cancel(self.timer)
        self.timer = 0
        self.left_ps = self.end_ps - self.sim.now
        return 0

    def _run(self, phase: cython.int, work_ps: cython.longlong) -> cython.int:
        """Execute something, whose effect comes at its end."""
        if self.timer != 0:
            self.sim.cancel(self.timer)
        self.phase = phase
        self.end_ps = self.sim.now + work_ps
        self.timer = self.sim.at(self.end_ps, self, 0, 0, CPU)
        return 0

    def _begin(self) -> cython.int:
        """Begin the next piece of work, or block."""
        self.phase = _NOTHING
        if not self.pending:
            self.work = NONE
            return self.host.block(self)
        self.work = self.pending.pop(0)
        self.packets = 0
        self.bytes = 0
        self.has_polled = False
        if self.work == TX:
            self.notify_tx = False
            return self._next_tx()
        self.notify_rx = False
        self.waits_rx = False
        return self._next_rx()

    def _end(self, again: cython.bint) -> cython.int:
        """End a piece of work; `again`: it comes at the end of the queue."""
        if again and self.work not in self.pending:
            self.pending.append(self.work)
        return self._begin()

    def _polls_busily(self) -> cython.bint:
        """`vhost_net_busy_poll`: once, after the last frame."""
        if self.busy_poll_ps == 0 or self.has_polled or self.pending:
            return False
        self.has_polled = True
        self.notify_tx = False
        self.waits_rx = True
        self._run(_POLLS, self.busy_poll_ps)
        return True

    def _was_interrupted(self) -> cython.bint:
        """Other work came while it polled (`busyloop_intr`): that first, then it looks again."""
        return self.has_polled and len(self.pending) > 0

    def _exceeds_weight(self) -> cython.bint:
        return self.packets >= _MOST_PACKETS or self.bytes >= _MOST_BYTES

    def _copied_ps(self, skb: Skb, from_node: cython.int, to_node: cython.int) -> cython.longlong:
        """Copying a frame from one node's memory to another's."""
        length: cython.longlong = skb.wire_bytes - _WIRE_BYTES
        lines: cython.longlong = (length + self.line_bytes - 1) // self.line_bytes
        line_ps: cython.longlong = self.copy_line_ps
        if from_node != self.host.node:
            line_ps += self.far_line_ps
        if to_node != self.host.node:
            line_ps += self.far_line_ps
        return lines * line_ps

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A piece has been executed: let it have its effect, and go on."""
        skb: Skb
        self.timer = 0
        if self.phase == _COPIES_TX:
            skb = self.nic.avail.pop()
            self.frames_tx += 1
            self.packets += 1
            self.bytes += skb.wire_bytes - _WIRE_BYTES
            self.done += 1
            skb.home_node = self.host.node
            self.batch.append(skb)
            if skb.wire_bytes - _WIRE_BYTES > _SMALL_BYTES or self.done == _BATCH:
                self._send_batch()
            else:
                self._next_tx()
        elif self.phase == _SENDS_BATCH:
            self._batch_sent()
            if self.state == RUNNING:
                self._next_tx()
        elif self.phase == _COPIES_RX:
            skb = self.tap.pop()
            self.frames_rx += 1
            self.packets += 1
            self.bytes += skb.wire_bytes - _WIRE_BYTES
            self.filled += self.claimed
            self.used.append(skb)
            if self.filled > _BATCH:
                self._signal_rx()
            else:
                self._next_rx()
        elif self.phase == _SIGNALS_RX:
            self.filled = 0
            self.nic.take_used(self.used)
            self._next_rx()
        elif self.work == TX:
            self._next_tx()
        else:
            self._next_rx()

    # -- send ---------------------------------------------------------------------------------

    def _next_tx(self) -> cython.int:
        """`handle_tx_copy`: start on the next frame, on what was collected, or end."""
        skb: Skb
        if self.nic.avail.count == 0 or self._exceeds_weight():
            if self.done > 0:
                return self._send_batch()
            if self.nic.avail.count > 0:
                return self._end(True)
            if self._polls_busily():
                return 0
            again: cython.bint = self._was_interrupted()
            self.notify_tx = not again
            return self._end(again)
        skb = self.nic.avail.head
        self.has_polled = False
        return self._run(
            _COPIES_TX, self.tx_frame_ps + self._copied_ps(skb, self.guest_node, self.host.node)
        )

    def _send_batch(self) -> cython.int:
        """`vhost_tx_batch`: hand what was collected to the bridge, report it as used."""
        work: cython.longlong = self.batch.count * self.bridge_ps
        if self.batch.count > 0 and self.far.sleeps(self.batch.head):
            work += self.wakeup_ps
        if self.nic.wants_tx(self.done):
            self.signals += 1
            work += self.signal_ps
        return self._run(_SENDS_BATCH, work)

    def _batch_sent(self) -> cython.int:
        count: cython.int = self.done
        skb: Skb
        self.done = 0
        while self.batch.count > 0:
            skb = self.batch.pop()
            self.own.learn(skb, self)
            self.far.enqueue(skb)
        return self.nic.take_sent(count)

    # -- receive ------------------------------------------------------------------------------

    def _next_rx(self) -> cython.int:
        """`handle_rx`: start on the next frame, on the report of what was received, or end."""
        skb: Skb
        if self.tap.count == 0 or self._exceeds_weight():
            if self.used.count > 0:
                return self._signal_rx()
            return self._stop_rx()
        skb = self.tap.head
        self.claimed = self.nic.claim(skb)
        if self.claimed == 0:
            if self.used.count > 0:
                return self._signal_rx()
            self.starved += 1
            self.notify_rx = True
            return self._end(False)
        self.has_polled = False
        return self._run(
            _COPIES_RX,
            self.rx_frame_ps
            + self.claimed * self.buffer_ps
            + self._copied_ps(skb, skb.home_node, self.guest_node),
        )

    def _stop_rx(self) -> cython.int:
        """No frame is to be given now: poll, or end."""
        again: cython.bint = self.tap.count > 0
        if not again:
            if self._polls_busily():
                return 0
            again = self._was_interrupted()
            if not again:
                self.waits_rx = True
                self.notify_tx = self.notify_tx or self.has_polled
        return self._end(again)

    def _signal_rx(self) -> cython.int:
        """`vhost_net_signal_used`."""
        work: cython.longlong = 0
        if self.nic.wants_rx():
            self.signals += 1
            work = self.signal_ps
        return self._run(_SIGNALS_RX, work)
