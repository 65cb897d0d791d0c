"""Flows that share links: rates against every frame, fairness, pause, failures, conservation."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, FlowLink, Message, MessageReceiver, new_message
from simnet.net.fluid.flow_fabric import FlowFabric
from tests.net.fluid.packets import FRAME, PAYLOAD, PacketNetwork

US = 10**6
MS = 10**9
S = 10**12
MIB = 1 << 20
RATE = 40 * 10**9
GOODPUT = RATE * PAYLOAD // (8 * FRAME)
FRAME_PS = 8 * FRAME * S // RATE
DELAY_PS = 10 * US
ACK_PS = 20 * US
ROUND_TRIP_PS = 2 * FRAME_PS + DELAY_PS + ACK_PS
Ways = list[tuple[int, int]]


class Sink(MessageReceiver):
    """Notes when messages come."""

    def __init__(self, sim: Simulator, path: str = "sink") -> None:
        super().__init__(sim, path)
        self.got: list[tuple[int, Any]] = []

    def message_arrived(self, message: Message) -> int:
        self.got.append((self.sim.now, message.tag))
        return 0


class Network:
    """Ports of one rate, flows between them, as `PacketNetwork`."""

    def __init__(
        self, ways: Ways, *, window: int = MIB, xoff: int | None = None, small: int = 0
    ) -> None:
        self.sim = Simulator()
        self.sink = Sink(self.sim)
        self.fabric = FlowFabric(
            self.sim, "flows", 1, small_bytes=small, pause=xoff is not None, xoff_bytes=xoff or 0
        )
        self.sources: dict[int, FlowLink] = {}
        self.targets: dict[int, FlowLink] = {}
        self.flows: list[Flow] = []
        for source, target in ways:
            for links, number, name in (
                (self.sources, source, "source"),
                (self.targets, target, "target"),
            ):
                if number not in links:
                    links[number] = FlowLink(f"{name}{number}", GOODPUT)
            flow = self.fabric.connect(
                0, window_bytes=window, round_trip_ps=ROUND_TRIP_PS, latency_ps=DELAY_PS + FRAME_PS
            )
            self.fabric.route(flow, [self.sources[source], self.targets[target]], 1)
            self.flows.append(flow)

    def send(self, flow: int, size: int, tag: Any = None) -> None:
        self.fabric.send(self.flows[flow], new_message(size, self.sink, 0, tag))


def rates(ways: Ways, *, window: int = MIB, xoff: int | None = None) -> list[float]:
    """Share of a port's goodput that each flow has when all send without end."""
    network = Network(ways, window=window, xoff=xoff)
    for flow in range(len(ways)):
        network.send(flow, 16 * MIB)
    network.sim.run_until(1)
    return [flow.rate_bytes_s / GOODPUT for flow in network.flows]


