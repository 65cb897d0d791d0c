"""Rates, amounts and times of flows, worked out by hand."""

from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, FlowLink, Message, MessageReceiver, new_message, rate_units
from simnet.net.fluid.flow_fabric import FlowFabric

US, MS = 10**6, 10**9
MB = 10**6  # a byte a microsecond, if it is a rate
# windows that bound nothing
WIDE = 1 << 30


class Sink(MessageReceiver):
    """Notes when which message comes."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "sink")
        self.got: list[tuple[int, Any]] = []

    def message_arrived(self, message: Message) -> int:
        self.got.append((self.sim.now, message.tag))
        return 0


class Net:
    """Links of 100 bytes a microsecond, and flows over them."""

    def __init__(
        self, links: int = 2, *, groups: int = 1, xoff: int | None = None, small: int = 0
    ) -> None:
        self.sim = Simulator()
        self.sink = Sink(self.sim)
        self.fabric = FlowFabric(
            self.sim,
            "flows",
            groups,
            small_bytes=small,
            pause=xoff is not None,
            xoff_bytes=xoff or 0,
        )
        self.links = [FlowLink(f"link{number}", 100 * MB) for number in range(links)]

    def flow(
        self,
        *ways: int,
        window: int = WIDE,
        trip_ps: int = MS,
        latency_ps: int = 0,
        most: int = 0,
        group: int = 0,
    ) -> Flow:
        flow = self.fabric.connect(
            group,
            window_bytes=window,
            round_trip_ps=trip_ps,
            latency_ps=latency_ps,
            most_bytes_s=most,
        )
        self.fabric.route(flow, [self.links[way] for way in ways], 1)
        return flow

    def send(self, flow: Flow, size: int, tag: Any = None) -> None:
        self.fabric.send(flow, new_message(size, self.sink, 7, tag))

    def rates(self) -> list[float]:
        """Of all flows, in bytes a microsecond."""
        return [flow.rate / 65536 for flow in self.fabric.flows]


class TestUnits:
    @pytest.mark.parametrize(
        ("bytes_s", "units"),
        [(0, 0), (15, 0), (16, 1), (30, 1), (31, 2), (MB, 65536), (5 * 10**9, 5000 * 65536)],
    )
    def test_a_rate(self, bytes_s: int, units: int) -> None:
        assert rate_units(bytes_s) == units

    def test_a_message_has_what_its_sender_gave_it(self) -> None:
        sink = Sink(Simulator())
        message = new_message(5, sink, 7, "tag")
        assert (message.size_bytes, message.receiver, message.kind) == (5, sink, 7)
        assert message.tag == "tag"
        assert message.next is None

    @pytest.mark.parametrize(
        ("window", "trip_ps", "most", "rate"),
        [
            (1000, MS, 0, 1.0),
            (1000, MS, 2 * MB, 1.0),
            (1000, MS, MB // 2, 0.5),
            (1, 0, 0, 100.0),
            (1, 1, 0, 100.0),
            (WIDE, MS, 0, 100.0),
        ],
    )
    def test_window_ends_and_links_bound_a_flow(
        self, window: int, trip_ps: int, most: int, rate: float
    ) -> None:
        net = Net()
        flow = net.flow(0, 1, window=window, trip_ps=trip_ps, most=most)
        assert flow.rate == flow.rate_bytes_s == 0
        net.send(flow, 10**6)
        assert net.rates() == [rate]
        assert flow.rate_bytes_s == rate * MB


class TestTimes:
    @pytest.mark.parametrize(
        ("size", "most", "through_ps"),
        [
            (1000, MB, 1000 * US),
            (1, 3 * MB, 333_334),
            (2, 3 * MB, 666_667),
            (3, 3 * MB, US),
            (100, 0, US),
        ],
    )
    def test_a_message_is_through_when_its_last_byte_is(
        self, size: int, most: int, through_ps: int
    ) -> None:
        net = Net()
        flow = net.flow(0, 1, most=most, latency_ps=5 * US)
        net.send(flow, size, "it")
        assert net.sim.pending == 1
        net.sim.run_until(MS * 10)
        assert net.sink.got == [(through_ps + 5 * US, "it")]
        assert (flow.messages, flow.bytes) == (1, size)
        assert [link.bytes for link in net.links] == [size, size]
        assert net.rates() == [0.0]
        # through, and there
        assert net.sim.events == 2

    def test_messages_of_a_flow_follow_each_other(self) -> None:
        net = Net()
        flow = net.flow(0, 1, latency_ps=US)
        for tag, size in enumerate((1000, 100, 1, 2000)):
            net.send(flow, size, tag)
        net.sim.run_until(MS)
        times = [10 * US, 11 * US, 11 * US + 10_000, 31 * US + 10_000]
        assert net.sink.got == [(at + US, tag) for tag, at in enumerate(times)]
        assert net.fabric.shares == 2

    def test_another_flow_takes_half_from_when_it_starts_to_when_it_ends(self) -> None:
        net = Net(3)
        first, second = net.flow(0, 2), net.flow(1, 2)
        net.send(first, 3000, "first")
        net.sim.run_until(10 * US + 500_000)
        # 1050 bytes are through
        net.send(second, 100, "second")
        assert net.rates() == [50.0, 50.0]
        net.sim.run_until(MS)
        # 2 us for the second; 1950 - 100 bytes are left at 12.5 us
        assert net.sink.got == [(12_500_000, "second"), (31 * US, "first")]
        assert net.fabric.counters() == {
            "messages": 2,
            "bytes": 3100,
            "shares": 4,
            "paused": 0,
        }
        # each is through, each is there; the first's time was put off and brought back
        assert net.sim.events == 4

    def test_fractions_of_a_microsecond_count(self) -> None:
        net = Net(3)
        first, second = net.flow(0, 2, most=3 * MB), net.flow(1, 2, most=98 * MB)
        net.send(first, 6, "first")
        net.sim.run_until(333_334)
        # one byte is through; together they want a byte more than there is
        net.send(second, 98)
        assert net.rates() == [3.0, 97.0]
        net.sim.run_until(MS)
        assert net.sink.got[1] == (2 * US, "first")

    def test_directions_do_not_share(self) -> None:
        net = Net(2, groups=2)
        there, back = net.flow(0, group=0), net.flow(1, group=1)
        net.send(there, 1000)
        assert net.fabric.shares == 1
        net.send(back, 1000)
        assert net.rates() == [100.0, 100.0]
        assert net.fabric.shares == 2

    def test_a_small_message_alone_is_there_after_the_latency(self) -> None:
        net = Net(small=512)
        flow = net.flow(0, 1, latency_ps=3 * US)
        net.send(flow, 512, "small")
        net.send(flow, 512, "too")
        assert net.rates() == [0.0]
        net.send(flow, 513, "large")
        assert net.rates() == [100.0]
        net.send(flow, 1, "behind")
        net.sim.run_until(MS)
        assert net.sink.got == [
            (3 * US, "small"),
            (3 * US, "too"),
            (3 * US + 5_130_000, "large"),
            (3 * US + 5_140_000, "behind"),
        ]
        assert [link.bytes for link in net.links] == [2 * 512 + 514] * 2

    def test_the_longest_message(self) -> None:
        net = Net()
        flow = net.flow(0, 1)
        net.send(flow, 64 << 20)
        net.sim.run_until(10**12)
        assert net.sink.got == [((64 << 20) * US // 100, None)]


class TestLinks:
    def test_busy_with_a_flow_and_saturated_when_nearly_full(self) -> None:
        # 256 bytes a microsecond, of which one is left, or a hair less
        for most, saturated in ((255 * MB, 0), (255 * MB + 16, 10 * US)):
            net = Net(0)
            link = FlowLink("link", 256 * MB)
            net.links.append(link)
            assert (link.busy_ps, link.saturated_ps, link.active, link.bytes) == (0, 0, 0, 0)
            flow = net.flow(0, most=most)
            net.sim.run_until(5 * US)
            net.send(flow, 5000)
            assert link.active == 1
            net.sim.run_until(15 * US)
            link.account(net.sim.now)
            assert (link.busy_ps, link.saturated_ps) == (10 * US, saturated)
            net.sim.run_until(MS)
            link.account(net.sim.now)
            assert link.active == 0
            assert link.busy_ps - 5000 * US // 255 < US

    def test_two_flows_on_a_link_are_busy_once(self) -> None:
        net = Net(1)
        for flow in (net.flow(0), net.flow(0)):
            net.send(flow, 1000)
        assert net.links[0].active == 2
        net.sim.run_until(MS)
        link = net.links[0]
        assert (link.busy_ps, link.saturated_ps, link.active) == (20 * US, 20 * US, 0)

    def test_a_flow_that_is_led_elsewhere_goes_on_there(self) -> None:
        net = Net(3)
        flow = net.flow(0, 1)
        net.send(flow, 3000, "it")
        net.sim.run_until(10 * US)
        net.fabric.route(flow, [net.links[0], net.links[2]], 1)
        assert [link.active for link in net.links] == [1, 0, 1]
        net.sim.run_until(MS)
        assert net.sink.got == [(30 * US, "it")]
        assert [link.busy_ps for link in net.links] == [30 * US, 10 * US, 20 * US]
        assert [link.active for link in net.links] == [0, 0, 0]
        # a message counts where its last byte went
        assert [link.bytes for link in net.links] == [3000, 0, 3000]

    def test_the_same_flows_have_other_rates_when_one_of_them_is_led_elsewhere(self) -> None:
        net = Net(4)
        first, second = net.flow(0, 2), net.flow(1, 2)
        for rates in ([50.0, 50.0], [50.0, 50.0], [100.0, 100.0]):
            net.send(first, 1000)
            net.send(second, 1000)
            assert net.rates() == rates
            net.sim.run_until(net.sim.now + MS)
            assert net.rates() == [0.0, 0.0]
            if net.sim.now == 2 * MS:
                net.fabric.route(second, [net.links[1], net.links[3]], 1)

    def test_the_same_flows_have_other_rates_when_there_is_one_more(self) -> None:
        net = Net(1)
        first = net.flow(0)
        net.send(first, 1000)
        assert net.rates() == [100.0]
        second = net.flow(0)
        net.send(second, 1000)
        assert net.rates() == [50.0, 50.0]
        net.sim.run_until(MS)
        assert net.links[0].saturated_ps == 20 * US

    def test_more_flows_than_a_word_has_bits(self) -> None:
        net = Net(1)
        flows = [net.flow(0) for _ in range(70)]
        for flow in flows[-2:]:
            net.send(flow, 1000)
        assert net.rates() == [0.0] * 68 + [50.0] * 2
        net.send(flows[0], 1000)
        assert net.rates()[0] == pytest.approx(100 / 3, rel=1e-4)

    def test_a_flow_that_has_nothing_to_send_is_led_without_starting(self) -> None:
        net = Net(3)
        flow = net.flow(0, 1)
        net.fabric.route(flow, [net.links[2]], 1)
        assert [link.active for link in net.links] == [0, 0, 0]
        assert net.fabric.shares == 0
        net.send(flow, 100)
        assert [link.active for link in net.links] == [0, 0, 1]


class TestPause:
    """Three senders to port 4; the first sends to port 5, too."""

    def build(self, xoff: int | None, *, window: int = 80_000, trip_ps: int = MS) -> Net:
        net = Net(6, xoff=xoff)
        for source, target in ((0, 4), (1, 4), (2, 4), (3, 4), (0, 5)):
            net.send(net.flow(source, target, window=window, trip_ps=trip_ps), 10**7)
        return net

    def test_without_it_the_port_gives_what_is_left_to_the_other(self) -> None:
        assert self.build(None).rates() == [25.0, 25.0, 25.0, 25.0, 75.0]

    @pytest.mark.parametrize(
        ("xoff", "other"), [(55_000, 75.0), (54_999, 25.0), (0, 25.0), (10**6, 75.0)]
    )
    def test_what_of_the_window_is_not_in_flight_fills_the_switch(
        self, xoff: int, other: float
    ) -> None:
        # 25 bytes a microsecond for a millisecond are in flight, 55000 wait
        net = self.build(xoff)
        assert net.rates() == [25.0, 25.0, 25.0, 25.0, other]
        assert net.fabric.counters()["paused"] == (1 if other == 25.0 else 0)

    def test_a_window_that_is_in_flight_fills_nothing(self) -> None:
        # 25000 bytes and no more
        net = self.build(0, window=25_000)
        assert net.rates() == [25.0] * 5
        net = self.build(0, window=25_001)
        assert net.fabric.counters()["paused"] > 0

    def test_a_sender_whose_own_port_is_full_is_not_paused(self) -> None:
        net = Net(3, xoff=0)
        for target in (1, 2):
            net.send(net.flow(0, target), 10**6)
        assert net.rates() == [50.0, 50.0]
        assert net.fabric.counters()["paused"] == 0
