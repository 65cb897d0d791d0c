"""A channel whose frames a program of XDP sees first: what becomes of each, and what it costs.

Source: drivers/net/ethernet/mellanox/mlx5/core/en/xdp.c (`mlx5e_xdp_handle`, `mlx5e_xdp_xmit`,
`mlx5e_xdp_rx_poll_complete`) and kernel/bpf/devmap.c (`bq_enqueue`, `bq_xmit_all`) of Linux 5.4.
"""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.host.cache import CacheWays
from simnet.net.link.skb import Header, Skb, Station
from simnet.net.xdp.program import XDP_DROP, XDP_PASS, XDP_REDIRECT, XDP_TX, Xdp, XdpCosts
from tests.host.parts import NS, US, make_memory
from tests.net.nic.connectx import Bench
from tests.net.parts import frame, on_wire

COSTS = XdpCosts(
    run_ps=70 * NS, tx_ps=30 * NS, redirect_ps=20 * NS, clean_ps=10 * NS, line_ps=5 * NS
)
FREE = XdpCosts(run_ps=1)
DOORBELL = 400 * NS
# its program acts on packets from this port of UDP
OURS, OTHERS = 7, 9


class Programmed(Bench):
    """A port with a program; a second port takes what is redirected by CPU 0."""

    def __init__(
        self,
        verdict: int,
        costs: XdpCosts = COSTS,
        *,
        ring: int = 1023,
        targets: int = 1,
        doorbell_ps: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(device={"tx_ring": ring}, memory=make_memory(mmio_write_ps=doorbell_ps))
        self.other = self.another()
        self.xdp = Xdp(verdict, costs, first_port=OURS, last_port=OURS, **{"refill": 64} | options)
        self.xdp.targets = [self.other] * targets
        self.nic.xdp = self.xdp
        self.stations = Station(1), Station(2)

    def packet(self, number: int, port: int, at_ps: int) -> Skb:
        skb = frame(self.sink, number, at_ps, wire_bytes=100)
        skb.header = Header(*self.stations, 1, 2, port, 80)
        return skb

    def come(self, ports: list[int], at_us: int = 10) -> None:
        """Frames from such ports of UDP come at once, numbered in their order."""
        for number, port in enumerate(ports):
            self.nic.incoming.append(self.packet(number, port, at_us * US))
        self.nic.frames_added()

    def counts(self) -> dict[str, int]:
        """Verdicts that there were any of."""
        return {name: count for name, count in self.xdp.counters().items() if count}


def numbers(frames: list[Skb]) -> list[int]:
    return [skb.seq for skb in frames]


MIXES = st.lists(st.sampled_from([OURS, OURS, OTHERS]), min_size=1, max_size=70)


@settings(max_examples=12)
@given(ports=MIXES, refill=st.sampled_from([1, 8, 64]), ring=st.sampled_from([8, 1023]))
@example(ports=[OURS] * 33, refill=64, ring=1023)
@example(ports=[OURS] * 16, refill=64, ring=1023)
@pytest.mark.parametrize("verdict", [XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT])
def test_each_frame_ends_once_where_the_program_says(
    verdict: int, ports: list[int], refill: int, ring: int
) -> None:
    bench = Programmed(verdict, ring=ring, refill=refill)
    bench.come(ports)
    bench.run(1000)
    ours = [number for number, port in enumerate(ports) if port == OURS]
    passed = [number for number, port in enumerate(ports) if port != OURS]
    expected: dict[str, int] = {"pass": len(passed)}
    own, far = numbers(on_wire(bench.nic)), numbers(on_wire(bench.other))
    work = COSTS.run_ps + COSTS.line_ps
    total = len(ports) * work
    if verdict == XDP_DROP:
        expected["drop"] = len(ours)
    elif verdict == XDP_PASS:
        passed = sorted(passed + ours)
        expected["pass"] = len(passed)
    elif verdict == XDP_TX:
        # the ring is freed in the next poll
        sent, expected = ours[:ring], expected | {"tx": len(ours[:ring])}
        expected["tx_full"] = len(ours[ring:])
        total += len(sent) * COSTS.tx_ps
        assert own == sent
    else:
        # the other port's ring is long enough
        expected["redirect"] = len(ours)
        total += len(ours) * (COSTS.redirect_ps + COSTS.tx_ps)
        assert far == ours
    assert bench.counts() == {name: count for name, count in expected.items() if count}
    assert bench.delivered == passed
    assert (bool(own), bool(far)) == (
        verdict == XDP_TX and bool(ours),
        verdict == XDP_REDIRECT and bool(ours),
    )
    assert bench.machine.costs.ledger.xdp == total
    # all buffers are back, and the driver has counted all frames
    assert bench.nic.posted == 1023
    assert bench.nic.rx_packets == len(ports)
    assert bench.nic.polled_bytes == 100 * len(ports)
    assert bench.nic.uncounted == 0


@pytest.mark.parametrize("verdict", [XDP_DROP, XDP_TX, XDP_REDIRECT])
def test_what_the_ledger_has_the_cpu_has_spent(verdict: int) -> None:
    spent, booked = [], []
    for costs in (FREE, COSTS):
        bench = Programmed(verdict, costs)
        bench.come([OURS] * 40)
        bench.run(1000)
        spent.append(bench.cpu.times()["softirq_ps"])
        booked.append(bench.machine.costs.ledger.xdp)
    assert spent[1] - spent[0] == booked[1] - booked[0] > 40 * COSTS.run_ps - US


@pytest.mark.parametrize(("verdict", "count", "bells"), [
    (XDP_DROP, 9, 0), (XDP_TX, 9, 1), (XDP_TX, 64, 1), (XDP_REDIRECT, 9, 1), (XDP_REDIRECT, 40, 1),
])  # fmt: skip
def test_one_doorbell_is_written_when_the_poll_ends(verdict: int, count: int, bells: int) -> None:
    booked = []
    for doorbell_ps in (0, DOORBELL):
        bench = Programmed(verdict, doorbell_ps=doorbell_ps)
        bench.come([OURS] * count)
        bench.run(1000)
        booked.append(bench.machine.costs.ledger.xdp)
    assert booked[1] - booked[0] == bells * DOORBELL


def test_sent_frames_leave_together_when_the_poll_ends() -> None:
    bench = Programmed(XDP_REDIRECT)
    bench.come([OURS] * 20 + [OTHERS])
    begin = 18 * US + 650 * NS
    end = begin + 20 * 125 * NS
    bench.sim.run_until(end)
    assert bench.xdp.counters()["in_bulk"] == 20
    # 16 of them are in the other port's ring, and the doorbell is not yet written
    assert bench.counts()["redirect"] == 16
    assert bench.other.tx.sent == 0
    bench.run(1000)
    assert bench.other.tx.sent == 20
    assert bench.xdp.counters()["in_bulk"] == 0


@pytest.mark.parametrize("targets", [0, 1])
def test_a_cpu_beyond_the_rings_loses_what_it_redirects(targets: int) -> None:
    bench = Programmed(XDP_REDIRECT, targets=targets)
    bench.come([OURS] * 5)
    bench.run(1000)
    assert bench.counts() == ({"redirect": 5} if targets else {"redirect_err": 5})
    assert len(on_wire(bench.other)) == 5 * targets


def test_what_a_program_takes_may_be_left_out_of_the_driver_s_count() -> None:
    bench = Programmed(XDP_DROP, counted=False)
    bench.come([OURS, OTHERS, OURS, OURS])
    bench.run(1000)
    assert bench.nic.uncounted == 3
    assert bench.nic.polled_bytes == 100


def test_buffers_are_handed_back_so_many_at_a_time() -> None:
    bench = Programmed(XDP_DROP, XdpCosts(run_ps=US), refill=8)
    bench.come([OURS] * 20)
    posted: list[int] = []
    for step in range(170, 450):
        bench.sim.run_until(step * 100 * NS)
        if not posted or bench.nic.posted != posted[-1]:
            posted.append(bench.nic.posted)
    assert posted == [1023, 1003, 1011, 1019, 1023]


def test_no_first_line_is_left_waiting() -> None:
    cache = CacheWays(64 * 2048, 2, 60 * NS)
    bench = Programmed(XDP_DROP, cache=cache, buffer_bytes=2048)
    bench.come([OURS] * 30)
    bench.run(1000)
    assert cache.waiting == 0
    extra = bench.machine.costs.ledger.xdp - 30 * (COSTS.run_ps + COSTS.line_ps)
    expected, other = 0, CacheWays(64 * 2048, 2, 60 * NS)
    for left in range(30, 0, -1):
        other.waiting = left * 2048
        expected += 60 * NS * other.lost_permille() // 1000
    assert extra == expected > 0
