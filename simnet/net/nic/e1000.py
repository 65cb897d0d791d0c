"""Intel 8254x with the e1000 driver: interrupts throttled to a fixed rate.

Source: drivers/net/e1000 of Linux 2.6.9 to 2.6.18 and Intel's 8254x developer's manual,
"Interrupt Moderation". Received frames are visible to the driver at once (RDTR 0) and set an
interrupt cause; transmitted ones set it `tx_delay` after the last. The chip asserts no sooner
than the throttle interval after its last interrupt. The handler's read of ICR clears the
cause and masks; a cause set during the poll asserts after unmasking, if the interval allows.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Skb
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic


@cython.cclass
class E1000(Nic):
    """One 8254x port; `throttle_ps` is 1 / InterruptThrottleRate, `tx_delay_ps` is TIDV."""

    throttle_ps: cython.longlong = 0
    tx_delay_ps: cython.longlong = 0
    last_irq_ps: cython.longlong = 0
    cause_ps: cython.longlong = 0
    tx_deadline_ps: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        *,
        throttle_ps: int,
        tx_delay_ps: int,
    ) -> None:
        super().__init__(device)
        self.throttle_ps = throttle_ps
        self.tx_delay_ps = tx_delay_ps
        self.last_irq_ps = -throttle_ps
        self.cause_ps = NEVER
        self.tx_deadline_ps = NEVER

    def advance(self, now: cython.longlong) -> cython.int:
        """Take in frames and completions up to `now`; assert if a cause may go out."""
        skb: Skb = self.incoming.head
        at: cython.longlong
        while skb is not None and skb.arrival_ps <= now:
            self.incoming.pop()
            if self._landed(skb, skb.wire_bytes) and skb.arrival_ps < self.cause_ps:
                self.cause_ps = skb.arrival_ps
            skb = self.incoming.head
        while self.tx.seen < self.tx.sent:
            at = self.tx.ends[self.tx.seen & self.tx.mask]
            if at > now:
                break
            if self.tx_deadline_ps < at and self.tx_deadline_ps < self.cause_ps:
                self.cause_ps = self.tx_deadline_ps
            self.tx_deadline_ps = at + self.tx_delay_ps
            self.tx.seen += 1
        if self.tx_deadline_ps <= now:
            if self.tx_deadline_ps < self.cause_ps:
                self.cause_ps = self.tx_deadline_ps
            self.tx_deadline_ps = NEVER
        self.announced = self.arrived
        self.tx.announced = self.tx.seen
        if (
            self.unmasked
            and not self.asserted
            and self.cause_ps <= now
            and self.last_irq_ps + self.throttle_ps <= now
        ):
            self.last_irq_ps = now
            self.raise_line()
        return 0

    def next_update(self) -> cython.longlong:
        """Next assertion while unmasked."""
        when: cython.longlong = self.cause_ps
        at: cython.longlong = self.tx_deadline_ps
        earliest: cython.longlong = self.last_irq_ps + self.throttle_ps
        position: cython.longlong = self.tx.seen
        end: cython.longlong
        if when > earliest:
            if self.incoming.head is not None and self.incoming.head.arrival_ps < when:
                when = self.incoming.head.arrival_ps
            while position < self.tx.sent:
                end = self.tx.ends[position & self.tx.mask]
                if end > at:
                    break
                at = end + self.tx_delay_ps
                position += 1
            if at < when:
                when = at
        if when >= NEVER:
            return NEVER
        if when > earliest:
            return when
        # a cause that has to wait for the interval: nothing that comes changes the time
        self.armed_by_count = True
        return earliest

    def has_work(self) -> cython.bint:
        """Received frames only: what was transmitted since is left to the next interrupt."""
        return self.announced > self.consumed

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """Read of ICR in the handler; at the end of a poll nothing happens."""
        if self.asserted:
            self.cause_ps = NEVER
        return 0

    def unmask(self, now: cython.longlong) -> cython.int:
        """Write IMS."""
        self.unmasked = True
        self.advance(now)
        self.arm()
        return 0
