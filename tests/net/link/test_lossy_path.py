"""A bottleneck with its queue, loss, and frames that others overtake."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cpu import Cpu
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.reorder_window import MessageNumbers
from simnet.net.link.lossy_path import FLUSHED, LossyPath
from simnet.net.link.skb import Endpoint, Skb, SkbQueue, new_skb
from tests.host.parts import US

# a byte takes 8 ns
RATE_BPS = 10**9


class End(Endpoint):
    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "end")
        self.got: list[tuple[int, int]] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:  # noqa: ARG002 - as every endpoint
        self.got.append((skb.seq, self.sim.now))
        return 0


def sent(count: int, **options: Any) -> tuple[LossyPath, End]:
    """So many frames of 1250 bytes, 10 us each, at once."""
    sim = Simulator()
    usual: dict[str, Any] = {"rate_bps": RATE_BPS, "delay_ps": 100 * US}
    path = LossyPath(sim, "path", stream=RandomStream(1, "path"), **(usual | options))
    end = End(sim)
    path.destination = end
    for number in range(count):
        path.send(new_skb(end, number, number + 1, 0, 0, 1250, push=False))
    sim.run_until(10**12)
    return path, end


def test_frames_follow_each_other_at_the_rate() -> None:
    _, end = sent(3)
    assert end.got == [(0, 110 * US), (1, 120 * US), (2, 130 * US)]


def test_the_queue_drops_what_does_not_fit() -> None:
    path, end = sent(5, queue_bytes=3 * 1250)
    assert [seq for seq, _ in end.got] == [0, 1, 2]
    assert path.counters() == {"sent": 5, "dropped": 2, "lost": 0, "late": 0}


def test_a_lost_frame_has_taken_its_time_at_the_bottleneck() -> None:
    path, end = sent(200, loss_ppb=10**8)
    assert 5 < path.lost < 40
    assert len(end.got) == 200 - path.lost
    assert all(now == (110 + 10 * seq) * US for seq, now in end.got)


def test_late_frames_are_overtaken_by_as_many_as_fit_into_the_time() -> None:
    path, end = sent(200, late_ppb=10**8, late_ps=55 * US)
    on_time = [now == (110 + 10 * seq) * US for seq, now in end.got]
    assert on_time.count(False) == path.late > 5
    position = {seq: place for place, (seq, _) in enumerate(end.got)}
    first = next(seq for seq, now in end.got if now != (110 + 10 * seq) * US)
    assert sum(position[seq] < position[first] for seq in range(first + 1, 200)) <= 5


def test_the_least_chance_is_drawn_for_as_any_other() -> None:
    least, next_to_it = (sent(200, loss_ppb=10**8, late_ppb=late)[1].got for late in (1, 2))
    assert least == next_to_it


@given(st.integers(0, 5 * 10**8), st.integers(0, 5 * 10**8), st.integers(0, 10_000))
def test_every_frame_comes_once_or_is_counted(loss: int, late: int, queue: int) -> None:
    path, end = sent(60, loss_ppb=loss, late_ppb=late, late_ps=33 * US, queue_bytes=queue)
    assert len({seq for seq, _ in end.got}) == len(end.got)
    assert len(end.got) + path.lost + path.dropped == path.sent == 60


class Pairs:
    """Hands frames up two at a time; a timer flushes."""

    def __init__(self) -> None:
        self.ready = SkbQueue()
        self.held: list[Skb] = []

    def arrive(self, skb: Skb) -> None:
        self.held.append(skb)
        if len(self.held) == 2:
            self.flush()

    def flush(self) -> None:
        for skb in self.held:
            self.ready.append(skb)
        self.held.clear()


def test_an_element_stands_before_the_destination() -> None:
    sim = Simulator()
    path = LossyPath(sim, "path", stream=None, rate_bps=RATE_BPS, delay_ps=0)
    end = End(sim)
    path.destination, path.element = end, Pairs()
    for number in range(3):
        path.send(new_skb(end, number, number + 1, 0, 0, 1250, push=False))
    sim.run_until(10**9)
    assert end.got == [(0, 20 * US), (1, 20 * US)]
    path.element.flush()
    path.on_event(FLUSHED, 0)
    assert end.got[-1] == (2, 10**9)


def test_at_first_nothing_was_sent() -> None:
    path, end = sent(0)
    assert path.counters() == {"sent": 0, "dropped": 0, "lost": 0, "late": 0}
    assert end.got == []


@pytest.mark.parametrize(("queue_bytes", "got"), [(1249, 0), (1250, 1), (2499, 1), (2500, 2)])
def test_a_frame_waits_if_it_fits_with_what_is_in_front(queue_bytes: int, got: int) -> None:
    path, end = sent(3, queue_bytes=queue_bytes)
    assert (len(end.got), path.dropped) == (got, 3 - got)


def test_a_frame_that_finds_the_bottleneck_idle_begins_at_once() -> None:
    sim = Simulator()
    path = LossyPath(sim, "path", stream=None, rate_bps=RATE_BPS, delay_ps=0)
    path.destination = end = End(sim)
    for at_us in (0, 5, 40):
        sim.run_until(at_us * US)
        path.send(new_skb(end, at_us, at_us + 1, 0, 0, 1250, push=False))
    sim.run_until(10**9)
    assert end.got == [(0, 10 * US), (5, 20 * US), (40, 50 * US)]


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("what", ["loss_ppb", "late_ppb"])
def test_as_many_of_a_billion_as_said(what: str, more: int) -> None:
    drawn = RandomStream(1, "path").below(10**9)
    path, end = sent(1, late_ps=33 * US, **{what: drawn + more})
    counters = path.counters()
    assert counters["lost" if what == "loss_ppb" else "late"] == more
    assert end.got == ([] if counters["lost"] else [(0, (110 + 33 * counters["late"]) * US)])


def test_each_frame_gets_its_number_before_it_is_lost() -> None:
    sim = Simulator()
    path = LossyPath(
        sim, "path", stream=RandomStream(1, "x"), rate_bps=RATE_BPS, delay_ps=0, loss_ppb=10**9
    )
    path.destination = end = End(sim)
    path.numbers = MessageNumbers()
    skbs = [new_skb(end, number, number + 1, 0, 0, 1250, push=False) for number in range(3)]
    for skb in skbs:
        path.send(skb)
    assert [skb.msg_id for skb in skbs] == [0, 1, 2]
    assert path.lost == 3
