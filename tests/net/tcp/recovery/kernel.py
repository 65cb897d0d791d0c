"""`tcp_fastretrans_alert` and what it calls, before Linux 4.18, over a plain list of segments.

It shares no text with the mechanism: tags are letters, counts are counted, nothing is a ring.
"""

from dataclasses import dataclass, field

from simnet.net.tcp.rules.sender_version import SenderRules

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
MSS = 1000
Block = tuple[int, int]


@dataclass
class Tagged:
    """`S`: held, `R`: sent again and on its way, `L`: lost, `E`: has ever been sent again."""

    number: int
    tags: set[str] = field(default_factory=set, kw_only=True)

    @property
    def start(self) -> int:
        return self.number * MSS

    @property
    def end(self) -> int:
        return self.start + MSS

    @property
    def resent(self) -> bool:
        return bool(self.tags & {"R", "E"})


@dataclass
class Segment(Tagged):
    """What Reno's recovery keeps beside."""

    sent: int
    mark: int = 0


class Kernel:
    """A sender, as far as loss recovery with Reno goes."""

    def __init__(self, rules: SenderRules, *, sack: bool, cwnd: int, rto: int) -> None:
        self.rules, self.sack, self.rto = rules, sack, rto
        self.fack = sack and rules.fack
        self.queue: list[Segment] = []
        self.una = self.nxt = 0
        self.cwnd, self.ssthresh, self.cwnd_cnt = cwnd, 0x7FFFFFFF, 0
        self.state, self.frto, self.frto_high, self.high_seq = OPEN, 0, 0, 0
        self.reordering = self.least = 3
        self.reno = 0
        self.undo_marker, self.undo_retrans = -1, 0
        self.prior_ssthresh = self.prior_cwnd = 0
        self.prr_delivered = self.prr_out = self.retransmits = 0
        self.stamp = -1
        self.now = 0
        self.hint = 0
        self.walk: tuple[int, int, int] | None = (0, 0, 0)
        self.entered = self.undone = self.spurious = 0
        self.resends = False

    # -- counts

    def having(self, tag: str) -> int:
        return sum(tag in segment.tags for segment in self.queue)

    @property
    def out(self) -> int:
        return len(self.queue)

    @property
    def sacked(self) -> int:
        return self.having("S") if self.sack else self.reno

    @property
    def flight(self) -> int:
        return self.out - self.sacked - self.having("L") + self.having("R")

    @property
    def fackets(self) -> int:
        places = [place for place, segment in enumerate(self.queue, 1) if "S" in segment.tags]
        return max(places, default=0)

    @property
    def head(self) -> int:
        return self.una // MSS

    def bump(self, metric: int) -> None:
        """`tcp_update_reordering`."""
        if metric > self.reordering:
            self.reordering = min(metric, self.rules.max_reordering)
            self.fack = False

    # -- sending

    def send(self, jiffy: int) -> None:
        self.queue.append(Segment(self.nxt // MSS, jiffy))
        self.nxt += MSS
        self.prr_out += self.state != OPEN

    def resend(self, number: int, jiffy: int) -> None:
        segment = next(segment for segment in self.queue if segment.number == number)
        segment.tags |= {"R", "E"}
        segment.sent, segment.mark = jiffy, self.nxt
        self.undo_retrans += 1
        self.prr_out += 1
        if self.stamp < 0:
            self.stamp = 4 * jiffy if self.rules.clock_us else jiffy

    def retransmission(self, *, may_send: bool) -> int:
        """`tcp_xmit_retransmit_queue`."""
        if self.flight >= self.cwnd:
            return -1
        if self.having("L"):
            for segment in self.queue:
                if segment.number >= self.hint and segment.tags & {"S", "R", "L"} == {"L"}:
                    self.hint = segment.number
                    return segment.number
            self.hint = self.nxt // MSS
        if self.state == RECOVERY and self.sack and self.rules.forward_retransmit and not may_send:
            for segment in self.queue[: self.fackets]:
                if not segment.tags & {"S", "R", "L"}:
                    return segment.number
        return -1

    def lose(self, segment: Segment) -> None:
        segment.tags.add("L")
        self.hint = min(self.hint, segment.number)

    # -- SACK

    def sacktag(  # noqa: C901, PLR0912 - one function in the kernel, too
        self, blocks: list[Block], ack: int, prior_una: int
    ) -> tuple[bool, int]:
        """`tcp_sacktag_write_queue`; whether it said anything, and how much is held anew."""
        before, fackets, reord = self.sacked, self.fackets, self.out
        first = blocks[0]
        dsack = first[0] < ack or (
            len(blocks) > 1 and blocks[1][0] <= first[0] and first[1] <= blocks[1][1]
        )
        if dsack and -1 < self.undo_marker < first[1] <= prior_una:
            self.undo_retrans -= 1
        if not self.rules.ack_shows_reordering and ack > prior_una:
            for place, segment in enumerate(self.queue, 1):
                if segment.end > ack:
                    continue
                twice = dsack and "S" in segment.tags and first[0] < segment.end <= first[1]
                in_hole = place < fackets and "S" not in segment.tags
                if twice if segment.resent else in_hole:
                    reord = min(reord, place)
        for start, end in blocks:
            for place, segment in enumerate(self.queue, 1):
                if not start <= segment.start < segment.end <= end:
                    continue
                resent = segment.resent
                if dsack and resent and -1 < self.undo_marker < segment.end:
                    self.undo_retrans -= 1
                if segment.end <= ack:
                    continue
                late = dsack and resent if "S" in segment.tags else not resent and place < fackets
                if late:
                    reord = min(reord, place)
                if "S" not in segment.tags:
                    if "L" in segment.tags:
                        segment.tags -= {"L", "R"}
                    segment.tags.add("S")
                if dsack:
                    segment.tags.discard("R")
            dsack = dsack and self.rules.dsack_goes_for_all
        newly = self.sacked - before
        fresh = newly > 0
        if self.state == RECOVERY and not (self.rules.counts_sacked and not self.fack):
            highest = max(end for _, end in blocks)
            for segment in self.queue:
                beyond = segment.mark if self.fack else segment.mark + self.reordering * MSS
                if "R" in segment.tags and highest > segment.mark and highest >= beyond:
                    segment.tags.remove("R")
                    self.hint = self.head
                    if not segment.tags & {"L", "S"}:
                        self.lose(segment)
                        fresh = True
        if reord < self.fackets and (
            self.state != LOSS or (self.rules.ack_shows_reordering and self.undo_marker >= 0)
        ):
            self.bump(self.fackets + 1 - reord)
        return fresh, newly

    # -- an ACK

    def ack(
        self, ack: int, blocks: list[Block], *, jiffy: int, echo: int, news: bool, may_send: bool
    ) -> None:
        """`tcp_ack`, without what grows the window."""
        prior = self.una
        told, newly = False, 0
        if ack < prior:
            if blocks and self.sack and self.queue:
                self.sacktag(blocks, ack, prior)
            return
        self.una, self.now = ack, jiffy
        if blocks and self.sack:
            told, newly = self.sacktag(blocks, ack, prior)
        if not self.queue:
            return
        fackets = self.fackets
        gone = [segment for segment in self.queue if segment.end <= ack]
        holes = [n for n, segment in enumerate(gone) if not segment.tags & {"S", "R", "E"}]
        hole = min(holes, default=self.out)
        self.queue = self.queue[len(gone) :]
        acked = len(gone)
        if gone and (told or any(segment.tags for segment in gone)):
            self.hint = self.head
        retrans_acked = any(segment.resent for segment in gone)
        if self.sack and self.rules.ack_shows_reordering and hole < fackets:
            self.bump(self.fackets - hole)
        if acked and not told and self.state == OPEN and self.frto == 0:
            return
        duplicate = not acked and not news
        if gone:
            self.hint = max(self.hint, self.head)
        self.advanced = ack > prior
        self.delivered = 1 if duplicate and not self.sack else acked + newly
        data_lost = any(end > self.high_seq for _, end in blocks)
        beyond = newly > 0 and any(end > self.frto_high for _, end in blocks)
        if self.frto:
            self.process_frto(
                acked, newly, beyond=beyond, duplicate=duplicate, may_send=may_send,
                resent=retrans_acked,
            )  # fmt: skip
        if duplicate or told or self.state != OPEN:
            self.alert(
                duplicate=duplicate,
                told=told,
                acked=acked,
                data_lost=data_lost,
                echo=echo,
                may_send=may_send,
            )

    def process_frto(
        self, acked: int, newly: int, *, beyond: bool, duplicate: bool, may_send: bool, resent: bool
    ) -> None:
        """`tcp_process_frto`, RFC 4138 with SACK."""
        if acked:
            self.retransmits = 0
        if self.frto > 1 and acked and resent:
            self.undo_marker = -1
        if self.una >= self.frto_high:
            self.frto_loss(2 if self.frto == 1 else 3)
        elif self.frto == 1:
            flight = self.flight
            if acked:
                self.cwnd = flight + 2
                if may_send:
                    self.frto = 2
                else:
                    self.frto_loss(2)
            elif flight == 0:
                self.frto_loss(2)
            else:
                self.cwnd = min(self.cwnd, flight)
        elif not beyond and acked + newly > 0:
            if self.state < CWR:
                self.cwnd = min(self.cwnd, self.flight + 1)
                self.cwnd_cnt = 0
                self.high_seq, self.state = self.nxt, CWR
            self.frto, self.undo_marker = 0, -1
            self.spurious += 1
        elif duplicate or beyond:
            self.frto_loss(3)

    def frto_loss(self, allowed: int) -> None:
        """`tcp_enter_frto_loss`."""
        keep = self.frto == 1 and not self.advanced
        resent = any(segment.resent for segment in self.queue)
        self.take_for_lost(forget=False)
        if keep:
            self.queue[0].tags |= {"R", "E"}
        elif resent:
            self.undo_marker = -1
        self.cwnd, self.cwnd_cnt = self.flight + allowed, 0
        self.frto, self.state, self.high_seq = 0, LOSS, self.nxt

    def take_for_lost(self, *, forget: bool) -> None:
        for segment in self.queue:
            held = "S" in segment.tags and not forget
            segment.tags = ({"S"} if held else {"L"}) | (segment.tags & {"E"})
        self.reno = 0
        self.reordering = min(self.reordering, self.least)
        self.hint = self.head
        self.walk = None

    def overdue(self) -> bool:
        """`tcp_head_timedout`."""
        if not self.rules.head_timeout or not self.queue:
            return False
        if self.rules.head_timeout_fack and not self.fack:
            return False
        return self.now - self.queue[0].sent > self.rto

    def alert(  # noqa: C901, PLR0912, PLR0915 - one function in the kernel, too
        self, *, duplicate: bool, told: bool, acked: int, data_lost: bool, echo: int, may_send: bool
    ) -> None:
        """`tcp_fastretrans_alert`."""
        self.echo = echo
        counts = self.rules.counts_sacked
        lost, fast = duplicate, False
        if not self.queue:
            self.reno = 0
        if self.sack and self.queue and "S" in self.queue[0].tags:
            self.enter_loss(forget=True)
            return
        if (
            data_lost
            and (self.fack or not counts)
            and self.una < self.high_seq
            and self.state != OPEN
            and self.fackets > self.reordering
        ):
            self.mark_head(self.fackets - self.reordering)
        if counts and told and self.fackets > self.reordering:
            lost = True
        if self.state == OPEN:
            self.stamp = -1
        elif self.una >= self.high_seq:
            if self.state == LOSS:
                self.retransmits = 0
                if self.undo_recovery():
                    return
            elif self.state == DISORDER:
                self.undo_dsack()
                if self.undo_marker < 0 or not self.sack or self.una != self.high_seq:
                    self.undo_marker, self.state = -1, OPEN
            elif self.state == CWR:
                if self.una != self.high_seq:
                    self.cwnd = min(self.cwnd, self.ssthresh)
                    self.state = OPEN
            else:
                self.reno = 0
                if self.undo_recovery():
                    return
                if self.rules.reduction == 0:
                    self.cwnd = min(self.cwnd, self.ssthresh)
                elif self.undo_marker >= 0:
                    self.cwnd = self.ssthresh
        if self.state == RECOVERY:
            if not self.advanced:
                self.add_reno(duplicate=duplicate)
            else:
                if not self.sack:
                    if acked:
                        self.reno = self.reno - acked + 1 if self.reno >= acked else 0
                    if self.limit_reno():
                        self.bump(self.out + acked)
                lost = self.undo_partial(acked)
        else:
            if self.state == LOSS:
                if acked:
                    self.retransmits = 0
                if self.advanced:
                    self.reno = 0
                if not self.may_undo():
                    self.moderate()
                    self.resends = True
                    return
                for segment in self.queue:
                    segment.tags.discard("L")
                self.undo(threshold=True)
                self.retransmits, self.undo_marker = 0, -1
                if not self.sack:
                    return
                self.state = OPEN
            if self.advanced:
                self.reno = 0
            self.add_reno(duplicate=duplicate)
            if self.state == DISORDER or (counts and self.state == OPEN):
                self.undo_dsack()
            if not self.time_to_recover(may_send=may_send):
                self.try_to_open()
                return
            self.high_seq, self.prior_ssthresh = self.nxt, 0
            self.undo_marker, self.undo_retrans = self.una, self.having("R")
            if self.state < CWR:
                self.prior_ssthresh = self.threshold()
                self.ssthresh = max(self.cwnd // 2, 2)
            self.cwnd_cnt, self.prior_cwnd = 0, self.cwnd
            self.prr_delivered = self.prr_out = 0
            self.state, fast = RECOVERY, True
            self.entered += 1
        if lost or self.overdue():
            self.update_scoreboard(fast=fast)
        self.reduce(fast=fast, duplicate=duplicate)
        self.resends = True

    def add_reno(self, *, duplicate: bool) -> None:
        if duplicate and not self.sack:
            self.reno += 1
            if self.limit_reno():
                self.bump(self.out)

    def limit_reno(self) -> bool:
        most = self.out - min(max(self.having("L"), 1), self.out)
        exceeded = self.reno > most
        self.reno = min(self.reno, most)
        return exceeded

    def threshold(self) -> int:
        """`tcp_current_ssthresh`."""
        if self.state in (CWR, RECOVERY):
            return self.ssthresh
        return max(self.ssthresh, (self.cwnd >> 1) + (self.cwnd >> 2))

    def time_to_recover(self, *, may_send: bool) -> bool:
        if self.frto:
            return False
        if self.having("L"):
            return True
        by_distance = self.fack or (self.sack and not self.rules.counts_sacked)
        distance = self.fackets if by_distance else self.sacked + 1
        if distance > self.reordering or self.overdue():
            return True
        sends = may_send and self.flight < self.cwnd
        return (
            self.out <= self.reordering
            and self.sacked >= max(self.out // 2, self.least)
            and not sends
        )

    def mark_head(self, packets: int) -> None:
        """`tcp_mark_head_lost`, which goes on where it stood."""
        counts = self.rules.counts_sacked and self.sack and not self.fack
        taken = {"L", "S"} if self.rules.counts_sacked else {"L", "S", "R"}
        number, passed = self.head, 0
        if self.walk is not None and self.walk[0] == self.head and not counts:
            number, passed = self.walk[1:]
        for segment in list(self.queue):
            if segment.number < number:
                continue
            if segment.end > self.high_seq:
                break
            if not counts or "S" in segment.tags:
                if passed + 1 > packets:
                    break
                passed += 1
            if not segment.tags & taken:
                self.lose(segment)
            number = segment.number + 1
        self.walk = (self.head, number, passed)

    def update_scoreboard(self, *, fast: bool) -> None:
        if self.sack and self.rules.counts_sacked and not self.fack:
            packets = self.sacked - self.reordering
            if packets >= 0:
                self.mark_head(packets)
            elif fast and not self.queue[0].tags & {"L", "S"}:
                self.lose(self.queue[0])
        else:
            self.mark_head(max(self.fackets - self.reordering, 1) if self.fack else 1)
        if self.sack and self.overdue():
            for segment in self.queue:
                if self.now - segment.sent <= self.rto:
                    break
                if not segment.tags & {"L", "S", "R"}:
                    self.lose(segment)

    def moderate(self) -> None:
        self.cwnd = min(self.cwnd, self.flight + 3)

    def reduce(self, *, fast: bool, duplicate: bool) -> None:
        rules = self.rules
        if rules.reduction and self.state == RECOVERY:
            conservative = rules.reduction == 2
            if conservative and not self.delivered and not fast:
                return
            self.prr_delivered += self.delivered
            flight = self.flight
            if flight > self.ssthresh:
                due = -(-self.ssthresh * self.prr_delivered // self.prior_cwnd) - self.prr_out
            else:
                due = max(self.prr_delivered - self.prr_out, self.delivered)
                due += self.advanced or not conservative
                due = min(due, self.ssthresh - flight)
            least = fast or (conservative and self.prr_out == 0)
            self.cwnd = flight + max(due, int(least))
            return
        moved = self.advanced or self.delivered or (duplicate and not self.sack)
        if rules.counts_sacked and not moved:
            return
        self.cwnd_cnt += 1
        if self.cwnd_cnt > 1:
            self.cwnd_cnt = 0
            self.cwnd -= self.cwnd > self.ssthresh // 2
        self.cwnd = min(self.cwnd, self.flight + 1)

    def try_to_open(self) -> None:
        if not self.having("R") and not self.frto:
            self.stamp = -1
        if self.state == CWR:
            self.reduce(fast=False, duplicate=True)
            return
        pending = self.sacked + self.having("L") + self.having("R") > 0
        if pending or (self.undo_marker >= 0 and not self.rules.counts_sacked):
            state = DISORDER
        else:
            state = OPEN
        if state != self.state:
            self.state, self.high_seq = state, self.nxt
        if self.rules.moderates_open or state != OPEN:
            self.moderate()

    # -- undo

    def may_undo(self) -> bool:
        early = self.echo >= 0 and self.echo < self.stamp
        return self.undo_marker >= 0 and (self.undo_retrans <= 0 or self.stamp < 0 or early)

    def undo(self, *, threshold: bool) -> None:
        """`tcp_undo_cwr`."""
        if self.prior_ssthresh:
            self.cwnd = max(self.cwnd, self.ssthresh * 2)
            if threshold:
                self.ssthresh = max(self.ssthresh, self.prior_ssthresh)
        else:
            self.cwnd = max(self.cwnd, self.ssthresh)
        self.moderate()
        self.hint = self.head
        self.undone += 1

    def undo_recovery(self) -> bool:
        if self.may_undo():
            self.undo(threshold=True)
            self.undo_marker = -1
        if self.una == self.high_seq and not self.sack:
            self.moderate()
            return True
        self.state = OPEN
        return False

    def undo_dsack(self) -> None:
        if self.undo_marker >= 0 and self.undo_retrans <= 0:
            self.undo(threshold=True)
            self.undo_marker = -1

    def undo_partial(self, acked: int) -> bool:
        distance = self.fackets if self.sack else self.reno + 1
        if not self.may_undo():
            return not self.sack or distance > self.reordering
        if not self.having("R"):
            self.stamp = -1
        self.bump(distance + acked)
        self.undo(threshold=False)
        return False

    # -- the timer

    def timeout(self) -> None:
        """`tcp_retransmit_timer`: `tcp_enter_frto` or `tcp_enter_loss`."""
        if not (self.rules.frto and self.sack):
            self.enter_loss(forget=False)
            return
        earlier = self.frto > 0 or self.state in (RECOVERY, LOSS)
        if self.frto == 0 or self.retransmits == 0:
            self.lower()
        self.undo_marker, self.undo_retrans = self.una, 0
        if self.queue[0].resent:
            self.undo_marker = -1
        self.queue[0].tags.discard("R")
        self.cwnd = min(self.cwnd, self.flight + 1)
        self.frto_high = self.high_seq if earlier and self.high_seq > self.una else self.nxt
        self.state, self.high_seq, self.frto = DISORDER, self.nxt, 1
        self.retransmits += 1

    def lower(self) -> None:
        if (
            self.state <= DISORDER
            or self.una >= self.high_seq
            or (self.state == LOSS and self.retransmits == 0)
        ):
            self.prior_ssthresh, self.prior_cwnd = self.threshold(), self.cwnd
            self.ssthresh = max(self.cwnd // 2, 2)

    def enter_loss(self, *, forget: bool) -> None:
        self.frto = 0
        self.lower()
        self.cwnd, self.cwnd_cnt = 1, 0
        self.undo_marker, self.undo_retrans = self.una, 0
        if forget or any(segment.resent for segment in self.queue):
            self.undo_marker = -1
        self.take_for_lost(forget=forget)
        self.state, self.high_seq = LOSS, self.nxt
        self.retransmits += 1
        self.resends = True