def packet_rates(ways: Ways, *, window: int = MIB, xoff: int | None = None) -> list[float]:
    """The same, every frame simulated, after the queues have filled."""
    sim = Simulator()
    packets = PacketNetwork(
        sim,
        ways,
        rate_bps=RATE,
        window_bytes=window,
        delay_ps=DELAY_PS,
        ack_ps=ACK_PS,
        xoff_bytes=xoff,
    )
    for flow in range(len(ways)):
        packets.send(flow, 64 * MIB)
    sim.run_until(MS)
    before = list(packets.delivered)
    sim.run_until(3 * MS)
    return [
        (after - first) / (GOODPUT * 2 // 1000)
        for first, after in zip(before, packets.delivered, strict=True)
    ]


class TestAgainstEveryFrame:
    @pytest.mark.parametrize(
        "ways",
        [
            [(0, 0), (1, 0)],
            [(0, 0), (0, 1), (1, 0), (1, 1)],
            [(0, 0), (0, 1), (1, 0), (2, 0)],
            [(0, 0), (0, 1), (0, 2), (1, 2)],
        ],
    )
    def test_shares_are_those_of_frames(self, ways: Ways) -> None:
        assert rates(ways) == pytest.approx(packet_rates(ways), abs=0.03)

    def test_a_window_bounds_a_flow(self) -> None:
        window = 7 * PAYLOAD
        expected = window * S / ROUND_TRIP_PS / GOODPUT
        assert rates([(0, 0)], window=window) == pytest.approx([expected], rel=0.001)
        assert packet_rates([(0, 0)], window=window) == pytest.approx([expected], rel=0.02)

    def test_pause_holds_back_what_is_for_others(self) -> None:
        ways = [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]
        free, held = rates(ways), rates(ways, xoff=256 * 1024)
        assert free == pytest.approx([1 / 4, 3 / 4, 1 / 4, 1 / 4, 1 / 4], abs=0.001)
        assert held == pytest.approx([1 / 4] * 5, abs=0.001)
        assert packet_rates(ways) == pytest.approx(free, abs=0.03)
        # off and on at two fill levels, a paused sender loses a little more
        assert packet_rates(ways, xoff=256 * 1024) == pytest.approx(held, abs=0.04)

    def test_a_window_that_fits_into_the_switch_is_not_paused(self) -> None:
        ways = [(0, 0), (0, 1), (1, 0), (2, 0)]
        assert rates(ways, xoff=2 * MIB) == pytest.approx(rates(ways))
        assert packet_rates(ways, xoff=2 * MIB) == pytest.approx(rates(ways), abs=0.03)

    def test_a_message_ends_when_its_last_frame_does(self) -> None:
        network = Network([(0, 0), (1, 0)])
        network.send(0, 16 * MIB)
        network.send(1, 4 * MIB)
        network.sim.run_until(S)
        sim = Simulator()
        packets = PacketNetwork(
            sim,
            [(0, 0), (1, 0)],
            rate_bps=RATE,
            window_bytes=MIB,
            delay_ps=DELAY_PS,
            ack_ps=ACK_PS,
            xoff_bytes=None,
        )
        packets.send(0, 16 * MIB)
        packets.send(1, 4 * MIB)
        sim.run_until(S)
        ends = sorted(time for time, _ in network.sink.got)
        assert ends == pytest.approx(sorted(packets.last_ps), rel=0.02)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6),
    st.sampled_from([None, 100_000]),
)
def test_shares_are_max_min_fair_and_fill_no_link_beyond_its_rate(
    ways: Ways, xoff: int | None
) -> None:
    share = rates(ways, xoff=xoff)
    limit = MIB * S / ROUND_TRIP_PS / GOODPUT
    for end in (0, 1):
        for port in {way[end] for way in ways}:
            assert sum(s for s, w in zip(share, ways, strict=True) if w[end] == port) < 1.0001
    if xoff is not None:
        return
    for flow, (source, target) in enumerate(ways):
        # what keeps a flow from more is a link that is full of flows that are no faster
        held = False
        for end, port in ((0, source), (1, target)):
            here = [s for s, w in zip(share, ways, strict=True) if w[end] == port]
            held |= sum(here) > 0.999 and share[flow] > max(here) - 0.001
        assert held or share[flow] > limit - 0.001


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 3 * MIB), st.integers(0, 2 * MS)), max_size=20
    ),
)
def test_every_message_comes_once_and_in_order(sends: list[tuple[int, int, int]]) -> None:
    network = Network([(0, 0), (0, 1), (1, 0), (1, 1)], small=1000)
    sim, fabric = network.sim, network.fabric
    for number, (flow, size, at_ps) in sorted(enumerate(sends), key=lambda pair: pair[1][2]):
        sim.run_until(at_ps)
        network.send(flow, size, (flow, number))
    sim.run_until(100 * S)
    for flow in range(4):
        sent = sorted((s[2], n) for n, s in enumerate(sends) if s[0] == flow)
        assert [tag[1] for _, tag in network.sink.got if tag[0] == flow] == [n for _, n in sent]
    assert fabric.counters()["bytes"] == sum(size for _, size, _ in sends)
    carried = sum(link.bytes for link in network.sources.values())
    assert carried == fabric.counters()["bytes"]


def test_a_small_message_overtakes_nothing() -> None:
    network = Network([(0, 0)], small=512)
    network.send(0, 512, "alone")
    network.sim.run_until(100 * US)
    network.send(0, 4 * MIB, "long")
    network.send(0, 512, "behind")
    network.sim.run_until(S)
    assert [tag for _, tag in network.sink.got] == ["alone", "long", "behind"]
    assert (network.flows[0].messages, network.flows[0].bytes) == (3, 4 * MIB + 2 * 512)
    assert network.sink.got[0][0] == network.flows[0].latency_ps


def test_a_link_tells_when_it_was_busy_and_when_full() -> None:
    network = Network([(0, 0), (1, 0)], window=128 * 1024)
    network.send(0, 4 * MIB)
    network.sim.run_until(S)
    network.send(0, 4 * MIB)
    network.send(1, 4 * MIB)
    network.sim.run_until(2 * S)
    link = network.targets[0]
    limit = 128 * 1024 * S // ROUND_TRIP_PS
    link.account(network.sim.now)
    assert link.bytes == 12 * MIB
    assert link.saturated_ps == pytest.approx(8 * MIB * S // GOODPUT, rel=0.001)
    assert link.busy_ps == pytest.approx(link.saturated_ps + 4 * MIB * S // limit, rel=0.001)


def test_a_message_that_is_too_long_is_refused() -> None:
    network = Network([(0, 0)])
    with pytest.raises(ValueError, match="a message of 0 bytes"):
        network.send(0, 0)
    with pytest.raises(ValueError, match="a message of 67108865 bytes"):
        network.send(0, 64 * MIB + 1)
