"""A card with r8169: a status bit for each frame, cleared by the handler; every frame is copied."""

from typing import Any

import pytest
from hypothesis import given, settings

from simnet.net.nic.realtek.r8169 import R8169
from tests.host.parts import NS, US, Agenda
from tests.house.examples import examples
from tests.net.nic.connectx import CROWDS, Bench, Crowd


class Card(Bench):
    """A machine with one."""

    chip: Any = R8169
    defaults = {"tso": False}  # noqa: RUF012 - as in the base

    def __init__(self, *, device: dict[str, Any] | None = None, **options: Any) -> None:
        rings = {"rate_bps": 10**9, "rx_buffers": 256, "tx_ring": 238}
        super().__init__(device=rings | (device or {}), **options)


def test_each_frame_interrupts_when_polls_are_over_before_the_next() -> None:
    card = Card()
    card.feed(100, 110, 120, 130)
    card.run(1000)
    assert card.asserted_us == [100, 110, 120, 130]


def test_a_frame_that_a_poll_has_taken_interrupts_once_more() -> None:
    """Its bit was set after the handler had cleared the others."""
    card = Card(work_ps=5 * US)
    card.feed(100, 103)
    card.run(1000)
    assert card.delivered == [0, 1]
    assert card.napi.interrupts == 2
    assert card.napi.polls_empty == 1
    assert card.asserted_us[1] > 105


def test_a_frame_before_the_handler_does_not() -> None:
    card = Card(work_ps=5 * US)
    card.feed(100, 100.4)
    card.run(1000)
    assert card.delivered == [0, 1]
    assert card.napi.interrupts == 1


def test_a_sent_frame_sets_a_bit_too() -> None:
    card = Card()
    Agenda(card.sim).at(100 * US, card.send)
    card.run(1000)
    assert card.napi.interrupts == 1
    assert card.nic.tx.reclaimed == 1


def test_one_poll_frees_all_that_has_been_sent() -> None:
    card = Card(device={"rate_bps": 10**11})
    Agenda(card.sim).at(100 * US, card.send, 200)
    card.run(1000)
    assert card.nic.tx.reclaimed == 200
    assert card.napi.polls_full_budget == 0


def test_each_frame_costs_a_copy_of_its_lines() -> None:
    """A frame of 1514 bytes is twelve lines of 128, the bench's of 101 bytes is one."""
    spent = []
    for line_ns in (0, 10):
        card = Card(costs={"copy_line": line_ns})
        card.feed(100)
        card.run(1000)
        spent.append((card.nic.ledger.copy, card.sink.log[0][0]))
    (none, before), (copied, after) = spent
    assert (none, copied, after - before) == (0, 10 * NS, 10 * NS)


def test_a_buffer_is_back_when_its_frame_has_been_copied() -> None:
    """A second burst comes while the first is polled: a ring of 8 takes as many as went up."""
    taken = {}
    for at in (100.5, 104.6, 120):
        card = Card(device={"rx_buffers": 8}, work_ps=1 * US)
        card.feed(*(100 + 0.01 * n for n in range(8)), *(at + 0.01 * n for n in range(8)))
        card.run(1000)
        taken[at] = card.nic.rx_packets - 8
    assert taken == {100.5: 0, 104.6: 4, 120: 8}


@given(CROWDS)
@settings(max_examples=examples(60), deadline=None)
def test_every_frame_is_polled_once_in_order_and_no_interrupt_is_lost(crowd: Crowd) -> None:
    for card in crowd.check(Card):
        assert card.nic.tx.reclaimed == len(crowd.sends_us)


@pytest.mark.parametrize("defer", [0, 1])
def test_deferred_interrupts_save_handlers(defer: int) -> None:
    card = Card()
    card.napi.defer_hard_irqs = defer
    card.napi.gro_flush_timeout_ps = 20 * US
    card.feed(*(100 + 12.3 * number for number in range(100)))
    card.run(5000)
    assert len(card.delivered) == 100
    assert (card.napi.interrupts > 90) == (defer == 0)
