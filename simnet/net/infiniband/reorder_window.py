"""The receiver's window that puts packets of a multi-path network back into order.

Source: Li Yi, Chen Shuping, He Wangquan, "Realization and optimization of IPoIB on domestic
parallel system", Computer Systems & Applications 28(1), 2019, algorithm 1. The sender numbers the
packets of each pair of connected hosts with 16 bits (`msg_id`); numbers wrap, so they are compared
modulo 65536. `next_id`, the left edge, is the number that is handed up next:

- a packet with this number is handed up, and so is what is buffered right behind it;
- one that is behind is late: it is handed up at once;
- one that is up to `window` ahead is buffered;
- one that is further ahead slides the window: the left edge moves up, handing up what it meets and
  giving up what is missing, until the packet fits.

Taken literally the packet is then buffered, and so may be the one at the left edge. No packet with
that number comes again, so only the next slide moves it: from then on the window runs that many
packets behind. `drain_after_slide` goes on from the left edge instead. A packet that is missing
for good is given up when `window` later ones have come, however long that takes; the flush timer,
which the paper lacks, ends that.
"""

from array import array
from typing import Any

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.kernel.target import Target
from simnet.net.link.skb import Skb, SkbQueue

# half of the numbers are ahead, half are behind
LARGEST_WINDOW = (1 << 15) - 1

_NUMBERS: cython.longlong = 1 << 16
_HALF: cython.longlong = 1 << 15
_LOW_BITS: cython.longlong = (1 << 16) - 1


@cython.final
@cython.cclass
class MessageNumbers:
    """The sender's side: numbers packets from 0, one instance for each pair of hosts."""

    count: cython.longlong = 0

    def number(self, skb: Skb) -> cython.int:
        """Give a packet the next number."""
        skb.msg_id = self.count & _LOW_BITS
        self.count += 1
        return 0


