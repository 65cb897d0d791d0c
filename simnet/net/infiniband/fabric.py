"""An InfiniBand fabric: switches and links as a graph, with one route a pair or many.

Source: InfiniBand Architecture Specification, volume 1, release 1.3, chapters 7 (link layer) and
18 (switches). Switches are cut-through: a packet's head leaves `latency` after it came in, if the
egress link is free, and its tail follows at the rate of the slowest link so far. Links queue in
the order in which heads become ready, lose nothing (credits hold packets back) and carry both
directions at once. With store-and-forward a packet is taken on when its tail has come.

Routing chooses among the routes of a pair, which are computed once: `deterministic` takes one of
the shortest for each destination, as a linear forwarding table does; `adaptive` takes, in each
switch, the egress link with the least in front of it (a tie is drawn); `random` draws. Packets
that took different routes meet again at the last switch, in the order of their arrival there:
where waits or lengths of routes differ, one overtakes the other.

Waits differ because other jobs use the links between switches, too, see
`simnet.net.infiniband.fabric_link`.

To connect devices::

    fabric = Fabric(sim, "fabric", fat_tree(leaves=2, spines=4, hosts_per_leaf=1), ...)
    nic0.path_out = fabric.connect("host0", "host1", nic1)
    nic1.path_out = fabric.connect("host1", "host0", nic0)

A device calls `send(skb, tx_end_ps)` when it starts to put a packet of `skb.wire_bytes` on its
link, whose last bit it will have sent at `tx_end_ps`, and `flush()` after the last of a burst. The
destination finds packets in `incoming` in the order of `arrival_ps` and hears of them by
`frames_added()`; as everywhere, `arrival_ps` is when the last bit has come.

What is left out: a full buffer that stops the links behind it (queues are unlimited, the longest
is counted), virtual lanes, and packets of one message that the hardware sends by itself: a packet
here is what the device sends, a whole message of a reliable connection, for instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.random import RandomStream
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.fabric_link import Link
from simnet.net.link.skb import Path, Port, Skb

if TYPE_CHECKING:
    import networkx as nx


ROUTINGS = ("deterministic", "adaptive", "random")

_DETERMINISTIC: cython.int = 0
_ADAPTIVE: cython.int = 1
_ENTERS: cython.int = 0
_ARRIVES: cython.int = 1
_WHOLE = 1000
_MOST_ROUTES = 64


def fat_tree(*, leaves: int, spines: int, hosts_per_leaf: int) -> nx.Graph[str]:
    """Two levels: each `leaf` is linked to each `spine`, `hostN` to leaf N // hosts_per_leaf."""
    links = [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)]
    return switch_graph(links, [host // hosts_per_leaf for host in range(leaves * hosts_per_leaf)])


def switch_graph(links: list[tuple[int, int]], hosts: list[int]) -> nx.Graph[str]:
    """A graph of `switchN` with these links; `hostN` hangs on the switch that `hosts[N]` says."""
    import networkx as nx  # most hosts hang on no fabric

    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from((f"switch{a}", f"switch{b}") for a, b in links)
    graph.add_edges_from((f"host{host}", f"switch{switch}") for host, switch in enumerate(hosts))
    return graph


@cython.final
@cython.cclass
class Hop:
    """A step of the routes of one pair: a link, and the steps that may follow; none at the end."""

    link: Link = None
    following: list[Any] = None

    def __init__(self, link: Link) -> None:
        self.link = link
        self.following = []

    def step(self, link: Link) -> Hop:
        """The following step over `link`, added if it is not there."""
        for hop in self.following:
            if hop.link is link:
                known: Hop = hop
                return known
        added = Hop(link)
        self.following.append(added)
        return added


@cython.final
@cython.cclass
class Transit:
    """A packet under way: where it goes, the last step it took, when its tail will be there."""

    skb: Skb = None
    path: FabricPath = None
    hop: Hop = None
    tail_ps: cython.longlong = 0
    next_free: cython.longlong = 0

    def __init__(self) -> None:
        self.next_free = NONE


@cython.final
@cython.cclass
class FabricPath(Path):
    """From one host's device to another's; see the module's docstring."""

    fabric: Fabric = None
    first: Hop = None
    # that were sent
    packets: cython.longlong = 0
    bytes: cython.longlong = 0
    delivered: Public[cython.longlong] = 0  # packets that have been announced to the destination

    def __init__(self, fabric: Fabric, path: str, first: Hop, destination: Port) -> None:
        super().__init__(fabric.sim, path)
        self.fabric = fabric
        self.first = first
        self.destination = destination

    def counters(self) -> dict[str, int]:
        """Packets that were sent and delivered; the others are in flight."""
        return {"packets": self.packets, "delivered": self.delivered}

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a packet whose last bit leaves the source at `tx_end_ps`."""
        self.packets += 1
        self.bytes += skb.wire_bytes
        self.fabric.inject(skb, tx_end_ps, self)
        return 0

    def flush(self) -> cython.int:
        """Nothing is known before the packets leave the last switch."""
        return 0


@cython.final
@cython.cclass
class Fabric(Component):
    """Switches and links.

    Args:
        graph: hosts and switches by name; a host has one link. An edge may say its own
            `rate_bps` and `propagation_ps`.
        rate_bps: data rate of a link.
        propagation_ps: of a cable.
        latency_ps: of a switch, from head in to head out when idle.
        routing: one of `ROUTINGS`.
        routes: routes of a pair, the shortest ones first, longer ones if there are not so many;
            0 for all shortest ones (64 at most).
        background_permille: share of the links between switches that others use, below 1000.
        background_bytes: size of their packets, above 0 if there are any.
        cut_through: False for store-and-forward.
        seed: of the random streams.
        per_frame: an event for each arrival (reference).

    Raises:
        ValueError: no such routing, or a background that fills the links.
    """

    graph: Any = None
    links: dict[Any, Any] = None
    latency_ps: cython.longlong = 0
    routing: cython.int = 0
    routes: cython.int = 0
    cut_through: cython.bint = False
    per_frame: cython.bint = False
    luck: RandomStream = None
    transits: list[Any] = None
    free: cython.longlong = 0
    in_flight: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        graph: nx.Graph[str],
        *,
        rate_bps: int,
        propagation_ps: int,
        latency_ps: int,
        routing: str = "deterministic",
        routes: int = 0,
        background_permille: int = 0,
        background_bytes: int = 0,
        cut_through: bool = True,
        seed: int = 0,
        per_frame: bool = False,
    ) -> None:
        if routing not in ROUTINGS:
            message = f"{path}: routing {routing!r} is not one of {', '.join(ROUTINGS)}"
            raise ValueError(message)
        if not 0 <= background_permille < _WHOLE or (background_permille and background_bytes < 1):
            message = f"{path}: no background of {background_permille} permille in packets of "
            raise ValueError(f"{message}{background_bytes} bytes")
        super().__init__(sim, path)
        self.graph = graph
        self.routing = ROUTINGS.index(routing)
        self.routes = routes
        self.cut_through = cut_through
        self.per_frame = per_frame
        self.latency_ps = latency_ps
        self.luck = RandomStream(seed, path)
        self.links = {}
        self.transits = []
        self.free = NONE
        for a, b, given in graph.edges(data=True):
            byte_ps = 8 * 10**12 // given.get("rate_bps", rate_bps)
            for ends in ((a, b), (b, a)):
                name = ">".join(ends)
                link = Link(name, byte_ps, given.get("propagation_ps", propagation_ps))
                if background_permille and graph.degree(a) > 1 and graph.degree(b) > 1:
                    stream = RandomStream(seed, f"{path}.{name}")
                    link.share(stream, background_permille, background_bytes)
                self.links[ends] = link

    def counters(self) -> dict[str, int]:
        """Packets in flight, and the longest wait at a link in ps."""
        longest = max((link.longest_ps for link in self.links.values()), default=0)
        return {"in_flight": self.in_flight, "longest_wait_ps": longest}

    def connect(self, source: str, destination: str, port: Port) -> FabricPath:
        """Return the path from the host `source` to `port`, the device of another host.

        Raises:
            ValueError: a host that the graph has not, or no way between them.
        """
        for name in (source, destination):
            if name not in self.graph or self.graph.degree(name) != 1:
                message = f"{self.path}: {name!r} is no host: a host has one link"
                raise ValueError(message)
        routes = self._routes(source, destination)
        first = Hop(self.links[source, routes[0][1]])
        for route in routes:
            hop = first
            for ends in pairwise(route[1:]):
                hop = hop.step(self.links[ends])
        return FabricPath(self, f"{self.path}.{source}.to.{destination}", first, port)

    def _routes(self, source: str, destination: str) -> list[list[str]]:
        """The routes between two hosts, as lists of nodes."""
        import networkx as nx

        if source == destination or not nx.has_path(self.graph, source, destination):
            message = f"{self.path}: no way from {source!r} to {destination!r}"
            raise ValueError(message)
        routes: Iterator[list[str]] = (
            nx.shortest_simple_paths(self.graph, source, destination)
            if self.routes
            else nx.all_shortest_paths(self.graph, source, destination)
        )
        found = list(islice(routes, self.routes or _MOST_ROUTES))
        found.sort(key=lambda route: (len(route), route))
        if self.routing == _DETERMINISTIC:
            # forwarding tables are by destination: sources agree where their ways meet
            shortest = [route for route in found if len(route) == len(found[0])]
            return [shortest[sorted(self.graph).index(destination) % len(shortest)]]
        return found

    def inject(self, skb: Skb, tx_end_ps: cython.longlong, path: FabricPath) -> cython.int:
        """Take a packet from a host (`FabricPath.send` calls this)."""
        link: Link = path.first.link
        slot: cython.longlong = self.free
        transit: Transit
        head: cython.longlong
        if slot == NONE:
            slot = len(self.transits)
            transit = Transit()
            self.transits.append(transit)
        else:
            transit = self.transits[slot]
            self.free = transit.next_free
        transit.skb = skb
        transit.path = path
        transit.hop = path.first
        transit.tail_ps = tx_end_ps + link.propagation_ps
        link.packets += 1
        link.bytes += skb.wire_bytes
        self.in_flight += 1
        if len(path.first.following) == 0:
            # a cable from host to host
            self._arrives(slot, transit)
            return 0
        head = transit.tail_ps
        if self.cut_through:
            head -= skb.wire_bytes * link.byte_ps
            if head < self.sim.now + link.propagation_ps:
                # the device's own rate is above the link's
                head = self.sim.now + link.propagation_ps
        self.sim.at(head + self.latency_ps, self, _ENTERS, slot, 0)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A packet's head is ready to leave a switch, or its tail has arrived (per-frame mode)."""
        transit: Transit = self.transits[arg]
        if kind == _ARRIVES:
            self._announce(arg, transit)
        else:
            self._forward(arg, transit)

    def _forward(self, slot: cython.longlong, transit: Transit) -> cython.int:
        """Choose the egress link and queue there."""
        now: cython.longlong = self.sim.now
        hop: Hop = self._choose(transit.hop.following, now)
        link: Link = hop.link
        wait: cython.longlong = link.backlog_ps(now)
        end: cython.longlong = now + wait + transit.skb.wire_bytes * link.byte_ps
        head: cython.longlong
        if end < transit.tail_ps + self.latency_ps:
            # the tail comes by a slower link
            end = transit.tail_ps + self.latency_ps
        link.free_ps = end
        link.packets += 1
        link.bytes += transit.skb.wire_bytes
        link.waited_ps += wait
        if wait > link.longest_ps:
            link.longest_ps = wait
        transit.hop = hop
        transit.tail_ps = end + link.propagation_ps
        if len(hop.following) == 0:
            self._arrives(slot, transit)
            return 0
        head = now + wait + link.propagation_ps if self.cut_through else transit.tail_ps
        self.sim.at(head + self.latency_ps, self, _ENTERS, slot, 0)
        return 0

    def _choose(self, following: list[Any], now: cython.longlong) -> Hop:
        """The next step: the only one, one by lot, or the one with the least in front."""
        count: cython.longlong = len(following)
        position: cython.longlong
        hop: Hop
        best: Hop
        backlog: cython.longlong
        least: cython.longlong
        ties: cython.longlong = 1
        if count > 1 and self.routing != _ADAPTIVE:
            best = following[self.luck.below(count)]
            return best
        best = following[0]
        if count == 1:
            return best
        least = best.link.backlog_ps(now)
        for position in range(1, count):
            hop = following[position]
            backlog = hop.link.backlog_ps(now)
            if backlog < least:
                best = hop
                least = backlog
                ties = 1
            elif backlog == least:
                ties += 1
                if self.luck.below(ties) == 0:
                    best = hop
        return best

    def _arrives(self, slot: cython.longlong, transit: Transit) -> cython.int:
        """The packet is on its last link: its arrival is known."""
        transit.skb.arrival_ps = transit.tail_ps + transit.path.destination.dma_ps
        if self.per_frame:
            self.sim.at(transit.skb.arrival_ps, self, _ARRIVES, slot, 0)
            return 0
        return self._announce(slot, transit)

    def _announce(self, slot: cython.longlong, transit: Transit) -> cython.int:
        path: FabricPath = transit.path
        path.delivered += 1
        path.destination.incoming.append(transit.skb)
        transit.skb = None
        transit.next_free = self.free
        self.free = slot
        self.in_flight -= 1
        path.destination.frames_added()
        return 0
