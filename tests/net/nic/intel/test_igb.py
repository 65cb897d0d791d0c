"""A vector of igb: one throttle for both rings, loaded by an interrupt and written by the next."""

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.intel.igb import Igb
from tests.host.parts import US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import CROWDS, Bench, Crowd


class Card(Bench):
    """A machine with one vector of it."""

    chip: Any = Igb
    defaults = {"tso": False, "usecs": 50, "alone": False}  # noqa: RUF012 - as in the base

    def __init__(self, *, device: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(device={"rate_bps": 10**9} | (device or {}), **options)


def test_a_throttle_holds_from_the_interrupt_that_loads_it() -> None:
    """The first handler writes the register; the second interrupt loads the counter with it."""
    card = Card()
    card.feed(100, 110, 120, 130, 171, 400)
    card.run(1000)
    assert card.asserted_us == [100, 110, 160, 210, 400]
    assert card.delivered == [0, 1, 2, 3, 4, 5]


def test_sent_and_received_frames_share_the_throttle() -> None:
    card = Card()
    agenda = Agenda(card.sim)
    card.feed(100, 110)
    agenda.at(120 * US, card.send)
    card.feed(150)
    card.run(1000)
    assert card.asserted_us == [100, 110, 160]


def test_without_a_throttle_each_poll_that_ends_lets_the_next_frame_interrupt() -> None:
    card = Card(usecs=0)
    card.feed(100, 103, 106)
    card.run(1000)
    assert card.asserted_us == [100, 103, 106]


def test_small_frames_are_taken_every_49_microseconds() -> None:
    card = Card(usecs=3)
    card.feed(*(100 + 12.304 * number for number in range(500)))
    card.run(6000)
    # the frames of the bench have 125 bytes on the wire
    pairs = itertools.pairwise(card.asserted_us[-6:])
    assert [round(after - before, 2) for before, after in pairs] == [49.0] * 5


def test_a_poll_reclaims_128_sent_frames_and_counts_as_full_then() -> None:
    card = Card(device={"tx_ring": 1023, "rate_bps": 10**11})
    agenda = Agenda(card.sim)
    agenda.at(100 * US, card.send, 1)
    agenda.at(101 * US, card.send, 200)
    card.run(2000)
    assert card.napi.polls_full_budget == 1
    assert card.nic.tx.reclaimed == 201


def test_buffers_come_back_16_at_a_time() -> None:
    """Of a burst that comes before a poll is over, a ring of 20 takes as many as went up."""
    taken = {}
    for at in (105, 119, 140):
        card = Card(device={"rx_buffers": 20}, work_ps=1 * US)
        card.feed(*(100 + 0.01 * n for n in range(20)), *(at + 0.01 * n for n in range(20)))
        card.run(1000)
        taken[at] = card.nic.rx_packets - 20
    assert taken == {105: 0, 119: 16, 140: 20}


def test_sizes_are_those_since_the_last_look() -> None:
    """Of polls far from each other the last one decides, whatever came before."""
    vals = []
    for first in ((), (100, 101, 102)):
        card = Card(usecs=1)
        card.feed(*first, 3000, 3001)
        card.run(6000)
        vals.append(card.nic.itr.itr_val)
    assert vals[0] == vals[1]
    vals = []
    for sizes in ((125,), (1500, 125)):
        card = Card(usecs=1)
        agenda = Agenda(card.sim)
        for number, size in enumerate(sizes, 3 - len(sizes)):
            agenda.at(number * 1000 * US, card.send, 4, size)
        card.run(6000)
        vals.append(card.nic.itr.itr_val)
    assert vals[0] == vals[1]


@given(crowd=CROWDS, usecs=st.sampled_from([0, 1, 3, 10, 50]), alone=st.booleans())
@settings(max_examples=examples(60), deadline=None)
def test_every_frame_is_polled_once_in_order_and_no_interrupt_is_lost(
    *, crowd: Crowd, usecs: int, alone: bool
) -> None:
    crowd.check(Card, usecs=usecs, alone=alone)
