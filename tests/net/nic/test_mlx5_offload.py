"""mlx5: receive offload in its poll, and large segments that the device cuts."""

from typing import Any

import pytest

from simnet.net.link.skb import Endpoint, Skb, new_skb
from tests.host.parts import NS, US
from tests.net.nic.chelsio import Log
from tests.net.nic.connectx import Bench

SIZE = 1000


def made(**options: Any) -> Bench:
    return Bench(work_ps=0, gro="5.4", merges=True, rx=(8 * US, 0), **options)


def segments(bench: Bench, *numbers: int, to: Endpoint | None = None) -> list[Skb]:
    return [
        new_skb(to or bench.sink, n * SIZE, (n + 1) * SIZE, 0, 0, SIZE + 90, push=False)
        for n in numbers
    ]


def come(bench: Bench, skbs: list[Skb]) -> None:
    """Have frames arrive a nanosecond apart."""
    for number, skb in enumerate(skbs):
        skb.arrival_ps = 10 * US + number * NS
        bench.nic.incoming.append(skb)
    bench.nic.frames_added()
    bench.run(1000)


def got(bench: Bench, count: int) -> list[tuple[int, int]]:
    """What the stack gets of so many frames of a stream."""
    log = Log(bench.sim)
    come(bench, segments(bench, *range(count), to=log))
    return [(first // SIZE, last // SIZE) for first, last in log.bytes]


class TestReceive:
    def test_a_poll_hands_up_one_large_segment(self) -> None:
        bench = made()
        assert got(bench, 20) == [(0, 20)]

    def test_a_poll_that_used_up_its_budget_flushes_where_a_jiffy_is_long(self) -> None:
        for jiffy_us, expected in ((4000, [(0, 64), (64, 70)]), (1000, [(0, 65), (65, 70)])):
            bench = made(device={"jiffy_ps": jiffy_us * US})
            assert got(bench, 70) == expected

    def test_each_frame_costs_an_sk_buff_and_half_of_what_its_pages_do(self) -> None:
        bench = made(page_bytes=545, costs={"rx_page": 60})
        come(bench, segments(bench, 0, 1))
        ledger = bench.machine.costs.ledger
        assert (ledger.driver, ledger.pages) == (2 * 200 * NS, 2 * 2 * 30 * NS)

    @pytest.mark.parametrize(("reader", "zone_ns"), [(0, 0), (1, 7)])
    def test_pages_that_another_cpu_frees_come_back_by_the_zone(
        self, reader: int, zone_ns: int
    ) -> None:
        bench = made(page_bytes=545, costs={"rx_page": 60, "page_zone": 7}, cpus=2)
        bench.sink.freer = bench.machine.cpus[reader]
        come(bench, segments(bench, 0, 1))
        assert bench.machine.costs.ledger.pages == 2 * 2 * (30 + zone_ns) * NS


class TestSend:
    def sent(self, *, tso: bool) -> Bench:
        bench = made(tso=tso, tx=(0, 0))
        for skb in segments(bench, 0, 1, 2):
            bench.nic.transmit(skb)
        bench.nic.flush()
        bench.run(1000)
        return bench

    @pytest.mark.parametrize(("tso", "completions"), [(True, 1), (False, 3)])
    def test_what_the_device_cuts_is_reported_and_freed_once(
        self, completions: int, *, tso: bool
    ) -> None:
        bench = self.sent(tso=tso)
        assert bench.machine.costs.ledger.completion == completions * 40 * NS
        assert bench.nic.tx.sent == 3

    def test_a_later_burst_is_another(self) -> None:
        bench = self.sent(tso=True)
        for skb in segments(bench, 3, 4):
            bench.nic.transmit(skb)
        bench.nic.flush()
        bench.run(2000)
        assert bench.machine.costs.ledger.completion == 2 * 40 * NS


def test_connections_are_held_apart() -> None:
    bench = made()
    logs = [Log(bench.sim, f"log{n}") for n in range(2)]
    come(bench, [segments(bench, n, to=log)[0] for n in range(3) for log in logs])
    assert [log.bytes for log in logs] == [[(0, 3 * SIZE)]] * 2
