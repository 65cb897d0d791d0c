"""Loss recovery from 4.18 on beside `rack_kernel.RackKernel`, on ways that lose, delay and repeat.

After every ACK, timer and retransmission all state is compared.
"""

from random import Random

import pytest

from simnet.net.tcp.recovery.segment import LOST, RETRANS, SACKED
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.timer import RttEstimator
from tests.host.parts import MS, US
from tests.net.tcp.recovery.kernel import MSS, OPEN, Block
from tests.net.tcp.recovery.rack_kernel import PROBE, REORDER, RackKernel
from tests.net.tcp.recovery.test_counted_reference import Receiver
from tests.net.tcp.send.test_sender import make

LETTERS = {SACKED: "S", RETRANS: "R", LOST: "L"}
STEPS = 150


class Pair:
    """The mechanism and the reference, to which the same happens."""

    def __init__(self, version: str, cwnd: int, segments: int, *, ecn: bool) -> None:
        rules = sender_rules(version)
        self.sender: TcpSender = make(
            cwnd=cwnd, sack=True, rules=rules, jiffy_ps=MS, timestamps=True
        )
        assert self.sender.sacks is not None
        self.sacks = self.sender.sacks
        if ecn:
            self.sender.use_ecn(Ecn())
        timer = self.sender.timer
        self.kernel = RackKernel(
            RttEstimator(MS, timer.rtt.rto_min * US, timer.rtt.rto_max * MS),
            cwnd=cwnd,
            rto=int(timer.rto),
            margin_us=rules.rack_margin_us or 2000,
            written=segments * MSS,
        )
        self.sender.seq.write(self.kernel.written, end_of_send=True)

    def write(self, segments: int) -> None:
        self.sender.seq.write(segments * MSS, end_of_send=True)
        self.kernel.written += segments * MSS

    def clock(self, now_us: int) -> None:
        self.kernel.now, self.kernel.jiffy = now_us, now_us // 1000
        self.sender.timer.set_time(now_us * US)

    def send(self) -> int:
        sender, jiffy = self.sender, self.kernel.jiffy
        alone = sender.board.head == sender.board.tail
        sender.seq.sent(MSS)
        if alone:
            sender.timer.first_sent(jiffy)
        sender.board.append(sender.seq.snd_nxt, jiffy, self.kernel.now)
        if sender.recovery.state != OPEN:
            sender.recovery.sent()
        self.sacks.sent_new(alone, jiffy)
        self.kernel.send()
        return self.kernel.nxt // MSS - 1

    def ack(self, number: int, blocks: list[Block], echo: int, *, news: bool, mark: bool) -> None:
        self.sender.echoed(mark)
        self.kernel.ece = mark and self.sacks.ecn is not None
        sender, sacks, jiffy = self.sender, self.sacks, self.kernel.jiffy
        told = list(blocks) or None
        self.kernel.ack(number, blocks, echo=echo, news=news)
        prior = sender.seq.snd_una
        if number < prior:
            if told and sender.board.tail > sender.board.head:
                sacks.see(prior, echo, jiffy)
                sacks.overtaken(told, number)
            return
        sender.seq.acknowledge(number, 1 << 20)
        sacks.see(prior, echo, jiffy)
        sacks.acknowledge(told, news)
        if sender.board.head < sender.board.tail:
            assert bool(sacks.raises) == bool(self.kernel.raises)

    def timer(self) -> str:
        """What is due happens; a loss probe is sent by the caller."""
        sender, kernel, jiffy = self.sender, self.kernel, self.kernel.jiffy
        pending = kernel.pending
        lost = sender.timer_expired(jiffy)
        if pending == REORDER:
            assert bool(lost) == kernel.reordering_timeout()
            sender.timer.handled(jiffy)
            if lost:
                kernel.rearm()
            return "reordering"
        assert lost
        if pending == PROBE:
            assert sender.timer.take_loss_probe()
            return "probe"
        kernel.timeout()
        sender.timer.take_head()
        sender.timer.handled(jiffy)
        return "timeout"

    def probe(self) -> int | None:
        """`tcp_send_loss_probe`; return the number of what was sent."""
        kernel = self.kernel
        if kernel.probe_end > -1:
            self.sender.timer.rearm(kernel.jiffy)
            kernel.rearm()
            return None
        fresh = kernel.nxt < kernel.written
        if fresh:
            self.send()
        self.sacks.probed(fresh, kernel.jiffy)
        kernel.probe(fresh=fresh)
        return kernel.nxt // MSS - 1

    def fill(self) -> list[int]:
        """Send again what is lost, then what is new, as the window allows; return which."""
        sent: list[int] = []
        kernel, sender = self.kernel, self.sender
        if kernel.new_first and (kernel.flight >= kernel.cwnd or kernel.nxt >= kernel.written):
            self.sacks.nothing_new()
            kernel.new_first, kernel.frto, kernel.resends = False, 0, True
            assert sender.recovery.retransmitting
        if kernel.resends and not kernel.new_first:
            sender.recovery.resending()
            kernel.resends = False
            while True:
                again = int(sender.recovery.next_retransmission(True))  # noqa: FBT003 - cdef
                assert again == kernel.retransmission()
                if again < 0:
                    break
                sender.recovery.resent(again, kernel.jiffy)
                kernel.resend(again)
                sent.append(again)
        while kernel.flight < kernel.cwnd and kernel.nxt < kernel.written:
            sent.append(self.send())
        return sent

    def compare(self) -> None:
        kernel, board, sacks = self.kernel, self.sender.board, self.sacks
        congestion, rack, timer = self.sender.congestion, self.sacks.rack, self.sender.timer
        tags = [
            {letter for bit, letter in LETTERS.items() if board.tags_of(number) & bit}
            for number in range(board.head, board.tail)
        ]
        assert tags == [segment.tags - {"E"} for segment in kernel.queue]
        found = {
            "state": sacks.state,
            "frto": sacks.frto,
            "high_seq": sacks.high_seq,
            "cwnd": congestion.cwnd,
            "ssthresh": congestion.ssthresh,
            "reordering": board.reordering,
            "flight": board.in_flight(),
            "undo_marker": board.undo.marker,
            "prior_ssthresh": sacks.prior_ssthresh,
            "prior_cwnd": sacks.prior_cwnd,
            "prr_delivered": sacks.prr_delivered,
            "prr_out": sacks.prr_out,
            "stamp": sacks.retrans_stamp,
            "retransmits": sacks.retransmits,
            "entered": sacks.entered,
            "undone": sacks.undone,
            "spurious": sacks.spurious,
            "repaired": sacks.probe.repaired,
            "resends": bool(sacks.retransmitting),
            "new_first": bool(sacks.new_first),
            "probe_end": sacks.tags.probe_end,
            "times_resent": sacks.tags.resent,
            "rack_us": rack.sent_us,
            "rack_end": rack.end_seq,
            "rtt_us": rack.rtt_us,
            "rack_advanced": bool(rack.advanced),
            "steps": rack.steps,
            "persist": rack.persist,
            "seen": rack.reordering_seen,
            "dsack_seen": bool(rack.dsack_seen),
            "lost": rack.lost,
            "rto": timer.rto,
            "due": timer.rto_jiffy,
            "pending": timer.pending,
        }
        assert found == {name: getattr(kernel, name) for name in found}
        if kernel.undo_marker >= 0:
            assert board.undo.retrans == kernel.undo_retrans


