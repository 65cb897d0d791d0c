"""Broadcom BCM5704 with the tg3 driver: host coalescing with tagged status.

Source: drivers/net/tg3.c (3.49 to 3.65). Receive and transmit each count buffer descriptors
since the last status-block update, and, since the driver selects CLRTICK mode on chips with
tagged status, each new descriptor restarts the engine's timer. When a count reaches `frames`
or a timer runs out (a gap of `usecs` behind the last descriptor), the status block is written
to memory with both ring indices and a new tag. If the interrupt is unmasked it is asserted;
if not, only memory changes, and the unmasking write, which names the last tag that the driver
has seen, asserts at once when the chip has a newer one. Here it never has: the driver looks, and
writes, in the same instant. While masked the `_irq` parameters hold. A parameter of 0 switches its
condition off (`tg3_set_coalesce`).
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic

# what 0 means: a timer that never runs out, a count that is never reached
_UNTIMED: cython.longlong = 1 << 61
_UNCOUNTED: cython.int = 1 << 30


@cython.cclass
class Tg3(Nic):
    """One BCM5704 port; coalescing parameters as `ethtool -C` names them.

    `shared_update`: a status-block update caused by either engine clears both counts.
    `clrtick`: each descriptor restarts the timer; else it runs from the first that it is for.
    """

    rx_usecs_ps: cython.longlong = 0
    rx_usecs_irq_ps: cython.longlong = 0
    tx_usecs_ps: cython.longlong = 0
    tx_usecs_irq_ps: cython.longlong = 0
    rx_frames: cython.int = 0
    rx_frames_irq: cython.int = 0
    tx_frames: cython.int = 0
    tx_frames_irq: cython.int = 0
    shared_update: cython.bint = False
    clrtick: cython.bint = False
    rx_count: cython.int = 0
    tx_count: cython.int = 0
    rx_deadline_ps: cython.longlong = 0
    tx_deadline_ps: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        *,
        rx_usecs_ps: int,
        rx_frames: int,
        rx_usecs_irq_ps: int,
        rx_frames_irq: int,
        tx_usecs_ps: int,
        tx_frames: int,
        tx_usecs_irq_ps: int,
        tx_frames_irq: int,
        shared_update: bool,
        clrtick: bool = True,
    ) -> None:
        super().__init__(device)
        self.rx_usecs_ps = rx_usecs_ps or _UNTIMED
        self.rx_frames = rx_frames or _UNCOUNTED
        self.rx_usecs_irq_ps = rx_usecs_irq_ps or _UNTIMED
        self.rx_frames_irq = rx_frames_irq or _UNCOUNTED
        self.tx_usecs_ps = tx_usecs_ps or _UNTIMED
        self.tx_frames = tx_frames or _UNCOUNTED
        self.tx_usecs_irq_ps = tx_usecs_irq_ps or _UNTIMED
        self.tx_frames_irq = tx_frames_irq or _UNCOUNTED
        self.shared_update = shared_update
        self.clrtick = clrtick
        self.rx_deadline_ps = NEVER
        self.tx_deadline_ps = NEVER

    def advance(self, now: cython.longlong) -> cython.int:
        """Take in frames and completions up to `now` in the order of their times."""
        skb: Skb
        rx_at: cython.longlong
        tx_at: cython.longlong
        at: cython.longlong
        deadline: cython.longlong
        while True:
            skb = self.incoming.head
            rx_at = skb.arrival_ps if skb is not None else NEVER
            tx_at = NEVER
            if self.tx.seen < self.tx.sent:
                tx_at = self.tx.ends[self.tx.seen & self.tx.mask]
            at = rx_at if rx_at <= tx_at else tx_at
            deadline = self.rx_deadline_ps
            if self.tx_deadline_ps < deadline:
                deadline = self.tx_deadline_ps
            if deadline < at:
                # a descriptor at the very moment of the deadline would have restarted the timer
                if deadline > now:
                    return 0
                if self.rx_deadline_ps == deadline:
                    self._update()
                    if not self.shared_update:
                        self.rx_count = 0
                        self.rx_deadline_ps = NEVER
                else:
                    self._update()
                    if not self.shared_update:
                        self.tx_count = 0
                        self.tx_deadline_ps = NEVER
            elif at > now:
                return 0
            elif rx_at <= tx_at:
                self._receive(self.incoming.pop())
            else:
                self._completed(tx_at)

    def _receive(self, skb: Skb) -> cython.int:
        if not self._landed(skb, skb.wire_bytes):
            return 0
        self.rx_count += 1
        if self.clrtick or self.rx_deadline_ps >= _UNTIMED:
            self.rx_deadline_ps = skb.arrival_ps + (
                self.rx_usecs_ps if self.unmasked else self.rx_usecs_irq_ps
            )
        if self.rx_count >= (self.rx_frames if self.unmasked else self.rx_frames_irq):
            self.rx_count = 0
            self.rx_deadline_ps = NEVER
            self._update()
        return 0

    def _completed(self, at: cython.longlong) -> cython.int:
        self.tx.seen += 1
        self.tx_count += 1
        if self.clrtick or self.tx_deadline_ps >= _UNTIMED:
            self.tx_deadline_ps = at + (self.tx_usecs_ps if self.unmasked else self.tx_usecs_irq_ps)
        if self.tx_count >= (self.tx_frames if self.unmasked else self.tx_frames_irq):
            self.tx_count = 0
            self.tx_deadline_ps = NEVER
            self._update()
        return 0

    def _update(self) -> cython.int:
        """Write the status block; assert the interrupt if it is unmasked."""
        self.announced = self.arrived
        self.tx.announced = self.tx.seen
        if self.shared_update:
            self.rx_count = 0
            self.tx_count = 0
            self.rx_deadline_ps = NEVER
            self.tx_deadline_ps = NEVER
        if self.unmasked and not self.asserted:
            self.raise_line()
        return 0

    def next_update(self) -> cython.longlong:
        """Next status-block update while unmasked."""
        count: cython.int = self.rx_count
        spare: cython.int = self.posted
        rx_at: cython.longlong = self.rx_deadline_ps
        tx_at: cython.longlong = self.tx_deadline_ps
        at: cython.longlong
        position: cython.longlong = self.tx.seen
        by_count: cython.bint = False
        skb: Skb = self.incoming.head
        while skb is not None and skb.arrival_ps <= rx_at:
            if spare > 0:
                spare -= 1
                count += 1
                if count >= self.rx_frames:
                    rx_at = skb.arrival_ps
                    by_count = True
                    break
                if self.clrtick or rx_at >= _UNTIMED:
                    rx_at = skb.arrival_ps + self.rx_usecs_ps
            skb = skb.next
        count = self.tx_count
        while position < self.tx.sent:
            at = self.tx.ends[position & self.tx.mask]
            if at > tx_at or at > rx_at:
                break
            count += 1
            if count >= self.tx_frames:
                tx_at = at
                break
            if self.clrtick or tx_at >= _UNTIMED:
                tx_at = at + self.tx_usecs_ps
            position += 1
        if tx_at < rx_at:
            return tx_at if tx_at < _UNTIMED else NEVER
        self.armed_by_count = by_count
        return rx_at if rx_at < _UNTIMED else NEVER

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """Note the tag of the status block: see above."""
        return 0

    def unmask(self, now: cython.longlong) -> cython.int:
        """Write the tag to the interrupt mailbox."""
        self.advance(now)
        self.unmasked = True
        # descriptors that came while no timer ran wait for the one that runs now
        if _UNTIMED < self.rx_deadline_ps < NEVER:
            self.rx_deadline_ps = now + self.rx_usecs_ps
        if _UNTIMED < self.tx_deadline_ps < NEVER:
            self.tx_deadline_ps = now + self.tx_usecs_ps
        self.arm()
        return 0
