"""What a load generator sends to one queue."""

import itertools
from typing import Any

import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.link.flood import Flood
from simnet.net.link.skb import Endpoint, Header, Station
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

GAP_PS = 100_000


def flood(**more: Any) -> Flood:
    given = {"gap_ps": GAP_PS, "least_gap_ps": 6720, "random": False} | more
    headers = [Header(Station(0), Station(1), number) for number in range(3)]
    return Flood(
        Endpoint(Simulator(), "socket"),
        headers,
        [7, 8, 9],
        size_bytes=18,
        wire_bytes=84,
        dma_ps=600_000,
        luck=stream(1, "flood"),
        **given,
    )


def test_frames_come_in_turn_a_gap_apart() -> None:
    made = flood()
    frames = [made.frame() for _ in range(7)]
    assert [skb.ack for skb in frames] == [7, 8, 9, 7, 8, 9, 7]
    times = [skb.arrival_ps for skb in frames]
    assert [later - earlier for earlier, later in itertools.pairwise(times)] == [GAP_PS] * 6
    assert all(skb.arrival_ps - skb.tsval == 600_000 for skb in frames)


@pytest.mark.parametrize("until", [0, 1, GAP_PS - 1, GAP_PS, 17 * GAP_PS + 3])
def test_what_is_skipped_is_what_would_have_been_made(until: int) -> None:
    skipping, making = flood(), flood()
    end = skipping.next_ps + until
    count = skipping.skip(end)
    made = 0
    while making.next_ps <= end:
        making.frame()
        made += 1
    assert count == made == skipping.begun == making.begun
    assert skipping.next_ps == making.next_ps
    assert skipping.frame().ack == making.frame().ack
    assert skipping.skip(end) == 0


def test_random_frames_come_as_often_and_never_closer_than_the_link_lets_them() -> None:
    made = flood(random=True)
    times = [made.frame().arrival_ps for _ in range(20000)]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) >= 6720
    assert sum(gaps) / len(gaps) == pytest.approx(GAP_PS, rel=0.03)
    beyond = sum(gap > 6720 + GAP_PS for gap in gaps) / len(gaps)
    assert beyond == pytest.approx(2.718 ** -(GAP_PS / (GAP_PS - 6720)), rel=0.05)


@pytest.mark.parametrize("arrivals", ["periodic", "poisson"])
@pytest.mark.parametrize("rate", ["200000", "3000000", "0"])
def test_looking_often_changes_nothing(rate: str, arrivals: str) -> None:
    settings = {"forward.rate": rate, "forward.arrivals": arrivals}
    effective = load("router-connectx5", settings=settings)
    usual, looked = (build(effective, seed=1) for _ in range(2))
    usual.run(2 * 10**9)
    for _ in range(400):
        looked.run(5 * 10**6)
        for nic in looked.nics:
            nic.advance(looked.env.sim.now)
    assert usual.fingerprint() == looked.fingerprint()