def run(version: str, seed: int) -> set[str]:
    """Some hundred events on a way that loses and delays; return what has happened."""
    luck = Random(f"{version} {seed}")  # noqa: S311 - a test's
    pair = Pair(
        version, luck.choice([2, 4, 10, 20]), luck.choice([6, 15, 60]), ecn=luck.random() < 0.4
    )
    kernel = pair.kernel
    receiver = Receiver()
    loss, late = luck.choice([0.02, 0.1, 0.3]), luck.choice([0.0, 0.1, 0.5])
    stamps, pace_us = luck.random() < 0.5, luck.choice([100, 2000, 30_000])
    now_us = 100_000
    way: list[tuple[int, int]] = []
    acks: list[tuple[int, list[Block], int]] = []
    happened = set()
    for _ in range(STEPS):
        now_us += luck.randrange(pace_us)
        # now and then the timer runs although all is well
        idle = (not way and not acks) or luck.random() < 0.02
        if kernel.queue and kernel.due > -1 and (idle or kernel.due * 1000 <= now_us):
            now_us = max(now_us, kernel.due * 1000)
            pair.clock(now_us)
            what = pair.timer()
            happened.add(what)
            probe = pair.probe() if what == "probe" else None
            if probe is not None:
                way.append((probe, now_us // 1000))
            pair.compare()
        pair.clock(now_us)
        if kernel.nxt == kernel.written and luck.random() < 0.2:
            pair.write(5)
        way += [(number, now_us // 1000) for number in pair.fill()]
        pair.compare()
        if way and luck.random() < 0.7:
            number, sent = way.pop(luck.randrange(len(way)) if luck.random() < late else 0)
            if luck.random() < loss:
                continue
            if luck.random() < 0.03:
                way.append((number, sent))
            una, blocks = receiver.take(number)
            acks.append((una, blocks, sent))
        if luck.random() < 0.3:
            continue
        while acks:
            una, blocks, sent = acks.pop(luck.randrange(len(acks)) if luck.random() < late else 0)
            if luck.random() < loss / 3:
                continue
            news, mark = luck.random() < 0.1, luck.random() < 0.1
            pair.ack(una, blocks, sent if stamps else -1, news=news, mark=mark)
            pair.compare()
            happened.add(f"state {kernel.state}")
            if luck.random() < 0.5 or kernel.new_first:
                way += [(number, now_us // 1000) for number in pair.fill()]
                pair.compare()
    counted = ("entered", "undone", "spurious", "repaired")
    return happened | {name for name in counted if getattr(kernel, name)}


@pytest.mark.parametrize("version", ["4.18", "6.6"])
def test_every_event_leaves_what_the_kernel_s_algorithm_leaves(version: str) -> None:
    happened = set().union(*(run(version, seed) for seed in range(24)))
    assert happened >= {f"state {state}" for state in range(5)}
    assert happened >= {"reordering", "probe", "timeout", "entered", "undone", "repaired"}
