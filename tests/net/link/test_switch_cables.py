"""Ports of a switch with cables of some length: times, and how a device is told."""

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.link.switch import Egress
from tests.host.parts import MS, US
from tests.net.link.star import FRAME_PS, Receiver, Star
from tests.net.parts import Far, Sink, frame


class TestCables:
    """Times on cables of some length; how a device is told."""

    def build(self, *, per_frame: bool) -> tuple[Egress, Far, Sink]:
        sim = Simulator()
        far = Receiver(sim)
        egress = Egress(
            sim,
            "egress",
            far,
            rate_bps=10**9,
            propagation_ps=50_000,
            buffer_bytes=2 * 1538,
            per_frame=per_frame,
        )
        return egress, far, Sink(sim)

    @pytest.mark.parametrize("per_frame", [False, True])
    def test_a_frame_comes_after_its_length_and_the_cable(self, *, per_frame: bool) -> None:
        egress, far, sink = self.build(per_frame=per_frame)
        assert egress.counters() == {"offered": 0, "frames": 0, "dropped": 0, "lost": 0}
        assert (egress.bytes, egress.up) == (0, True)
        for seq in range(3):
            egress.forward(frame(sink, seq, wire_bytes=1538))
        egress.sim.run_until(FRAME_PS + 50_000 - 1)
        assert far.incoming.count == (0 if per_frame else 2)
        egress.sim.run_until(FRAME_PS + 50_000)
        assert far.incoming.count == (1 if per_frame else 2)
        egress.sim.run_until(MS)
        times = [far.incoming.pop().arrival_ps for _ in range(2)]
        assert times == [FRAME_PS + 50_000, 2 * FRAME_PS + 50_000]
        assert egress.counters() == {"offered": 3, "frames": 2, "dropped": 1, "lost": 0}

    @pytest.mark.parametrize("per_frame", [False, True])
    def test_what_is_on_the_cable_when_it_is_pulled_is_lost(self, *, per_frame: bool) -> None:
        egress, far, sink = self.build(per_frame=per_frame)
        for seq in range(2):
            egress.forward(frame(sink, seq, wire_bytes=1538))
        egress.sim.run_until(FRAME_PS + 50_000)
        egress.set_link(up=False)
        assert (egress.lost, far.incoming.count) == (1, 1)
        egress.forward(frame(sink, 2))
        assert (egress.lost, egress.offered) == (2, 3)
        egress.sim.run_until(MS)
        assert far.incoming.count == 1

    @pytest.mark.parametrize("per_frame", [False, True])
    def test_a_device_hears_of_each_frame(self, *, per_frame: bool) -> None:
        told = []

        class Device(Receiver):
            def frames_added(self) -> int:
                told.append((self.sim.now, self.incoming.count))
                return 0

        sim = Simulator()
        egress = Egress(
            sim,
            "egress",
            Device(sim),
            rate_bps=10**9,
            propagation_ps=0,
            buffer_bytes=10**6,
            per_frame=per_frame,
        )
        sink = Sink(sim)
        for seq in range(2):
            egress.forward(frame(sink, seq, wire_bytes=125))
        sim.run_until(MS)
        assert told == ([(US, 1), (2 * US, 2)] if per_frame else [(0, 1), (0, 2)])

    def test_a_device_s_frames_are_in_the_switch_after_cable_and_latency(self) -> None:
        star = Star(1)
        source = star.sources[0]
        assert source.counters() == {"frames": 0, "lost": 0, "flooded": 0}
        assert (source.in_flight, source.up) == (0, True)
        star.send(0, 0, 10 * US)
        source.flush()
        star.sim.run_until(11 * US - 1)
        assert (source.in_flight, star.egress.offered) == (1, 0)
        star.sim.run_until(11 * US)
        assert (source.in_flight, star.egress.offered) == (0, 1)

    def test_a_frame_with_a_header_keeps_it(self) -> None:
        star = Star(2)
        own = Header(Station(7), star.station)
        skb = frame(star.sink)
        skb.header = own
        star.sources[0].send(skb, 10 * US)
        bare = frame(star.sink, 1)
        star.sources[0].send(bare, 11 * US)
        assert skb.header is own
        assert bare.header is star.sources[0].header
        star.sim.run_until(MS)
        assert own.source.outlet is star.sources[0].learns
