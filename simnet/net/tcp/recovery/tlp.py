"""The tail loss probe: a segment sent early so that SACK can report what is lost (RFC 8985, 7).

Source: net/ipv4/tcp_output.c of Linux 6.x (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`) and
`tcp_process_tlp_ack` of tcp_input.c. Two round trips after the last segment or ACK a new segment is
sent, or the last one again, once for an episode. If that repaired a loss, the window shrinks as it
does for any other; a D-SACK, or an ACK that comes twice, says that it was needless.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.recovery.recovery import CWR, OPEN
from simnet.net.tcp.recovery.sacktag import SackTags
from simnet.net.tcp.send.timer import RttEstimator


@cython.final
@cython.no_gc
@cython.cclass
class LossProbe:
    """Of one connection."""

    tags: SackTags = None  # its segments; `probe_end` is kept there
    rtt: RttEstimator = None  # its round-trip times
    init_jiffies: cython.longlong = 0  # timeout as long as no round trip is known
    margin_us: cython.longlong = 0  # added to two round trips (TCP_TIMEOUT_MIN_US)
    retransmitted: cython.bint = False  # the probe was a segment sent again
    sent: cython.longlong = 0  # probes sent
    repaired: cython.longlong = 0  # those that repaired a loss

    def __init__(
        self, tags: SackTags, rtt: RttEstimator, init_jiffies: int, margin_us: int
    ) -> None:
        self.tags = tags
        self.rtt = rtt
        self.init_jiffies = init_jiffies
        self.margin_us = margin_us

    def timeout_jiffies(
        self, state: cython.int, packets_out: cython.longlong, rto_left_us: cython.longlong
    ) -> cython.longlong:
        """`tcp_schedule_loss_probe`: after how long to probe; -1 for not at all.

        `rto_left_us`: until the retransmission timer runs, at which it is too late.
        """
        jiffies: cython.longlong = self.init_jiffies
        if packets_out == 0 or state not in (OPEN, CWR):
            return NONE
        if self.rtt.srtt > 0:
            # with one segment out the ACK may be delayed
            jiffies = self.rtt.jiffies(
                (self.rtt.srtt >> 2) + (self.rtt.rto_min if packets_out == 1 else self.margin_us)
            )
        if rto_left_us > 0:
            jiffies = min(jiffies, self.rtt.jiffies(rto_left_us))
        return jiffies

    def begin(self, snd_nxt: cython.longlong, retransmitted: cython.bint) -> cython.int:
        """A probe has been sent."""
        self.tags.probe(snd_nxt)
        self.retransmitted = retransmitted
        self.sent += 1
        return 0

    def end(self) -> cython.int:
        """The episode is over."""
        self.tags.probe(NONE)
        return 0

    def repaired_loss(
        self, ack: cython.longlong, advanced: cython.bint, duplicate: cython.bint
    ) -> cython.bint:
        """`tcp_process_tlp_ack`: whether an ACK says that the probe made good a loss.

        Args:
            ack: acknowledgement number.
            advanced: it moved `snd_una`.
            duplicate: no data, no window update, nothing acknowledged.
        """
        tags: SackTags = self.tags
        if tags.probe_end == NONE or ack < tags.probe_end:
            return False
        if not self.retransmitted or tags.dsack_probe:
            tags.probe(NONE)
        elif ack > tags.probe_end:
            # the probe came, and no copy of it: the original was lost
            tags.probe(NONE)
            self.repaired += 1
            return True
        elif duplicate and not advanced and not tags.sacked:
            # both came, and the receiver sends no D-SACK
            tags.probe(NONE)
        return False
