"""A flow of datagrams: when its bursts come, what they count, what the switch has no room for."""

from itertools import pairwise

import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Path, Skb, Station
from simnet.net.remote.link import RemoteLink
from simnet.net.udp.source import DatagramSource

MS = 10**9
OVERHEAD = 66
LEAST = 84


class Switch(Path):
    """Keeps what comes: when a frame ends, its bytes on the wire, its payload, when it was sent."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "switch")
        self.frames: list[tuple[int, int, int, int]] = []
        self.flushed: list[int] = []

    def send(self, skb: Skb, tx_end_ps: int) -> int:
        self.frames.append((tx_end_ps, skb.wire_bytes, skb.end_seq - skb.seq, skb.tsval))
        return 0

    def flush(self) -> int:
        self.flushed.append(len(self.frames))
        return 0


def sent(
    *, size: int = 1000, burst: int = 3, gaps: int = 4, room: int = 10**6, random: bool = False
) -> tuple[DatagramSource, Switch]:
    sim = Simulator()
    switch = Switch(sim)
    link = RemoteLink(8 * 10**9)
    link.path_out = switch
    here, there = Station(1), Station(2)
    source = DatagramSource(
        sim,
        "source",
        link=link,
        socket=Endpoint(sim, "socket"),
        number=7,
        header=Header(here, there, 1, 2, 3, 4),
        size_bytes=size,
        overhead_bytes=OVERHEAD,
        least_wire_bytes=LEAST,
        burst=burst,
        gap_ps=MS,
        random=random,
        buffer_bytes=room,
        luck=stream(1, "source"),
    )
    sim.run_until(gaps * MS)
    return source, switch


def test_bursts_come_one_each_gap_and_everything_is_counted() -> None:
    source, switch = sent()
    assert (source.sent, source.sent_bytes, source.dropped) == (12, 12_000, 0)
    assert switch.flushed == [3, 6, 9, 12]
    begun = [frame[3] for frame in switch.frames[::3]]
    assert [after - before for before, after in pairwise(begun)] == [MS] * 3
    assert begun[0] < MS
    # a byte takes a nanosecond
    wire = 1000 + OVERHEAD
    assert [frame[0] - frame[3] for frame in switch.frames[:3]] == [
        wire * 1000, 2 * wire * 1000, 3 * wire * 1000,
    ]  # fmt: skip
    assert {frame[1:3] for frame in switch.frames} == {(wire, 1000)}


def test_what_the_switch_has_no_room_for_is_dropped() -> None:
    source, switch = sent(burst=5, room=2 * (1000 + OVERHEAD) + 1)
    assert (source.sent, source.dropped, len(switch.frames)) == (20, 12, 8)


@pytest.mark.parametrize(("size", "wire"), [(1, LEAST), (LEAST - OVERHEAD, LEAST), (19, 85)])
def test_a_frame_has_a_least_length(size: int, wire: int) -> None:
    _, switch = sent(size=size)
    assert {frame[1] for frame in switch.frames} == {wire}


def test_random_bursts_have_their_mean() -> None:
    _, switch = sent(random=True, gaps=100, burst=1)
    assert len(switch.frames) == pytest.approx(100, abs=40)
    gaps = {after[3] - before[3] for before, after in pairwise(switch.frames)}
    assert len(gaps) > 50
