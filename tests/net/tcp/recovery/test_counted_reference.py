"""Loss recovery before 4.18 beside `kernel.Kernel`, on ways that lose, delay and repeat.

After every ACK, timeout and retransmission all state is compared.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from simnet.net.tcp.recovery.segment import LOST, RETRANS, SACKED
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from tests.host.parts import MS
from tests.net.tcp.recovery.kernel import LOSS, MSS, RECOVERY, Block, Kernel
from tests.net.tcp.send.test_sender import make

VERSIONS = ["2.6.18", "2.6.32", "3.2", "3.10", "4.3", "4.12", "4.15"]
LETTERS = {SACKED: "S", RETRANS: "R", LOST: "L"}
STEPS = 120


@dataclass
class Receiver:
    """Acknowledges, and says what it holds: D-SACK first, then the block that came last."""

    una: int = 0
    held: list[Block] = field(default_factory=list)

    def take(self, number: int) -> tuple[int, list[Block]]:
        start, end = number * MSS, (number + 1) * MSS
        double = start < self.una or any(low <= start < high for low, high in self.held)
        if double:
            return self.una, [(start, end), *self.held][:4]
        touching = [block for block in self.held if block[0] <= end and start <= block[1]]
        low = min([start, *(block[0] for block in touching)])
        high = max([end, *(block[1] for block in touching)])
        rest = [block for block in self.held if block not in touching]
        if low == self.una:
            self.una, self.held = high, rest
        else:
            self.held = [(low, high), *rest]
        return self.una, self.held[:4]


class Pair:
    """The mechanism and the reference, to which the same happens."""

    def __init__(self, version: str, *, sack: bool, cwnd: int) -> None:
        rules = sender_rules(version)
        self.sender: TcpSender = make(cwnd=cwnd, sack=sack, rules=rules)
        self.sender.seq.write(10**6, end_of_send=False)
        self.kernel = Kernel(rules, sack=sack, cwnd=cwnd, rto=int(self.sender.timer.rto))
        self.fine = rules.clock_us

    def send(self, jiffy: int) -> int:
        sender = self.sender
        number = sender.seq.snd_nxt // MSS
        sender.seq.sent(MSS)
        sender.board.append(sender.seq.snd_nxt, jiffy, 4000 * jiffy)
        if sender.recovery.state:
            sender.recovery.sent()
        self.kernel.send(jiffy)
        return int(number)

    def ack(
        self, number: int, blocks: list[Block], jiffy: int, echo: int, *, news: bool, may_send: bool
    ) -> None:
        sender, counted = self.sender, self.sender.counted
        stamp = echo if echo < 0 or not self.fine else 4 * echo
        self.kernel.ack(number, blocks, jiffy=jiffy, echo=stamp, news=news, may_send=may_send)
        told: Any = [tuple(block) for block in blocks] if sender.board.sack and blocks else None
        sender.timer.set_time(4 * MS * jiffy)
        prior = sender.seq.snd_una
        state = (counted.state == RECOVERY, counted.state == LOSS)
        if number < prior:
            if told and sender.board.head < sender.board.tail:
                counted.tags.tag_blocks(told, number, prior, *state)
            return
        sender.seq.acknowledge(number, 1 << 20)
        sacked = bool(told) and counted.tags.tag_blocks(told, number, prior, *state)
        if sender.board.head == sender.board.tail:
            return
        tagged = sender.board.tagged
        acked = sender.board.clean(number, jiffy)
        if tagged:
            counted.tags.acknowledged(acked)
        if acked and not sacked and counted.state == 0 and counted.frto == 0:
            return
        counted.see(prior, stamp, jiffy)
        duplicate = acked == 0 and not news
        newly = counted.tags.newly_sacked if told else 0
        before = (counted.frto, sender.seq.snd_una, counted.state)
        grows = counted.may_grow(duplicate, acked, newly, told, may_send)
        if before[0] == 0:
            assert grows == (acked > 0 and before[2] not in (2, 3))
        if duplicate or sacked or counted.state:
            counted.alert(duplicate, sacked, acked, may_send)

    def timeout(self, jiffy: int) -> None:
        self.sender.timer.set_time(4 * MS * jiffy)
        self.sender.recovery.timeout()
        self.kernel.timeout()

    def compare(self) -> None:
        kernel, board, counted = self.kernel, self.sender.board, self.sender.counted
        congestion = self.sender.congestion
        tags = [
            {letter for bit, letter in LETTERS.items() if board.tags_of(number) & bit}
            for number in range(board.head, board.tail)
        ]
        assert tags == [segment.tags - {"E"} for segment in kernel.queue]
        found = {
            "state": counted.state,
            "frto": counted.frto,
            "high_seq": counted.high_seq,
            "cwnd": congestion.cwnd,
            "ssthresh": congestion.ssthresh,
            "cwnd_cnt": congestion.cwnd_count,
            "reordering": board.reordering,
            "fack": bool(counted.tags.fack),
            "sacked": board.sacked_out,
            "flight": board.in_flight(),
            "undo_marker": board.undo.marker,
            "prior_ssthresh": counted.prior_ssthresh,
            "stamp": counted.retrans_stamp,
            "retransmits": counted.retransmits,
            "entered": counted.entered,
            "undone": counted.undone,
            "spurious": counted.spurious,
            "resends": bool(counted.retransmitting),
        }
        assert found == {name: getattr(kernel, name) for name in found}
        if kernel.undo_marker >= 0:
            assert board.undo.retrans == kernel.undo_retrans
        if kernel.state == RECOVERY and kernel.rules.reduction:
            prr = (counted.prr_delivered, counted.prr_out, counted.prior_cwnd)
            assert prr == (kernel.prr_delivered, kernel.prr_out, kernel.prior_cwnd)

    def fill(self, jiffy: int, most: int, *, may_send: bool) -> list[int]:
        """Send again what is lost, then what is new, as the window allows; return which."""
        sent = []
        self.sender.timer.set_time(4 * MS * jiffy)
        self.sender.recovery.resending()
        self.kernel.resends = False
        while True:
            again = self.sender.recovery.next_retransmission(may_send)
            assert again == self.kernel.retransmission(may_send=may_send)
            if again < 0:
                break
            self.sender.recovery.resent(again, jiffy)
            self.kernel.resend(int(again), jiffy)
            sent.append(int(again))
        while may_send and self.kernel.flight < self.kernel.cwnd and self.kernel.out < most:
            sent.append(self.send(jiffy))
        return sent


def run(version: str, seed: int, *, sack: bool) -> set[str]:
    """Some hundred events on a way that loses and delays; return what has happened."""
    luck = Random(f"{version} {seed} {sack}")  # noqa: S311 - a test's
    pair = Pair(version, sack=sack, cwnd=luck.choice([4, 10, 20]))
    receiver = Receiver()
    loss, late = luck.choice([0.02, 0.1, 0.3]), luck.choice([0.0, 0.1, 0.5])
    stamps, slow = luck.random() < 0.5, luck.choice([1, 1, 40])
    jiffy = 10
    way: list[tuple[int, int]] = []
    acks: list[tuple[int, list[Block], int]] = []
    happened = set()
    for _ in range(STEPS):
        jiffy += luck.randrange(2) * slow
        may_send = luck.random() < 0.7
        way += [(number, jiffy) for number in pair.fill(jiffy, 40, may_send=may_send)]
        pair.compare()
        # now and then the timer runs although all is well
        hasty = bool(pair.kernel.queue) and luck.random() < 0.02
        if way and not hasty:
            number, sent = way.pop(luck.randrange(len(way)) if luck.random() < late else 0)
            if luck.random() < loss:
                continue
            if luck.random() < 0.03:
                way.append((number, sent))
            una, blocks = receiver.take(number)
            acks.append((una, blocks, sent))
        elif hasty or not acks:
            if not pair.kernel.queue:
                continue
            jiffy += 60
            pair.timeout(jiffy)
            happened.add(f"timeout in {pair.kernel.state}")
            pair.compare()
            if pair.kernel.frto == 1:
                head = pair.kernel.head
                pair.sender.recovery.resent(head, jiffy)
                pair.kernel.resend(head, jiffy)
                way.append((head, jiffy))
            continue
        if luck.random() < 0.15:
            continue  # the next ACK comes with this one
        while acks:
            una, blocks, sent = acks.pop(luck.randrange(len(acks)) if luck.random() < late else 0)
            if una > pair.kernel.nxt or luck.random() < loss / 3:
                continue
            echo = sent if stamps else -1
            pair.ack(una, blocks, jiffy, echo, news=luck.random() < 0.1, may_send=may_send)
            pair.compare()
            happened.add(f"state {pair.kernel.state}")
            if luck.random() < 0.5:
                way += [(number, jiffy) for number in pair.fill(jiffy, 40, may_send=may_send)]
                pair.compare()
    happened |= {name for name in ("entered", "undone", "spurious") if getattr(pair.kernel, name)}
    return happened


@pytest.mark.parametrize("sack", [True, False])
@pytest.mark.parametrize("version", VERSIONS)
def test_every_event_leaves_what_the_kernel_s_algorithm_leaves(version: str, *, sack: bool) -> None:
    happened = set().union(*(run(version, seed, sack=sack) for seed in range(10)))
    assert happened >= {f"state {state}" for state in (0, 1, 3, 4)} | {"entered"}
    assert not sack or "undone" in happened
