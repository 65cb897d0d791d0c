"""A vector of ixgbe: its throttle, its budgets, and the queue that flows learn."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.nic.intel.atr import Atr, AtrRing
from simnet.net.nic.intel.ixgbe import Ixgbe
from simnet.net.nic.intel.ixgbe_itr import itr_rules
from simnet.net.steering.flow_rules import FlowRules
from tests.host.parts import US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import CROWDS, Bench, Crowd
from tests.net.parts import Sink, frame


class Card(Bench):
    """A machine with one vector of it."""

    chip: Any = Ixgbe
    defaults = {"tso": False, "usecs": 50, "rules": itr_rules("6.9")}  # noqa: RUF012 - as in the base

    def __init__(self, *, device: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(device={"rate_bps": 10**10} | (device or {}), **options)


def test_both_rings_share_a_throttle_from_the_first_interrupt_on() -> None:
    card = Card()
    agenda = Agenda(card.sim)
    card.feed(100, 110, 171, 190)
    agenda.at(120 * US, card.send)
    card.run(1000)
    assert card.asserted_us == [100, 150, 200]


def test_a_poll_writes_what_the_second_interrupt_after_it_obeys() -> None:
    """A rest of two jiffies asks for 10 us; the counter runs with what it was loaded with."""
    card = Card(usecs=1)
    card.feed(5000, 5030, 5053)
    card.run(5020)
    assert card.nic.interval_ps == 10 * US
    card.run(6000)
    assert card.asserted_us == [5000, 5050, 5060]


def test_a_poll_reclaims_256_sent_frames_and_counts_as_full_then() -> None:
    card = Card(device={"tx_ring": 1023, "rate_bps": 10**11})
    agenda = Agenda(card.sim)
    agenda.at(100 * US, card.send, 1)
    agenda.at(101 * US, card.send, 300)
    card.run(2000)
    assert card.napi.polls_full_budget == 1
    assert card.nic.tx.reclaimed == 301


def segment(number: int, *, window: int = 1000) -> Any:
    """What connection `number` of a server sends."""
    made = frame(Sink(Simulator()))
    made.window = window
    made.header = Header(Station(1), Station(2), 0x0A000001, 0x0A010000 + number, 80, 40_000)
    return made


def test_every_twentieth_packet_of_a_ring_brings_its_flow() -> None:
    rules = FlowRules()
    rings = [AtrRing(Atr(rules), number) for number in range(2)]
    answer = segment(7).header.turned()
    for _ in range(19):
        rings[1].sent(segment(7))
    assert rules.queue(answer) == -1
    rings[1].sent(segment(7, window=0))
    assert rules.queue(answer) == -1
    rings[1].sent(segment(7))
    assert rules.queue(answer) == 1
    assert rules.queue(segment(7).header) == -1
    for _ in range(20):
        rings[0].sent(segment(7))
    assert rules.queue(answer) == 0
    assert rules.counters() == {
        "rules": 0, "steered": 1, "frames": 0, "added": 1, "updated": 1, "expired": 0,
    }  # fmt: skip


def test_a_full_table_is_emptied() -> None:
    rules = FlowRules()
    atr = Atr(rules)
    for number in range(8128):
        atr.add(segment(number), 3)
    assert (len(rules.steered), atr.overflows) == (8128, 0)
    atr.add(segment(0), 4)
    assert (len(rules.steered), atr.overflows) == (8128, 0)
    atr.add(segment(9000), 3)
    assert (len(rules.steered), atr.overflows, rules.expired) == (1, 1, 8128)


@given(
    crowd=CROWDS,
    usecs=st.sampled_from([0, 1, 3, 10, 50]),
    version=st.sampled_from(["4.14", "5.3", "6.9"]),
)
@settings(max_examples=examples(60), deadline=None)
def test_every_frame_is_polled_once_in_order_and_no_interrupt_is_lost(
    crowd: Crowd, usecs: int, version: str
) -> None:
    crowd.check(Card, usecs=usecs, rules=itr_rules(version))