@cython.final
@cython.cclass
class ReorderWindow(Component):
    """The receiver's side, one instance for each pair of hosts.

    Call `arrive` for each packet in the order of arrival, then take from `ready` what is handed up.

    Raises:
        ValueError: the window is too large for 16 bits, or negative.
    """

    # packets ahead of the left edge that are buffered, 0 to `LARGEST_WINDOW`
    window: cython.longlong = 0
    # go on from the left edge after a slide; False is the algorithm's letter
    drain_after_slide: cython.bint = False
    # give up what is missing when the left edge has stood for that long in front of buffered
    # packets; 0 for never, as in the paper
    flush_timeout_ps: cython.longlong = 0
    # `owner.on_event(kind, 0)` is called when the timer has filled `ready`
    owner: Target = None
    kind: cython.int = 0
    ready: SkbQueue = None  # packets handed up, in this order; the caller takes them out
    held: cython.longlong = 0  # packets buffered now
    in_order: cython.longlong = 0  # packets that came with the number of the left edge
    late: cython.longlong = 0  # that came behind it
    arrived: cython.longlong = 0  # all packets
    # that were buffered; `waited_ps` is the time they spent there, added up
    buffered: cython.longlong = 0
    waited_ps: cython.longlong = 0
    # numbers given up by slides and timers; their packets, if they come, are late
    slid_over: cython.longlong = 0
    flushed: cython.longlong = 0  # packets handed up by timer or `flush`
    # packets whose number was buffered already; they are handed up at once
    duplicates: cython.longlong = 0
    # packets behind one with a higher number, as they arrive and as they are handed up
    # (`reordered` of RFC 4737)
    out_of_order_before: cython.longlong = 0
    out_of_order_after: cython.longlong = 0
    left: cython.longlong = 0
    expected_before: cython.longlong = 0
    expected_after: cython.longlong = 0
    slots: list[Any] = None
    since_ps: Array[cython.longlong] = None
    mask: cython.longlong = 0
    timer: cython.longlong = 0
    deadline_ps: cython.longlong = 0

    # positions: numbers that do not wrap, counted from the first packet

    def __init__(
        self,
        sim: Simulator,
        path: str,
        window: int,
        *,
        drain_after_slide: bool = True,
        flush_timeout_ps: int = 0,
        owner: Target | None = None,
        kind: int = 0,
    ) -> None:
        if not 0 <= window <= LARGEST_WINDOW:
            message = f"{path}: a window of {window} packets is not from 0 to {LARGEST_WINDOW}"
            raise ValueError(message)
        super().__init__(sim, path)
        self.window = window
        self.drain_after_slide = drain_after_slide
        self.flush_timeout_ps = flush_timeout_ps
        self.owner = owner
        self.kind = kind
        self.ready = SkbQueue()
        # positions: numbers that do not wrap, counted from the first packet
        # the left edge itself may be buffered, too
        slots = 1 << window.bit_length()
        self.mask = slots - 1
        self.slots = [None] * slots
        self.since_ps = array("q", [0]) * slots

    @property
    def next_id(self) -> int:
        """Number of the left edge, 16 bits."""
        return self.left & _LOW_BITS

    def counters(self) -> dict[str, int]:
        """What came how, and what became of it; see the class's attributes."""
        names = (
            "in_order",
            "late",
            "buffered",
            "held",
            "slid_over",
            "flushed",
            "duplicates",
            "out_of_order_before",
            "out_of_order_after",
        )
        return {name: getattr(self, name) for name in names}

    def waiting_for(self) -> str | None:
        """The packet at the left edge, while others wait behind it."""
        return f"packet {self.next_id}" if self.held else None

    def arrive(self, skb: Skb) -> cython.int:
        """Take a packet; return how many have been put into `ready`."""
        ahead: cython.longlong = (skb.msg_id - self.left) & _LOW_BITS
        position: cython.longlong
        before: cython.int = self.ready.count
        left: cython.longlong = self.left
        self.arrived += 1
        if ahead >= _HALF:
            ahead -= _NUMBERS
        position = left + ahead
        if position < self.expected_before:
            self.out_of_order_before += 1
        else:
            self.expected_before = position + 1
        if ahead < 0:
            self.late += 1
            self._deliver(skb, position)
            return self.ready.count - before
        if ahead <= self.window and self.slots[position & self.mask] is not None:
            self.duplicates += 1
            self._deliver(skb, position)
            return self.ready.count - before
        if ahead == 0:
            self.in_order += 1
            self._deliver(skb, position)
            self.left += 1
            self._drain()
        elif ahead <= self.window:
            self._buffer(skb, position)
        else:
            self._slide(position - self.window)
            if self.drain_after_slide:
                self._drain()
            if self.drain_after_slide and position == self.left:
                self._deliver(skb, position)
                self.left += 1
            else:
                self._buffer(skb, position)
        if self.flush_timeout_ps > 0:
            self._watch(self.left != left)
        return self.ready.count - before

    def flush(self) -> cython.int:
        """The stream ends: hand up everything in order; return how many packets that were."""
        before: cython.int = self.ready.count
        while self.held > 0:
            self._skip()
            self._drain()
        self.flushed += self.ready.count - before
        return self.ready.count - before

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The flush timer; it is not moved when the left edge moves, but checked here."""
        before: cython.int = self.ready.count
        self.timer = 0
        if self.held == 0:
            return
        if self.deadline_ps <= self.sim.now:
            self._skip()
            self._drain()
            self.flushed += self.ready.count - before
            self.deadline_ps = self.sim.now + self.flush_timeout_ps
            if self.owner is not None:
                self.owner.on_event(self.kind, 0)
        if self.held > 0 and self.timer == 0:
            self.timer = self.sim.at(self.deadline_ps, self, 0, 0, CPU)

    def _watch(self, moved: cython.bint) -> cython.int:
        """Have the timer run `flush_timeout_ps` after the left edge came to stand."""
        if self.held == 0:
            return 0
        if moved or self.timer == 0:
            self.deadline_ps = self.sim.now + self.flush_timeout_ps
        if self.timer == 0:
            self.timer = self.sim.at(self.deadline_ps, self, 0, 0, CPU)
        return 0

    def _deliver(self, skb: Skb, position: cython.longlong) -> cython.int:
        if position < self.expected_after:
            self.out_of_order_after += 1
        else:
            self.expected_after = position + 1
        self.ready.append(skb)
        return 0

    def _buffer(self, skb: Skb, position: cython.longlong) -> cython.int:
        self.slots[position & self.mask] = skb
        self.since_ps[position & self.mask] = self.sim.now
        self.held += 1
        self.buffered += 1
        return 0

    def _take_left(self) -> cython.bint:
        """Hand up what is buffered at the left edge and move on; False if nothing is."""
        slot: cython.longlong = self.left & self.mask
        skb: Skb
        if self.held == 0 or self.slots[slot] is None:
            return False
        skb = self.slots[slot]
        self.slots[slot] = None
        self.held -= 1
        self.waited_ps += self.sim.now - self.since_ps[slot]
        self._deliver(skb, self.left)
        self.left += 1
        return True

    def _drain(self) -> cython.int:
        """Hand up from the left edge while it is buffered."""
        while self._take_left():
            pass
        return 0

    def _skip(self) -> cython.int:
        """Give up what is missing at the left edge."""
        while self.slots[self.left & self.mask] is None:
            self.left += 1
            self.slid_over += 1
        return 0

    def _slide(self, left: cython.longlong) -> cython.int:
        """Move the left edge up to `left`, handing up what it meets."""
        while self.left < left:
            if self.held == 0:
                self.slid_over += left - self.left
                self.left = left
            elif not self._take_left():
                self.left += 1
                self.slid_over += 1
        return 0
