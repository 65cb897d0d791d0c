"""A link of the fabric that others use, too: when their packets come, and what waits."""

import networkx as nx
import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.fabric import Fabric
from simnet.net.infiniband.fabric_link import Link
from tests.host.parts import MS, NS, US
from tests.net.parts import Far, Sink, frame

SIZE = 1000
BYTE = NS
SERVICE = SIZE * BYTE


def shared(permille: int, seed: int = 1) -> Link:
    link = Link("a>b", BYTE, 10 * NS)
    link.share(stream(seed, "others"), permille, SIZE)
    return link


class Others:
    """What the documentation says of the background, drawn from the same numbers."""

    def __init__(self, permille: int, seed: int = 1) -> None:
        self.numbers = stream(seed, "others")
        self.permille = permille
        self.gap = SERVICE * 1000 // permille
        self.free = self.next = 0

    def begin(self, now: int) -> None:
        """Packets that are there, each by the chance that the link is busy; then the next."""
        self.free = now
        while self.numbers.below(1000) < self.permille:
            self.free += self.numbers.below(SERVICE)
        self.next = now + self.numbers.exponential_ps(self.gap)

    def come(self, now: int) -> int:
        """All that came until now are served; return how long one would wait."""
        while self.next <= now:
            self.free = max(self.free, self.next) + SERVICE
            self.next += self.numbers.exponential_ps(self.gap)
        return max(self.free - now, 0)


def test_at_first_nothing_was_sent() -> None:
    link = Link("a>b", BYTE, 10 * NS)
    assert (link.name, link.free_ps, link.packets, link.bytes) == ("a>b", 0, 0, 0)
    assert (link.waited_ps, link.longest_ps) == (0, 0)
    assert [link.backlog_ps(now) for now in (0, 1, US)] == [0, 0, 0]


def test_what_was_accepted_is_in_front_until_it_has_left() -> None:
    link = Link("a>b", BYTE, 10 * NS)
    link.free_ps = 5 * US
    assert [link.backlog_ps(now) for now in (0, 5 * US - 1, 5 * US, 5 * US + 1)] == [
        5 * US,
        1,
        0,
        0,
    ]


@pytest.mark.parametrize("permille", [1, 300, 900])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_others_come_at_random_and_are_served_in_turn(permille: int, seed: int) -> None:
    link, others = shared(permille, seed), Others(permille, seed)
    others.begin(3 * US)
    times = [3 * US, 3 * US, 4 * US, 4 * US + 1, 9 * US, 20 * US, 21 * US]
    assert [link.backlog_ps(now) for now in times] == [others.come(now) for now in times]


@pytest.mark.parametrize("more_ps", [0, 1])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_after_a_rest_of_a_thousand_packets_it_begins_anew(seed: int, more_ps: int) -> None:
    link, others = shared(100, seed), Others(100, seed)
    others.begin(0)
    assert link.backlog_ps(0) == others.come(0)
    later = others.next + 1000 * SERVICE + more_ps
    if more_ps:
        others.begin(later)
    assert link.backlog_ps(later) == others.come(later)
    assert link.backlog_ps(later + US) == others.come(later + US)


def test_how_much_of_the_time_others_have_it() -> None:
    link = shared(500)
    busy = sum(link.backlog_ps(at * 7 * SERVICE) > 0 for at in range(2000))
    assert busy / 2000 == pytest.approx(0.5, abs=0.05)


class TestCounters:
    def test_of_links_and_paths(self) -> None:
        sim = Simulator()
        graph: nx.Graph[str] = nx.Graph([("host0", "switch"), ("switch", "host1")])
        fabric = Fabric(
            sim, "fabric", graph, rate_bps=8 * 10**9, propagation_ps=10 * NS, latency_ps=100 * NS
        )
        far = Far(sim)
        path = fabric.connect("host0", "host1", far)
        assert (path.packets, path.bytes, path.delivered) == (0, 0, 0)
        assert fabric.counters() == {"in_flight": 0, "longest_wait_ps": 0}
        sink = Sink(sim)
        for seq, size in enumerate((1000, 500)):
            path.send(frame(sink, seq, wire_bytes=size), (1000 + 500 * seq) * BYTE)
        assert (path.packets, path.bytes, path.delivered) == (2, 1500, 0)
        assert fabric.counters()["in_flight"] == 2
        sim.run_until(MS)
        assert (path.packets, path.delivered) == (2, 2)
        assert fabric.counters() == {"in_flight": 0, "longest_wait_ps": 0}
        for ends in (("host0", "switch"), ("switch", "host1")):
            link = fabric.links[ends]
            assert (link.packets, link.bytes, link.waited_ps) == (2, 1500, 0)
        assert fabric.links["host1", "switch"].packets == 0

    def test_what_waits_is_told(self) -> None:
        sim = Simulator()
        graph: nx.Graph[str] = nx.Graph(
            [("host0", "switch"), ("host1", "switch"), ("switch", "host2")]
        )
        fabric = Fabric(
            sim, "fabric", graph, rate_bps=8 * 10**9, propagation_ps=10 * NS, latency_ps=100 * NS
        )
        far = Far(sim)
        sink = Sink(sim)
        paths = [fabric.connect(f"host{number}", "host2", far) for number in (0, 1)]
        for path in paths:
            for seq in range(3):
                path.send(frame(sink, seq, wire_bytes=1000), (seq + 1) * 1000 * BYTE)
        sim.run_until(MS)
        # of each pair the second waits for the first, and one more each time
        link = fabric.links["switch", "host2"]
        assert link.longest_ps == fabric.counters()["longest_wait_ps"] == 3000 * BYTE
        assert link.waited_ps == (0 + 1 + 1 + 2 + 2 + 3) * 1000 * BYTE
