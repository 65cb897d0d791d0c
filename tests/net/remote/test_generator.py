"""A generator sends as many frames as it is told, at the times that they have."""

from collections import Counter
from itertools import pairwise

import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station, SwitchedPath, new_skb
from simnet.net.remote.generator import FrameCounter, PacketGenerator
from simnet.net.udp.no_ports import NoPorts
from tests.host.parts import MS
from tests.net.parts import Far


def made(
    rate: int, *, flows: int = 1, random: bool = False
) -> tuple[Simulator, Far, PacketGenerator]:
    sim = Simulator()
    far = Far(sim)
    path = SwitchedPath(sim, "wire", far, 40 * 10**9, 0, 0, per_frame=False)
    generator = PacketGenerator(
        sim,
        "generator",
        path_out=path,
        endpoint=NoPorts(sim, "stack", 0),
        headers=[Header(Station(1), Station(0), 1, 2, k, 9) for k in range(flows)],
        payload_bytes=18,
        wire_bytes=84,
        rate=rate,
        luck=stream(1, "generator") if random else None,
    )
    return sim, far, generator


@pytest.mark.parametrize(("rate", "ms"), [(1_000, 30), (10_020_000, 3), (33_333_333, 3)])
def test_frames_come_evenly_at_the_rate(rate: int, ms: int) -> None:
    sim, far, generator = made(rate)
    sim.run_until(ms * MS)
    times = []
    while far.incoming.count:
        times.append(far.incoming.pop().arrival_ps)
    assert generator.sent == len(times)
    # what has been sent ahead is at most a train
    due = sum(time <= ms * MS for time in times)
    assert due == pytest.approx(rate * ms // 1000, abs=1)
    gaps = {after - before for before, after in pairwise(times)}
    assert gaps <= {10**12 // rate, 10**12 // rate + 1}


def test_random_frames_have_the_rate_in_the_mean() -> None:
    sim, far, generator = made(5_000_000, random=True)
    sim.run_until(4 * MS)
    assert generator.sent == pytest.approx(20_000, rel=0.02)
    assert far.incoming.count == generator.sent


def test_flows_take_turns_until_it_is_stopped() -> None:
    sim, far, generator = made(1_000_000, flows=4)
    sim.run_until(MS)
    generator.stopped = True
    sim.run_until(2 * MS)
    ports = Counter(far.incoming.pop().header.source_port for _ in range(far.incoming.count))
    assert set(ports) == {0, 1, 2, 3}
    assert max(ports.values()) - min(ports.values()) <= 1
    assert sum(ports.values()) == generator.sent < 1100


def test_what_comes_back_is_counted() -> None:
    sim, _, generator = made(1_000_000)
    counter = FrameCounter(sim, "behind")
    path = SwitchedPath(sim, "back", counter, 40 * 10**9, 0, 0, per_frame=False)
    generator.sim.run_until(MS)
    skb = new_skb(generator.endpoint, 0, 18, 0, 0, 84, push=True)
    path.send(skb, MS)
    path.flush()
    assert counter.frames == 1
    assert counter.incoming.count == 0
