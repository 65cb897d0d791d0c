"""The switch where frames of several ports meet at one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.link.switch import LOAD_BALANCE, Egress, PortChannel
from tests.host.parts import MS, US
from tests.net.link.star import FRAME_PS, Receiver, Star
from tests.net.parts import Sink, frame


class TestEgress:
    def test_frames_of_two_sources_leave_in_the_order_of_their_entry(self) -> None:
        star = Star(2)
        star.send(0, 0, 10 * US)
        star.send(0, 1, 60 * US)
        star.send(1, 2, 20 * US)
        star.sim.run_until(MS)
        assert [seq for _, seq in star.arrived()] == [0, 2, 1]

    def test_a_frame_waits_for_the_one_before(self) -> None:
        star = Star(2)
        star.send(0, 0, 10 * US)
        star.send(1, 1, 10 * US)
        star.sim.run_until(MS)
        assert star.arrived() == [(11 * US + FRAME_PS, 0), (11 * US + 2 * FRAME_PS, 1)]

    def test_what_does_not_fit_is_dropped_at_the_tail(self) -> None:
        # one on its way out, two waiting, the fourth does not fit
        star = Star(5, buffer_bytes=3 * 1538)
        for source in range(5):
            star.send(source, source, 10 * US)
        star.sim.run_until(MS)
        assert [seq for _, seq in star.arrived()] == [0, 1, 2]
        assert star.egress.counters() == {"offered": 5, "frames": 3, "dropped": 2, "lost": 0}

    def test_room_comes_back_as_bits_leave(self) -> None:
        star = Star(3, buffer_bytes=2 * 1538)
        for source in range(2):
            star.send(source, source, 10 * US)
        star.send(2, 2, 10 * US + FRAME_PS)
        star.sim.run_until(MS)
        assert [seq for _, seq in star.arrived()] == [0, 1, 2]

    def test_a_short_frame_may_fit_where_a_long_one_does_not(self) -> None:
        star = Star(3, buffer_bytes=2 * 1538)
        star.send(0, 0, 10 * US)
        star.send(1, 1, 10 * US, wire_bytes=1400)
        star.send(2, 2, 10 * US, wire_bytes=84)
        star.sim.run_until(MS)
        assert [seq for _, seq in star.arrived()] == [0, 1, 2]

    @pytest.mark.parametrize("per_frame", [False, True])
    def test_a_pulled_cable_loses_what_waits(self, per_frame: bool) -> None:  # noqa: FBT001
        star = Star(4, per_frame=per_frame)
        for source in range(4):
            star.send(source, source, 10 * US)
        star.sim.run_until(11 * US + 2 * FRAME_PS)
        star.egress.set_link(up=False)
        star.send(0, 4, star.sim.now)
        star.sim.run_until(MS)
        assert [seq for _, seq in star.arrived()] == [0, 1]
        assert star.egress.lost == 3
        star.egress.set_link(up=True)
        star.send(0, 5, star.sim.now)
        star.sim.run_until(2 * MS)
        assert [seq for _, seq in star.arrived()] == [5]

    @pytest.mark.parametrize("per_frame", [False, True])
    def test_what_was_lost_keeps_nobody_waiting(self, per_frame: bool) -> None:  # noqa: FBT001
        star = Star(9, per_frame=per_frame)
        for source in range(8):
            star.send(source, source, 10 * US)
        star.sim.run_until(11 * US + 2 * FRAME_PS)
        star.egress.set_link(up=False)
        star.egress.set_link(up=True)
        star.arrived()
        begin = star.sim.now + US
        star.send(0, 8, begin)
        star.sim.run_until(MS)
        # a microsecond in the switch, and then at once
        assert star.arrived() == [(begin + US + FRAME_PS, 8)]

    def test_bytes_of_frames_that_were_sent_are_counted(self) -> None:
        star = Star(3, buffer_bytes=1538)
        star.send(0, 0, 10 * US, wire_bytes=100)
        star.send(1, 1, 20 * US, wire_bytes=1400)
        star.send(2, 2, 20 * US)
        star.sim.run_until(MS)
        assert (star.egress.frames, star.egress.bytes, star.egress.dropped) == (2, 1500, 1)


class TestIngress:
    def cut(self, before_ps: int, *, plugged_again: bool = False) -> Star:
        """One frame, whose cable is pulled that long before its last bit is in the switch."""
        star = Star(1)
        star.send(0, 0, 10 * US)
        star.sim.run_until(10 * US - before_ps)
        star.sources[0].set_link(up=False)
        if plugged_again:
            star.sources[0].set_link(up=True)
        star.sim.run_until(MS)
        return star

    @pytest.mark.parametrize(("before_ps", "lost"), [(1, 1), (0, 1), (-1, 0), (-500_000, 0)])
    def test_a_frame_is_lost_unless_its_last_bit_was_in(self, before_ps: int, lost: int) -> None:
        star = self.cut(before_ps)
        counters = {"frames": 1, "lost": lost, "flooded": 0}
        assert star.sources[0].counters() == counters
        assert star.egress.offered == 1 - lost
        # nobody is behind a port without a cable
        assert star.sources[0].header.source.outlet is None

    def test_a_cable_that_is_back_loses_nothing(self) -> None:
        star = self.cut(1, plugged_again=True)
        assert star.sources[0].counters() == {"frames": 1, "lost": 0, "flooded": 0}
        assert star.sources[0].header.source.outlet is star.sources[0].learns


FRAMES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 40_000), st.integers(84, 1538)), max_size=40
)


@given(FRAMES, st.integers(2_000, 20_000), st.integers(0, 600), st.integers(0, 600))
def test_every_frame_is_somewhere(
    frames: list[tuple[int, int, int]], buffer_bytes: int, cut_us: int, look_us: int
) -> None:
    """Sent = on the way in + waiting or delivered + dropped + lost, whenever one looks."""
    outcomes = []
    for per_frame in (False, True):
        star = Star(4, buffer_bytes=buffer_bytes, per_frame=per_frame)
        free_ps = [0] * 4
        for seq, (source, gap_ns, wire_bytes) in enumerate(frames):
            free_ps[source] += gap_ns * 1000 + wire_bytes * 8000
            star.send(source, seq, free_ps[source], wire_bytes)
        for time_us in sorted({cut_us, look_us, cut_us + look_us, 10_000}):
            star.sim.run_until(time_us * US + 3)
            if time_us == cut_us:
                star.egress.set_link(up=False)
            elif time_us == cut_us + look_us:
                star.egress.set_link(up=True)
            egress, on_the_way = star.egress, sum(s.in_flight for s in star.sources)
            assert len(frames) == on_the_way + egress.offered
            sent_and_lost = egress.offered - egress.dropped - egress.frames
            assert 0 <= sent_and_lost <= egress.lost
        arrived = star.arrived()
        assert len(arrived) == star.egress.offered - star.egress.dropped - star.egress.lost
        assert arrived == sorted(arrived)
        outcomes.append((arrived, star.egress.counters()))
    assert outcomes[0] == outcomes[1]


class TestLearning:
    def test_an_unknown_station_is_not_reached(self) -> None:
        star = Star(1)
        star.sources[0].header = Header(Station(100), Station(2))
        star.send(0, 0, 0)
        star.sim.run_until(MS)
        assert (star.sources[0].flooded, star.egress.offered) == (1, 0)

    def test_a_frame_teaches_where_its_sender_is(self) -> None:
        star = Star(2)
        moving = star.sources[0].header.source
        star.send(0, 0, 0)
        star.sim.run_until(MS)
        assert moving.outlet is star.sources[0].learns
        star.sources[1].header = Header(moving, star.station)
        star.send(1, 1, MS)
        star.sim.run_until(2 * MS)
        assert moving.outlet is star.sources[1].learns

    def test_a_frame_does_not_go_back_to_where_it_came_from(self) -> None:
        star = Star(1)
        station = star.sources[0].header.source
        star.sources[0].header = Header(station, station)
        star.send(0, 0, 0)
        star.sim.run_until(MS)
        assert station.outlet is not None
        assert star.sources[0].flooded == 0


def channel_of(members: int, method: str) -> tuple[PortChannel, list[Egress], Sink]:
    sim = Simulator()
    channel = PortChannel(sim, "channel", LOAD_BALANCE.index(method))
    ports = []
    for number in range(members):
        far = Receiver(sim, f"far{number}")
        port = Egress(
            sim,
            f"port{number}",
            far,
            rate_bps=10**9,
            propagation_ps=0,
            buffer_bytes=10**6,
            per_frame=False,
        )
        channel.join(port, number)
        ports.append(port)
    return channel, ports, Sink(sim)


class TestPortChannel:
    SOURCE, DESTINATION = 0x00096B00001D, 0x000D600000A3  # low bits 5 and 3
    SOURCE_IP, DESTINATION_IP = 0x0A00000C, 0x0A000001  # 4 and 1

    @pytest.mark.parametrize(
        ("method", "bucket"),
        [
            ("src-mac", 5),
            ("dst-mac", 3),
            ("src-dst-mac", 6),
            ("src-ip", 4),
            ("dst-ip", 1),
            ("src-dst-ip", 5),
        ],
    )
    def test_hash(self, method: str, bucket: int) -> None:
        channel, _, _ = channel_of(8, method)
        stations = (Station(self.SOURCE), Station(self.DESTINATION))
        header = Header(*stations, self.SOURCE_IP, self.DESTINATION_IP)
        assert channel.bucket(header) == bucket

    @pytest.mark.parametrize(
        ("members", "shares"),
        [(8, [1] * 8), (7, [2, 1, 1, 1, 1, 1, 1]), (3, [3, 3, 2]), (2, [4, 4])],
    )
    def test_eight_values_are_dealt_out(self, members: int, shares: list[int]) -> None:
        channel, ports, sink = channel_of(members, "src-mac")
        for mac in range(8):
            skb = frame(sink)
            skb.header = Header(Station(mac), Station(99))
            channel.forward(skb)
        assert [port.offered for port in ports] == shares

    def test_one_source_address_is_one_port_whatever_else_differs(self) -> None:
        channel, ports, sink = channel_of(8, "src-mac")
        for number in range(16):
            skb = frame(sink)
            skb.header = Header(Station(0x1A), Station(number), number, 2 * number, number, 5001)
            channel.forward(skb)
        assert [port.offered for port in ports] == [0, 0, 16, 0, 0, 0, 0, 0]

    def test_a_port_that_leaves_has_its_share_dealt_out_anew(self) -> None:
        channel, ports, sink = channel_of(4, "src-mac")
        channel.leave(ports[1])
        for mac in range(8):
            skb = frame(sink)
            skb.header = Header(Station(mac), Station(99))
            channel.forward(skb)
        assert [port.offered for port in ports] == [3, 0, 3, 2]
        channel.join(ports[1], 1)
        counts: Counter[int] = Counter()
        for mac in range(8):
            skb = frame(sink)
            skb.header = Header(Station(mac), Station(99))
            before = [port.offered for port in ports]
            channel.forward(skb)
            after = [port.offered for port in ports]
            counts[next(n for n in range(4) if after[n] > before[n])] += 1
        assert counts == {0: 2, 1: 2, 2: 2, 3: 2}

    def test_without_ports_every_frame_is_dropped(self) -> None:
        channel, ports, sink = channel_of(2, "src-mac")
        for port in ports:
            channel.leave(port)
        skb = frame(sink)
        skb.header = Header(Station(5), Station(99))
        for _ in range(3):
            channel.forward(skb)
        assert (channel.dropped, [port.offered for port in ports]) == (3, [0, 0])
        channel.join(ports[0], 0)
        channel.forward(skb)
        assert (channel.dropped, ports[0].offered) == (3, 1)
