"""Vectors of ice and i40e: one interrupt for both rings, throttled by cause and limited."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.nic.intel.i40e import I40e
from simnet.net.nic.intel.ice import Ice, profiles
from tests.host.parts import US, Agenda
from tests.net.nic.connectx import CROWDS, Bench, Crowd

FIXED: dict[str, Any] = {
    "tso": False,
    "rx_itr_ps": 50 * US,
    "tx_itr_ps": 50 * US,
    "intrl_ps": 0,
    "adaptive_rx": False,
    "adaptive_tx": False,
}


class I40eBench(Bench):
    chip = I40e
    defaults = FIXED


class IceBench(Bench):
    chip = Ice
    defaults = FIXED | {"profiles": profiles("6.6"), "command_ps": 10 * US}


BENCHES = pytest.mark.parametrize("bench", [I40eBench, IceBench])


@BENCHES
class TestThrottle:
    def test_a_frame_after_a_pause_interrupts_at_once(self, bench: type[Bench]) -> None:
        made = bench()
        made.feed(100, 1000)
        made.run(2000)
        assert made.asserted_us == [100, 1000]

    def test_frames_wait_until_the_throttle_allows_one_more(self, bench: type[Bench]) -> None:
        made = bench()
        made.feed(100, 110, 120, 149, 170)
        made.run(2000)
        assert made.asserted_us == [100, 150, 200]
        assert made.delivered == [0, 1, 2, 3, 4]

    def test_without_a_throttle_each_poll_is_followed_by_an_interrupt(
        self, bench: type[Bench]
    ) -> None:
        made = bench(rx_itr_ps=0, tx_itr_ps=0)
        made.feed(100, 103, 106)
        made.run(2000)
        assert made.asserted_us == [100, 103, 106]

    def test_the_limit_holds_whatever_the_cause(self, bench: type[Bench]) -> None:
        made = bench(rx_itr_ps=0, tx_itr_ps=0, intrl_ps=20 * US)
        Agenda(made.sim).at(110 * US, made.send)
        made.feed(100, 130)
        made.run(2000)
        assert made.asserted_us == [100, 120, 140]

    def test_a_received_frame_does_not_wait_for_the_throttle_of_sent_ones(
        self, bench: type[Bench]
    ) -> None:
        made = bench(rx_itr_ps=0, tx_itr_ps=200 * US)
        agenda = Agenda(made.sim)
        agenda.at(99 * US, made.send)
        agenda.at(110 * US, made.send)
        made.feed(120)
        made.run(2000)
        assert made.asserted_us == [99.01, 120]
        assert made.napi.interrupts == 2

    def test_nothing_interrupts_during_a_poll(self, bench: type[Bench]) -> None:
        """Unlike a channel of mlx5, whose other queue is armed."""
        made = bench(work_ps=20 * US, rx_itr_ps=0, tx_itr_ps=0)
        made.feed(100)
        Agenda(made.sim).at(109 * US, made.send)
        made.run(2000)
        assert made.napi.interrupts == 2
        assert made.asserted_us[1] > 120

    def test_a_poll_reclaims_256_sent_frames_and_counts_as_full_then(
        self, bench: type[Bench]
    ) -> None:
        made = bench(device={"tx_ring": 1023})
        agenda = Agenda(made.sim)
        agenda.at(100 * US, made.send, 1)
        agenda.at(101 * US, made.send, 300)
        made.run(1000)
        assert made.napi.polls_full_budget == 1


@BENCHES
@pytest.mark.parametrize("sizes", [(125,), (84, 1538), (84, 125, 250, 500, 1000, 1538), (90,) * 9])
def test_what_is_reclaimed_is_counted_frame_by_frame(
    bench: type[Bench], sizes: tuple[int, ...]
) -> None:
    made = bench(device={"tx_ring": 7})
    agenda, sent = Agenda(made.sim), 0
    for number in range(4 * len(sizes)):
        # one at a time, several times round the ring
        agenda.at((100 + 60 * number) * US, made.send, 1, sizes[number % len(sizes)])
        sent += sizes[number % len(sizes)] - UNCOUNTED_BYTES
    assert (made.nic.cleaned, made.nic.cleaned_bytes) == (0, 0)
    made.run(100 + 240 * len(sizes) + 1000)
    assert made.nic.tx.reclaimed == made.nic.cleaned == 4 * len(sizes)
    assert made.nic.cleaned_bytes == sent


class TestIce:
    @pytest.mark.parametrize(
        ("version", "rx_us", "limit_us"), [("5.14", (8, 16), 16), ("6.6", (8, 8), 4)]
    )
    def test_a_direction_that_adapts_starts_from_the_second_profile(
        self, version: str, rx_us: tuple[int, int], limit_us: int
    ) -> None:
        bench = IceBench(adaptive_rx=True, adaptive_tx=True, profiles=profiles(version))
        assert (bench.nic.rx_itr_ps, bench.nic.intrl_ps) == (8 * US, limit_us * US)
        assert bench.nic.rx_cq.period_ps == max(rx_us) * US

    def test_profiles_are_those_of_the_version(self) -> None:
        assert [itr for itr, _ in profiles("5.14").rx] == [2, 8, 32, 96, 128]
        assert [itr for itr, _ in profiles("5.15").tx] == [2, 8, 64, 128, 256]
        assert [itr for itr, _ in profiles("5.16").rx] == [2, 8, 16, 62, 126]
        assert [itr for itr, _ in profiles("6.6").tx] == [2, 8, 40, 128, 256]

    def test_a_choice_changes_the_register_after_the_work_queue_has_run(self) -> None:
        bench = IceBench(adaptive_rx=True)
        gaps = [100 + 20 * number for number in range(65)]
        bench.feed(*gaps)
        bench.run(gaps[-1] + 5)
        assert bench.nic.rx_dim.profile_ix == 0
        assert bench.nic.rx_itr_ps == 8 * US
        bench.run(gaps[-1] + 15)
        assert bench.nic.rx_itr_ps == 2 * US
        assert bench.nic.rx_cq.period_ps == 4 * US

    def test_samples_a_second_apart_begin_anew(self) -> None:
        bench = IceBench(adaptive_rx=True)
        bench.feed(*(100 + 20 * number for number in range(40)), 1_100_000)
        bench.run(1_100_100)
        bench.feed(*(1_100_200 + 20 * number for number in range(40)))
        bench.run(1_200_000)
        assert bench.nic.rx_dim.profile_ix == 1


class TestI40e:
    def test_the_throttle_adapts_where_the_poll_ends(self) -> None:
        bench = I40eBench(adaptive_rx=True, adaptive_tx=True, device={"jiffy_ps": 4000 * US})
        bench.feed(*(100 + 60 * number for number in range(60)))
        bench.run(4000)
        assert bench.nic.itr.rx.current_itr != 50
        assert bench.nic.rx_itr_ps == (bench.nic.itr.rx.current_itr & 0x1FFE) * US
        assert bench.nic.rx_cq.period_ps == bench.nic.rx_itr_ps


@BENCHES
@given(
    crowd=CROWDS,
    usecs=st.sampled_from([0, 2, 10, 50]),
    limit=st.sampled_from([0, 4, 30]),
    adapts=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_every_frame_is_polled_once_in_order_and_no_interrupt_is_lost(
    bench: type[Bench], *, crowd: Crowd, usecs: int, limit: int, adapts: bool
) -> None:
    crowd.check(
        bench,
        rx_itr_ps=usecs * US,
        tx_itr_ps=usecs * US,
        intrl_ps=limit * US,
        adaptive_rx=adapts,
        adaptive_tx=adapts,
    )
