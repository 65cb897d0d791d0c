"""What `tcp_ack` does for loss recovery from Linux 4.18 on, with SACK, over a plain list.

Round trips are averaged by the mechanism's own estimator, which has tests of its own.
"""

import math
from dataclasses import dataclass

from simnet.net.tcp.send.timer import RttEstimator
from tests.net.tcp.recovery.kernel import (
    CWR,
    DISORDER,
    LOSS,
    MSS,
    OPEN,
    RECOVERY,
    Block,
    Tagged,
)

RETRANSMIT, PROBE, REORDER = range(3)


@dataclass
class Segment(Tagged):
    """When it was sent, and whether it is in the list by that time."""

    sent_us: int
    order: int
    listed: bool = True


class RackKernel:
    """A sender, as far as loss recovery with Reno goes; times are microseconds."""

    def __init__(
        self, rtt: RttEstimator, *, cwnd: int, rto: int, margin_us: int, written: int
    ) -> None:
        self.rtt, self.rto, self.init_rto, self.margin_us = rtt, rto, rto, margin_us
        self.queue: list[Segment] = []
        self.una = self.nxt = self.now = self.jiffy = 0
        self.written = written
        self.cwnd, self.ssthresh = cwnd, 0x7FFFFFFF
        self.state, self.frto, self.high_seq, self.retransmits = OPEN, 0, 0, 0
        self.reordering, self.most_reordering = 3, 300
        self.undo_marker, self.undo_retrans = -1, 0
        self.prior_ssthresh = self.prior_cwnd = self.prr_delivered = self.prr_out = 0
        self.stamp, self.hint, self.serial = -1, 0, 0
        self.highest = self.dsacks = self.times_resent = 0
        self.probe_end, self.probe_again = -1, False
        self.rtt_us = self.rack_us = self.rack_end = 0
        self.rack_advanced = self.dsack_seen = False
        self.steps, self.persist, self.seen, self.adjusted_us, self.lost = 1, 0, 0, 0, 0
        self.entered = self.undone = self.spurious = self.repaired = 0
        self.resends = False
        self.due, self.pending = -1, RETRANSMIT
        self.sacked = self.dsack = self.dsack_probe = self.originals = self.renege = False
        self.advanced = self.raises = self.new_first = self.rearms = self.lost_again = False
        self.delivered, self.latest_us, self.look, self.wait, self.echo = 0, -1, 0, 0, -1
        self.acked_us: list[int] = []
        self.sack_us: list[int] = []
        self.before, self.ece = 0, False

    def having(self, tag: str) -> int:
        return sum(tag in segment.tags for segment in self.queue)

    @property
    def flight(self) -> int:
        return len(self.queue) - self.having("S") - self.having("L") + self.having("R")

    @property
    def head(self) -> int:
        return self.una // MSS

    def highest_held(self) -> int:
        return self.highest if self.having("S") else self.una

    # -- sending

    def send(self) -> None:
        alone = not self.queue
        self.queue.append(Segment(self.nxt // MSS, self.now, self.serial))
        self.serial += 1
        self.nxt += MSS
        self.prr_out += self.state != OPEN
        if alone:
            self.due, self.pending = self.jiffy + self.rto, RETRANSMIT
        elif self.pending == PROBE:
            self.rearm()
        self.schedule_probe(self.queue[0].sent_us + self.rto * self.rtt.jiffy - self.now)

    def anew(self, segment: Segment) -> None:
        segment.sent_us, segment.order, segment.listed = self.now, self.serial, True
        segment.tags.add("E")
        self.serial += 1
        self.times_resent += 1

    def resend(self, number: int) -> None:
        segment = next(segment for segment in self.queue if segment.number == number)
        self.anew(segment)
        segment.tags.add("R")
        self.undo_retrans = max(self.undo_retrans, 0) + 1
        self.prr_out += 1
        if self.stamp < 0:
            self.stamp = self.now // 1000

    def probe(self, *, fresh: bool) -> None:
        """`tcp_send_loss_probe`: a segment more, or the last one again."""
        if not fresh:
            self.anew(self.queue[-1])
        self.probe_end, self.probe_again = self.nxt, not fresh
        self.pending = RETRANSMIT
        self.rearm()

    def retransmission(self) -> int:
        if self.flight >= self.cwnd or not self.having("L"):
            return -1
        for segment in self.queue:
            if segment.number >= self.hint and segment.tags & {"S", "R", "L"} == {"L"}:
                self.hint = segment.number
                return segment.number
        self.hint = self.nxt // MSS
        return -1

    # -- what has come

    def came(self, segment: Segment, echo: int = -1) -> None:
        """`tcp_rack_advance`, and when the last of what came had been sent."""
        self.latest_us = max(self.latest_us, segment.sent_us)
        if segment.resent and -1 < echo < segment.sent_us // 1000:
            return
        took = self.now - segment.sent_us
        if segment.resent and (self.rtt.least_us < 0 or took < self.rtt.least_us):
            return
        self.rack_advanced, self.rtt_us = True, took
        latest = max((segment.sent_us, segment.end), (self.rack_us, self.rack_end))
        self.rack_us, self.rack_end = latest

    def check_dsack(self, blocks: list[Block], ack: int, prior: int) -> bool:
        start, end = blocks[0]
        inside = len(blocks) > 1 and blocks[1][0] <= start and end <= blocks[1][1]
        if start >= ack and not inside:
            return False
        self.dsack_probe = end == self.probe_end
        self.dsacks += 1
        if self.dsacks > self.times_resent:
            return False
        if not self.dsack_probe and self.seen:
            self.dsack_seen = True
        self.dsack = True
        self.delivered += 1
        if -1 < self.undo_marker < end <= prior:
            self.needless()
        return True

    def needless(self) -> None:
        """Below zero nothing has been sent again yet."""
        self.undo_retrans -= self.undo_retrans > 0

    def sacktag(  # noqa: C901, PLR0912 - as in the kernel
        self, blocks: list[Block], ack: int, prior: int
    ) -> None:
        """`tcp_sacktag_write_queue`."""
        double = self.check_dsack(blocks, ack, prior)
        lossy = self.state == LOSS and self.undo_marker < 0
        reord = self.nxt
        if not self.having("S"):
            self.highest = self.una
        if not self.queue:
            return
        twice = blocks[0] if double else (0, 0)
        held = blocks[1:] if double else blocks
        for segment in self.queue:
            dsack = twice[0] <= segment.start and segment.end <= twice[1]
            named = any(start <= segment.start and segment.end <= end for start, end in held)
            if dsack and segment.resent:
                if -1 < self.undo_marker < segment.end:
                    self.needless()
                if "S" in segment.tags:
                    reord = min(reord, segment.start)
            if segment.end <= self.una or not (dsack or named):
                continue
            if "S" not in segment.tags:
                self.came(segment)
                if not segment.resent:
                    if segment.start < self.highest_held():
                        reord = min(reord, segment.start)
                    self.originals |= segment.end <= self.high_seq
                    self.sack_us.append(segment.sent_us)
                if "L" in segment.tags:
                    segment.tags -= {"L", "R"}
                segment.tags.add("S")
                self.sacked = True
                self.delivered += 1
                self.highest = max(self.highest, segment.end)
            if dsack:
                segment.tags.discard("R")
        if not lossy:
            self.reordered(reord)

    def reordered(self, low: int) -> None:
        metric = self.highest_held() - low
        if metric > 0:
            if metric > self.reordering * MSS:
                self.reordering = min(math.ceil(metric / MSS), self.most_reordering)
            self.seen += 1

    def clean(self, highest: int, echo: int) -> list[Segment]:
        gone = [segment for segment in self.queue if segment.end <= self.una]
        self.queue = self.queue[len(gone) :]
        fresh = [segment for segment in gone if not segment.resent and "S" not in segment.tags]
        for segment in gone:
            if "S" not in segment.tags:
                self.delivered += 1
                self.came(segment, echo)
        self.originals |= any(segment.end <= self.high_seq for segment in fresh)
        if not any(segment.resent for segment in gone):
            self.acked_us = [segment.sent_us for segment in fresh]
        self.renege = bool(self.queue) and "S" in self.queue[0].tags
        self.hint = max(self.hint, self.head)
        if fresh and fresh[0].start < highest:
            self.reordered(fresh[0].start)
        if not any(segment.tags for segment in self.queue):
            for segment in self.queue:
                segment.listed = True
        return gone

    # -- an ACK

    def begin(self, ack: int, prior: int) -> None:
        self.advanced, self.before = ack > prior, prior
        self.sacked = self.dsack = self.dsack_probe = self.originals = self.renege = False
        self.delivered, self.latest_us = 0, -1
        self.acked_us, self.sack_us = [], []
        self.raises = self.new_first = self.rearms = self.lost_again = False
        self.look = self.wait = 0

    def ack(self, ack: int, blocks: list[Block], *, echo: int, news: bool) -> None:
        """`tcp_ack`, without what raises the window."""
        prior, lost = self.una, self.lost
        if ack < prior:
            if blocks and self.queue:
                self.echo = echo
                self.begin(prior, prior)
                self.sacktag(blocks, ack, prior)
                self.alert(duplicate=False)
                self.set_timer()
            return
        self.echo = echo
        out = len(self.queue)
        highest = self.highest_held()
        self.una = ack
        self.begin(ack, prior)
        if self.advanced:
            self.retransmits = 0
        if blocks:
            self.sacktag(blocks, ack, prior)
        if not out:
            if self.dsack:
                self.alert(duplicate=False)
            if self.probe_end > -1:
                self.probed(duplicate=not news)
            self.due, self.pending = -1, RETRANSMIT
            return
        acked = len(self.clean(highest, echo))
        self.measure(acked)
        self.adjust()
        duplicate = not acked and not news
        if self.probe_end > -1:
            self.probed(duplicate=duplicate)
        if duplicate or self.sacked or self.dsack or self.ece or self.state != OPEN:
            self.alert(duplicate=duplicate and not self.advanced and not self.dsack)
        if self.state in {CWR, RECOVERY}:
            self.reduce(self.delivered, self.lost - lost)
        else:
            self.raises = acked > 0 or (self.sacked and self.reordering > 3)
        self.set_timer()

    def measure(self, acked: int) -> None:
        """`tcp_ack_update_rtt`."""
        rtt = latest = -1
        if self.acked_us:
            rtt, latest = self.now - self.acked_us[0], self.now - self.acked_us[-1]
        of_sack = self.now - self.sack_us[0] if self.sack_us else -1
        if self.sack_us:
            latest = self.now - self.sack_us[-1]
            rtt = of_sack if rtt < 0 else rtt
        if rtt < 0 and self.echo > -1 and acked:
            rtt = latest = self.rtt.of_echo(self.echo, self.now)
        if rtt >= 0:
            self.rtt.bound(latest, self.now)
            self.rto = self.rtt.sample(rtt, self.una, self.nxt)
        older = bool(self.queue) and of_sack > self.now - self.queue[0].sent_us
        self.rearms = acked > 0 or (of_sack >= 0 and older)

    def adjust(self) -> None:
        """`tcp_rack_update_reo_wnd`."""
        if self.latest_us < 0:
            return
        if self.latest_us < self.adjusted_us:
            self.dsack_seen = False
        if self.dsack_seen:
            self.steps, self.persist = min(self.steps + 1, 255), 16
            self.dsack_seen, self.adjusted_us = False, self.now
        elif not self.persist:
            self.steps = 1

    def probed(self, *, duplicate: bool) -> None:
        """`tcp_process_tlp_ack`."""
        if self.una < self.probe_end:
            return
        if not self.probe_again or self.dsack_probe:
            self.probe_end = -1
        elif self.una > self.probe_end:
            self.repaired += 1
            self.begin_reduction()
            self.state = CWR
            self.end_reduction()
            self.keep_open()
        elif duplicate and not self.advanced and not self.sacked:
            self.probe_end = -1

    def alert(self, *, duplicate: bool) -> None:  # noqa: C901, PLR0912 - as in the kernel
        """`tcp_fastretrans_alert`."""
        if self.ece:
            self.prior_ssthresh = 0
        if self.renege and self.advanced:
            self.wait = self.rtt.jiffies(max(self.rtt.srtt >> 4, 10_000))
            self.rearms = False
            return
        if self.state == OPEN:
            self.stamp = -1
        elif self.una >= self.high_seq:
            if self.state == CWR and self.una != self.high_seq:
                self.end_reduction()
                self.state = OPEN
            elif self.state == RECOVERY:
                self.undo_recovery()
                self.end_reduction()
        if self.state == RECOVERY:
            if self.advanced and self.undo_partial():
                return
            if self.undo_dsack():
                self.keep_open()
            self.identify()
            if self.state != RECOVERY:
                if not self.having("L"):
                    return
                self.enter_recovery()
            self.resends = True
            return
        if self.state == LOSS:
            self.process_loss(duplicate=duplicate)
            self.identify()
            if self.state != OPEN and not self.lost_again:
                return
        if self.state <= DISORDER:
            self.undo_dsack()
        self.identify()
        if self.having("L"):
            self.enter_recovery()
            self.resends = True
        else:
            self.forget_stamp()
            if self.ece:
                self.prior_ssthresh = 0
                if self.state < CWR:
                    self.undo_marker = -1
                    self.begin_reduction()
                    self.state = CWR
            if self.state != CWR:
                self.keep_open()

    def identify(self) -> None:
        """`tcp_identify_packet_loss`."""
        if not self.queue or not self.rack_advanced:
            return
        self.rack_advanced = False
        resent = self.having("R")
        left = self.detect()
        if left > 0:
            self.look, self.rearms = self.rtt.jiffies(left + self.margin_us), False
        self.lost_again |= self.having("R") < resent

    def window(self) -> int:
        """`tcp_rack_reo_wnd`."""
        certain = self.state >= RECOVERY or self.having("S") >= self.reordering
        if not self.seen and certain:
            return 0
        most = self.rtt.srtt >> 3
        return most if self.rtt.least_us < 0 else min((self.rtt.least_us >> 2) * self.steps, most)

    def detect(self) -> int:
        """`tcp_rack_detect_loss`."""
        window, wait = self.window(), 0
        listed = [segment for segment in self.queue if segment.listed and "S" not in segment.tags]
        for segment in sorted(listed, key=lambda one: one.order):
            if segment.tags & {"L", "R"} == {"L"}:
                continue
            if (segment.sent_us, segment.end) >= (self.rack_us, self.rack_end):
                break
            left = segment.sent_us + self.rtt_us + window - self.now
            if left <= 0:
                self.lose(segment)
                segment.listed = False
            else:
                wait = max(wait, left)
        return wait

    def lose(self, segment: Segment) -> None:
        if "S" in segment.tags:
            return
        self.hint = min(self.hint, segment.number)
        self.lost += "L" not in segment.tags or "R" in segment.tags
        if "L" in segment.tags:
            segment.tags.discard("R")
        segment.tags.add("L")

    # -- states

    def any_resent(self) -> bool:
        return self.having("R") > 0 or (bool(self.queue) and self.queue[0].resent)

    def forget_stamp(self) -> None:
        if not self.any_resent():
            self.stamp = -1

    def keep_open(self) -> None:
        state = DISORDER if self.having("S") + self.having("L") or self.any_resent() else OPEN
        if state != self.state:
            self.state, self.high_seq = state, self.nxt

    def threshold(self) -> int:
        if self.state in {CWR, RECOVERY}:
            return self.ssthresh
        return max(self.ssthresh, (self.cwnd >> 1) + (self.cwnd >> 2))

    def begin_reduction(self) -> None:
        self.probe_end, self.high_seq, self.prior_cwnd = -1, self.nxt, self.cwnd
        self.prr_delivered = self.prr_out = 0
        self.ssthresh = max(self.cwnd // 2, 2)

    def end_reduction(self) -> None:
        if self.ssthresh < 0x7FFFFFFF and (self.state == CWR or self.undo_marker > -1):
            self.cwnd = self.ssthresh

    def mark_undo(self) -> None:
        self.undo_marker, self.undo_retrans = self.una, self.having("R") or -1

    def enter_recovery(self) -> None:
        self.prior_ssthresh = 0
        self.mark_undo()
        if self.state not in {CWR, RECOVERY}:
            self.prior_ssthresh = 0 if self.ece else self.threshold()
            self.begin_reduction()
        self.state = RECOVERY
        self.entered += 1

    def reduce(self, delivered: int, lost: int) -> None:
        """`tcp_cwnd_reduction`, RFC 6937."""
        if not delivered or not self.prior_cwnd:
            return
        self.prr_delivered += delivered
        flight = self.flight
        if flight > self.ssthresh:
            due = math.ceil(self.ssthresh * self.prr_delivered / self.prior_cwnd) - self.prr_out
        else:
            due = max(self.prr_delivered - self.prr_out, delivered)
            due = min(due + (self.advanced and not lost), self.ssthresh - flight)
        self.cwnd = flight + max(due, int(self.prr_out == 0))

    # -- undo

    def delayed(self) -> bool:
        return self.stamp < 0 or -1 < self.echo < self.stamp

    def may_undo(self) -> bool:
        return self.undo_marker > -1 and (not self.undo_retrans or self.delayed())

    def undo(self, *, unmark: bool) -> None:
        if unmark:
            for segment in self.queue:
                segment.tags.discard("L")
            self.hint = self.head
        if self.prior_ssthresh:
            self.cwnd = max(self.cwnd, self.prior_cwnd)
            self.ssthresh = max(self.ssthresh, self.prior_ssthresh)
        self.undo_marker, self.rack_advanced = -1, True
        self.undone += 1

    def undo_recovery(self) -> None:
        if self.may_undo():
            self.undo(unmark=False)
        else:
            self.persist = max(self.persist - 1, 0)
        self.state = OPEN

    def undo_dsack(self) -> bool:
        if self.undo_marker < 0 or self.undo_retrans:
            return False
        self.persist = min(self.persist + 1, 16)
        self.undo(unmark=False)
        return True

    def undo_partial(self) -> bool:
        if self.undo_marker < 0 or not self.delayed():
            return False
        self.reordered(self.before)
        if self.having("R"):
            return True
        self.forget_stamp()
        self.undo(unmark=True)
        self.keep_open()
        return False

    def process_loss(self, *, duplicate: bool) -> None:
        """`tcp_process_loss`, RFC 5682."""
        recovered = self.una >= self.high_seq
        if self.advanced and self.may_undo():
            self.undo_loss()
            return
        if self.frto:
            if self.originals:
                self.spurious += 1
                self.undo_loss()
                return
            if self.nxt > self.high_seq:
                if self.sacked or duplicate:
                    self.frto = 0
            elif self.advanced and not recovered:
                self.high_seq = self.nxt
                if self.written > self.nxt:
                    self.new_first = True
                    return
                self.frto = 0
        if recovered:
            self.undo_recovery()
        else:
            self.resends = True

    def undo_loss(self) -> None:
        self.undo(unmark=True)
        self.retransmits, self.state = 0, OPEN

    # -- timers

    def set_timer(self) -> None:
        if self.look:
            self.due, self.pending = self.jiffy + min(self.look, self.rto), REORDER
        elif self.wait:
            self.due, self.pending = self.jiffy + self.wait, RETRANSMIT
        elif self.rearms and not self.schedule_probe(self.rto * self.rtt.jiffy):
            self.rearm()

    def rearm(self) -> None:
        after = self.rto
        if not self.queue:
            self.due, self.pending = -1, RETRANSMIT
            return
        if self.pending:
            left = self.queue[0].sent_us + self.rto * self.rtt.jiffy - self.now
            after = self.rtt.jiffies(max(left, 1))
        self.due, self.pending = self.jiffy + after, RETRANSMIT

    def schedule_probe(self, left_us: int) -> bool:
        """`tcp_schedule_loss_probe`."""
        if not self.queue or self.state not in {OPEN, CWR}:
            return False
        after = self.init_rto
        if self.rtt.srtt:
            more = self.rtt.rto_min if len(self.queue) == 1 else self.margin_us
            after = self.rtt.jiffies((self.rtt.srtt >> 2) + more)
        if left_us > 0:
            after = min(after, self.rtt.jiffies(left_us))
        self.due, self.pending = self.jiffy + after, PROBE
        return True

    def reordering_timeout(self) -> bool:
        """`tcp_rack_reo_timeout`."""
        flight, lost = self.flight, self.lost
        self.detect()
        if flight == self.flight:
            self.rearm()
            return False
        if self.state != RECOVERY:
            self.enter_recovery()
            self.reduce(1, self.lost - lost)
        self.resends = True
        return True

    def timeout(self) -> None:
        """`tcp_enter_loss`."""
        again = self.state < RECOVERY or self.retransmits > 0
        self.probe_end = -1
        reneged = "S" in self.queue[0].tags
        for segment in self.queue:
            if reneged:
                segment.tags.discard("S")
        for segment in self.queue:
            late = segment.sent_us + self.rtt_us <= self.now
            if reneged or segment is self.queue[0] or late:
                self.lose(segment)
        self.hint = self.head
        if (
            self.state <= DISORDER
            or self.una >= self.high_seq
            or (self.state == LOSS and not self.retransmits)
        ):
            self.prior_ssthresh, self.prior_cwnd = self.threshold(), self.cwnd
            self.ssthresh = max(self.cwnd // 2, 2)
            self.mark_undo()
        self.cwnd = self.flight + 1
        if self.state <= DISORDER and self.having("S") >= 3:
            self.reordering = min(self.reordering, 3)
        self.state, self.high_seq, self.frto = LOSS, self.nxt, int(again)
        self.retransmits += 1
        self.rto = min(self.rto * 2, self.rtt.rto_max)
        self.due, self.pending = self.jiffy + self.rto, RETRANSMIT
