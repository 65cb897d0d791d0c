"""What may be queued below TCP (net/ipv4/tcp_output.c, tcp.c, tcp_input.c of Linux 5.4 to 6.18)."""

from dataclasses import replace

import pytest

from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.small_queue import SmallQueue

MSS = 1448
GSO = 65536
MB = 1 << 20


def queue(
    version: str = "5.4", *, held: int = 0, paced: tuple[int, int] | None = None
) -> SmallQueue:
    """A queue of which the device holds so much; `paced`: window and round trip, us."""
    made = SmallQueue(sender_rules(version), 100)
    made.wmem_alloc = held
    if paced is not None:
        made.update_pacing(MSS, paced[0], 8 * paced[1], starting=False)
    return made


class TestPacing:
    @pytest.mark.parametrize(("starting", "ratio"), [(True, 200), (False, 120)])
    @pytest.mark.parametrize(("segments", "srtt"), [(10, 400), (213, 1_234), (4000, 800_003)])
    def test_windows_a_round_trip_and_some(
        self, *, starting: bool, ratio: int, segments: int, srtt: int
    ) -> None:
        made = queue()
        made.update_pacing(MSS, segments, srtt, starting=starting)
        # bytes a second are 100 times as many as those of 10 ms; srtt is eight round trips
        a_second = MSS * (10_000 << 3) * ratio * segments // srtt
        assert made.pacing == a_second >> 10

    def test_before_the_first_round_trip_was_measured_it_is_not_divided(self) -> None:
        made = queue()
        made.update_pacing(MSS, 10, 0, starting=True)
        assert made.pacing == MSS * 80_000 * 200 * 10 >> 10


class TestLargeSegments:
    def test_no_pacing_no_limit(self) -> None:
        assert queue().goal_bytes(MSS, -1) == GSO

    def test_a_slow_connection_has_short_ones(self) -> None:
        # 10 segments in 20 ms: 0.85 a millisecond, and two at least; 200 in 10 ms: 23
        assert queue(paced=(10, 20_000)).goal_bytes(MSS, 20_000) == 2 * MSS
        assert queue(paced=(200, 10_000)).goal_bytes(MSS, 10_000) == 33_937

    @pytest.mark.parametrize(
        ("rtt_us", "more"), [(511, GSO), (512, GSO // 2), (5120, 64), (20_000, 0), (-1, 0)]
    )
    def test_from_5_18_near_hosts_get_longer_ones(self, rtt_us: int, more: int) -> None:
        paced = (10, 5000)
        slow = queue("5.17", paced=paced).goal_bytes(MSS, rtt_us)
        near = queue("5.18", paced=paced).goal_bytes(MSS, rtt_us)
        assert slow == 3393
        assert near == min(slow + more, GSO)


class TestLimit:
    @pytest.mark.parametrize("version", ["5.4", "6.16"])
    def test_one_millisecond_or_two_segments_or_the_sysctl(self, version: str) -> None:
        most = {"5.4": MB, "6.16": 4 * MB}[version]
        slow, fast = (10, 20_000), (10_000, 100)
        for paced, truesize, limit in ((slow, 3000, 6000), (fast, 3000, most), (fast, most, most)):
            full = queue(version, held=limit + 1, paced=paced)
            assert full.throttles(truesize, 9)
            assert full.throttled
            free = queue(version, held=limit, paced=paced)
            assert not free.throttles(truesize, 9)
            assert not free.throttled

    def test_what_is_about_to_be_given_counts(self) -> None:
        made = queue(held=MB)
        made.staged = 1
        assert made.throttles(3000, 9)

    @pytest.mark.parametrize(("version", "passing"), [("5.4", {0}), ("6.7", {0, 1})])
    def test_with_nothing_else_out_it_goes(self, version: str, passing: set[int]) -> None:
        full = queue(version, held=5 * MB)
        assert {out for out in range(4) if not full.throttles(3000, out)} == passing


class TestAutocorking:
    def test_while_the_device_holds_more(self) -> None:
        made = queue(held=3001)
        made.pushing = True
        assert made.corks(3000)
        assert (made.throttled, made.corked) == (True, 1)

    def test_no_more_than_itself_may_be_an_acknowledgement(self) -> None:
        made = queue(held=3000)
        made.pushing = True
        assert not made.corks(3000)
        assert (made.throttled, made.corked) == (False, 0)

    def test_only_at_the_end_of_a_send(self) -> None:
        assert not queue(held=10_000).corks(3000)


class TestSysctls:
    @pytest.mark.parametrize("ratio", [1, 100, 1000])
    @pytest.mark.parametrize("starting", [True, False])
    def test_the_pacing_rate_is_a_share_of_a_window_each_round_trip(
        self, *, ratio: int, starting: bool
    ) -> None:
        ss, ca = (ratio, 7) if starting else (7, ratio)
        rules = replace(sender_rules("5.4"), pacing_ss_ratio=ss, pacing_ca_ratio=ca)
        made = SmallQueue(rules, 0)
        made.update_pacing(MSS, 50, 8 * 1000, starting=starting)
        assert made.pacing == MSS * 50 * 1000 * ratio // 100 >> 10

    @pytest.mark.parametrize("segments", [1, 2, 10])
    def test_a_slow_connection_s_large_segments_have_at_least_so_many(self, segments: int) -> None:
        made = SmallQueue(replace(sender_rules("5.4"), min_tso_segs=segments), 0)
        made.update_pacing(MSS, 1, 8 * 10**6, starting=False)
        assert made.goal_bytes(MSS, 10**6) == segments * MSS

    def test_without_autocorking_nothing_waits_at_the_end_of_a_send(self) -> None:
        made = SmallQueue(replace(sender_rules("5.4"), autocorking=False), 0)
        made.pushing, made.wmem_alloc = True, MB
        assert not made.corks(3000)
        assert not made.throttled


class TestPacedSegments:
    RATE = 10 * MSS * 1000 * 120 // 100

    def paced(self) -> SmallQueue:
        made = queue(paced=(10, 1000))
        made.paces = True
        assert made.rate == self.RATE
        return made

    def test_the_next_large_one_leaves_when_this_one_s_time_has_passed(self) -> None:
        made = self.paced()
        times = [
            made.departs(MSS, 0, begins=begins, segments=99) for begins in (True, False, True, True)
        ]
        length_ps = MSS * 10**12 // self.RATE
        assert times[:2] == [0, 0]
        assert abs(times[2] - 2 * length_ps) <= 1
        assert abs(times[3] - 3 * length_ps) <= 2

    def test_the_first_ten_segments_are_not_paced(self) -> None:
        made = self.paced()
        assert [made.departs(MSS, 0, begins=True, segments=number) for number in range(10)] == [
            0
        ] * 10

    def test_a_late_one_makes_up_for_half_of_its_time_at_most(self) -> None:
        made, late = self.paced(), 10**9
        length_ps = MSS * 10**12 // self.RATE
        assert made.departs(MSS, late, begins=True, segments=99) == late
        assert (
            made.departs(MSS, late, begins=True, segments=99) == late + length_ps - length_ps // 2
        )

    def test_the_rate_alone_bounds_what_is_queued(self) -> None:
        made = queue(held=2 * MB, paced=(100_000, 10))
        assert made.throttles(3000, 9)
        made.paces = True
        assert not made.throttles(3000, 9)
