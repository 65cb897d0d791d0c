"""What ACKs say of the rate of deliveries: the kernel's own bookkeeping, segment by segment."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.tcp.congestion.rate import RateSample
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.net.parts import JIFFY_PS, make_congestion
from tests.net.tcp.send.test_sender import MSS, ack, make, numbers

NONE = -1
ALONE = True
KEPT, GIVEN_UP = False, True


class Sent(NamedTuple):
    """What `struct tcp_skb_cb` keeps of a segment."""

    at_us: int
    first_tx_us: int
    delivered_at_us: int
    delivered: int
    limited: bool


@dataclass
class Kernel:
    """net/ipv4/tcp_rate.c, with a dictionary in place of the fields of segments."""

    delivered: int = 0
    delivered_us: int = 0
    first_tx_us: int = 0
    app_limited: int = 0

    def send(self, now_us: int, *, alone: bool) -> Sent:
        if alone:
            self.first_tx_us = self.delivered_us = now_us
        return Sent(
            now_us, self.first_tx_us, self.delivered_us, self.delivered, self.app_limited > 0
        )

    def ack(self, came: list[Sent], now_us: int, least_rtt_us: int) -> tuple[int, int, bool]:
        """Segments and time of the sample, and whether the application holds it back."""
        best: Sent | None = None
        for one in came:
            if best is None or one.delivered > best.delivered or best.delivered == 0:
                best = one
                self.first_tx_us = one.at_us
        self.delivered += len(came)
        if 0 < self.app_limited < self.delivered:
            self.app_limited = 0
        if came:
            self.delivered_us = now_us
        if best is None:
            return NONE, NONE, False
        interval = max(best.at_us - best.first_tx_us, now_us - best.delivered_at_us)
        if interval < least_rtt_us:
            interval = NONE
        return self.delivered - best.delivered, interval, best.limited


steps = st.lists(
    st.tuples(
        st.sampled_from(["send", "send", "ack", "gap", "limit"]),
        st.integers(1, 900),
        st.integers(1, 7),
    ),
    max_size=120,
)


@given(steps, st.integers(0, 400))
def test_every_sample_is_the_kernels(what: list[tuple[str, int, int]], least_us: int) -> None:
    kernel, sample = Kernel(), RateSample()
    flying: dict[int, Sent] = {}
    number, now_us = 0, 1
    for kind, gap_us, count in what:
        now_us += gap_us
        if kind == "limit":
            kernel.app_limited = max(kernel.delivered + len(flying), 1)
            sample.limit_by_application(len(flying))
        elif kind == "send":
            for _ in range(count):
                head = min(flying, default=number)
                sample.sent(number, head, not flying, now_us)
                flying[number] = kernel.send(now_us, alone=not flying)
                number += 1
        else:
            oldest, behind_a_gap = sorted(flying)[:count], sorted(flying)[-1:]
            taken = list(dict.fromkeys(oldest + behind_a_gap if kind == "gap" else oldest))
            sample.begin(now_us, len(flying))
            for one in taken:
                sample.came(one, flying[one].at_us)
            expected = kernel.ack([flying.pop(one) for one in taken], now_us, least_us)
            sample.end(len(taken), 0, 0, least_us, KEPT)
            assert (sample.delivered, sample.interval_us, bool(sample.limited)) == expected
            assert sample.acked_sacked == len(taken)
        assert sample.total_delivered == kernel.delivered
        assert sample.app_limited == kernel.app_limited


def test_what_the_receiver_gives_up_says_nothing() -> None:
    sample = RateSample()
    sample.sent(0, 0, ALONE, 10)
    sample.begin(500, 1)
    sample.came(0, 10)
    sample.end(1, 0, 0, 0, GIVEN_UP)
    assert (sample.delivered, sample.interval_us) == (NONE, NONE)


@pytest.mark.parametrize(("delivered", "in_flight", "limit"), [(0, 0, 1), (0, 1, 1), (4, 3, 7)])
def test_held_back_is_what_flies_now(delivered: int, in_flight: int, limit: int) -> None:
    sample = RateSample()
    sample.begin(1, delivered)
    sample.end(delivered, 0, 0, 0, KEPT)
    sample.limit_by_application(in_flight)
    assert sample.app_limited == limit


def test_each_ack_is_a_sample_from_when_what_it_acknowledges_was_sent() -> None:
    # four segments in flight come one by one; the fifth was sent when two had come
    rules = sender_rules("6.18")
    sender = make(congestion=make_congestion("bbr", 4, rules=rules), rules=rules, sack=True)
    sender.seq.write(4 * MSS, end_of_send=True)
    assert numbers(sender, 1) == [0, 1, 2, 3]
    samples = []
    for jiffy, segments in ((3, 1), (4, 2), (6, 4), (9, 5)):
        sender.timer.set_time(jiffy * JIFFY_PS)
        ack(sender, segments, jiffy)
        rate = sender.congestion.rate
        samples.append((rate.delivered, rate.interval_us, rate.prior_in_flight))
        if segments == 2:
            sender.seq.write(MSS, end_of_send=True)
            assert numbers(sender, jiffy) == [4]
    assert samples == [(1, 8000, 4), (2, 12_000, 3), (4, 20_000, 3), (3, 20_000, 1)]
