"""A card of which little is known: polled by NAPI, one interrupt in a time that is given."""

from typing import Any

import pytest

from simnet.net.nic.neutral import Neutral
from tests.host.parts import NS, US
from tests.net.nic.connectx import Bench


class Card(Bench):
    """A machine with one vector of it."""

    chip: Any = Neutral
    defaults = {"tso": False, "gap_ps": 50 * US}  # noqa: RUF012 - as in the base


def test_the_first_frame_interrupts_at_once_and_the_next_after_the_gap() -> None:
    card = Card()
    card.feed(10, 12, 13, 200)
    card.run(400)
    assert card.asserted_us == [10, 60, 200]
    assert card.delivered == [0, 1, 2, 3]


def test_without_a_gap_each_poll_that_ends_lets_the_next_frame_interrupt() -> None:
    card = Card(gap_ps=0)
    card.feed(10, 20, 30)
    card.run(100)
    assert card.asserted_us == [10, 20, 30]


def test_sent_and_received_frames_share_the_gap() -> None:
    card = Card()
    card.feed(10)
    card.run(15)
    card.send()
    card.run(200)
    assert card.asserted_us == [10, 60]


def test_a_sent_frame_makes_received_ones_wait() -> None:
    card = Card()
    card.send()
    card.feed(10)
    card.run(200)
    first, second = card.asserted_us
    assert (first < 5, second - first) == (True, 50)


def test_the_vector_is_disabled_until_the_poll_ends() -> None:
    card = Card(gap_ps=0, work_ps=20_000 * NS)
    card.feed(10, 15)
    card.run(200)
    assert card.asserted_us == [10]
    assert card.delivered == [0, 1]


@pytest.mark.parametrize("gap_us", [0, 20])
def test_one_event_a_frame_agrees(gap_us: int) -> None:
    cards = [Card(per_frame=each, gap_ps=gap_us * US) for each in (False, True)]
    for card in cards:
        card.feed(*(10 + 1.7 * n for n in range(40)))
        card.run(500)
    assert cards[0].asserted_us == cards[1].asserted_us
    assert cards[0].sink.log == cards[1].sink.log
