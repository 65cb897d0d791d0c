"""AIX's TCP over a path, against what no(1) says of each attribute."""

import math
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.random import RandomStream
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.net.tcp.rules.aix import AixTcp, aix_receiver, effective_space, first_cwnd
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from tests.host.parts import MS, US

SECOND = 1000 * MS
DELAY = 100 * US
HEADERS = 40 + 12 + 38
# at 10 Gbit/s
PS_A_BYTE = 800


class Recorder:
    """Notes when what comes back left, and hands it on."""

    def __init__(self, run: TcpPath) -> None:
        self.run = run
        self.ready = SkbQueue()
        self.left_ps: list[int] = []

    def arrive(self, skb: Skb) -> None:
        """An ACK."""
        self.left_ps.append(self.run.sim.now - DELAY - HEADERS * PS_A_BYTE)
        self.ready.append(skb)


def lone_path(aix: AixTcp) -> tuple[TcpPath, Recorder]:
    """A path on which the left end writes what and when a test says."""
    path = PathOptions(rate_bps=10**10, delay_ps=DELAY)
    options = TcpOptions(aix=aix, nodelay=True)
    run = TcpPath(path, options, Sink(), Sink())
    recorder = Recorder(run)
    run.backward.element = recorder
    return run, recorder


def arrival_ps(run: TcpPath, size: int) -> int:
    """Write a segment now; when it comes."""
    run.left.write(size)
    return int(run.sim.now + DELAY + (size + HEADERS) * PS_A_BYTE)


def lone_delays(aix: AixTcp, gaps_ps: Iterator[int], count: int) -> list[int]:
    """How long segments wait for their acknowledgement that come one at a time."""
    run, recorder = lone_path(aix)
    run.run_for(SECOND)
    came = []
    for _ in range(count):
        came.append(arrival_ps(run, 100))
        run.run_for(aix.fasttimo_ps + next(gaps_ps))
    assert len(recorder.left_ps) == count
    return [left - at for left, at in zip(recorder.left_ps, came, strict=True)]


def random_gaps(seed: int) -> Iterator[int]:
    stream = RandomStream(seed, "gaps")
    while True:
        yield 2 * MS + stream.below(400) * MS + stream.below(10**9)


class TestDelayedAck:
    @pytest.mark.parametrize("fasttimo_ms", [50, 100, 200])
    def test_of_lone_segments_is_uniform_within_fasttimo(self, fasttimo_ms: int) -> None:
        period = fasttimo_ms * MS
        count = 400
        delays = lone_delays(AixTcp(fasttimo_ps=period), random_gaps(fasttimo_ms), count)
        assert all(0 < delay <= period for delay in delays)
        # Kolmogorov's distance, 1 % level
        ordered = sorted(delay / period for delay in delays)
        distance = max(
            max((rank + 1) / count - x, x - rank / count) for rank, x in enumerate(ordered)
        )
        assert distance < 1.63 / math.sqrt(count)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(1, 10**12), st.sampled_from([50, 100, 150, 200]))
    def test_leaves_as_the_next_scan_begins(self, start_ps: int, fasttimo_ms: int) -> None:
        period = fasttimo_ms * MS
        run, recorder = lone_path(AixTcp(fasttimo_ps=period))
        run.run_for(start_ps)
        came = arrival_ps(run, 100)
        run.run_for(2 * period)
        assert recorder.left_ps == [(came // period + 1) * period]

    def test_one_scan_serves_whatever_came_since_the_last(self) -> None:
        for start_ms in (1, 40, 99):
            run, recorder = lone_path(AixTcp(fasttimo_ps=100 * MS))
            run.run_for(start_ms * MS)
            run.left.write(100)
            run.run_for(SECOND)
            assert recorder.left_ps == [100 * MS]

    @given(st.lists(st.integers(1, 1448), min_size=1, max_size=20))
    @settings(max_examples=30, deadline=None)
    def test_every_second_segment_is_acknowledged_at_once(self, sizes: list[int]) -> None:
        run, recorder = lone_path(AixTcp(rfc1323=True, recvspace_bytes=1 << 20))
        run.run_for(201 * MS)
        came = []
        for size in sizes:
            came.append(arrival_ps(run, size))
            run.run_for(MS)
        assert recorder.left_ps == came[1::2]
        run.run_for(SECOND)
        assert len(recorder.left_ps) == (len(sizes) + 1) // 2

    @given(st.lists(st.integers(1, 1448), min_size=1, max_size=20))
    @settings(max_examples=30, deadline=None)
    def test_nodelayack_acknowledges_each_at_once(self, sizes: list[int]) -> None:
        run, recorder = lone_path(AixTcp(tcp_nodelayack=True))
        run.run_for(201 * MS)
        came = []
        for size in sizes:
            came.append(arrival_ps(run, size))
            run.run_for(MS)
        assert recorder.left_ps == came
        assert run.right.delack.delayed_acks == 0

    def test_an_answer_takes_the_acknowledgement_along(self) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=DELAY)
        client = Requester((300,), 10, 50)
        run = TcpPath(path, TcpOptions(aix=AixTcp()), client, Responder(300, 10))
        run.run_for(SECOND)
        assert all(2 * DELAY < time < 2 * DELAY + US for time in client.times_ps)
        assert run.right.delack.delayed_acks == 0
        # of the last answer
        assert run.left.delack.delayed_acks == 1


class TestBulk:
    @pytest.mark.parametrize(("nodelayack", "segments_per_ack"), [(False, 2), (True, 1)])
    def test_acknowledgements(self, *, nodelayack: bool, segments_per_ack: int) -> None:
        aix = AixTcp(
            tcp_nodelayack=nodelayack, rfc1323=True, recvspace_bytes=1 << 20,
            sendspace_bytes=1 << 20,
        )  # fmt: skip
        path = PathOptions(rate_bps=10**8, delay_ps=500 * US)
        run = TcpPath(path, TcpOptions(aix=aix), BulkSource(), Sink())
        run.run_for(2 * SECOND)
        assert run.right.delivered * 8 / 2 == pytest.approx(1e8 * 1448 / 1538, rel=0.02)
        counts = run.right.counters()
        wanted = counts["segments_received"] / segments_per_ack
        assert counts["acks_sent"] == pytest.approx(wanted, abs=2)

    def test_losses_are_made_good(self) -> None:
        aix = AixTcp(rfc1323=True, sack=True, recvspace_bytes=1 << 18, sendspace_bytes=1 << 18)
        path = PathOptions(rate_bps=10**8, delay_ps=500 * US, loss_ppb=2 * 10**7)
        run = TcpPath(path, TcpOptions(aix=aix), BulkSource(500_000), Sink(), seed=1)
        run.run_for(60 * SECOND)
        assert run.forward.lost > 2
        assert run.right.delivered == 500_000

    @pytest.mark.parametrize("space", [16384, 65536])
    def test_the_buffer_divided_by_the_round_trip_is_the_rate(self, space: int) -> None:
        aix = AixTcp(tcp_nodelayack=True, recvspace_bytes=space, sendspace_bytes=1 << 20)
        path = PathOptions(rate_bps=10**10, delay_ps=5 * MS)
        run = TcpPath(path, TcpOptions(aix=aix), BulkSource(), Sink())
        run.run_for(SECOND)
        before = run.right.delivered
        run.run_for(SECOND)
        # an ACK leaves before its segment is read; whole segments
        window = min(space - 1448, 65535) // 1448 * 1448
        assert run.right.delivered - before == pytest.approx(window / 0.010, rel=0.02)


class TestNagle:
    @pytest.mark.parametrize(("limit", "waits"), [(65535, True), (101, True), (100, False)])
    def test_is_for_segments_below_the_limit(self, limit: int, *, waits: bool) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=DELAY)
        client = Requester((100, 100), 10, 5)
        aix = AixTcp(tcp_nagle_limit_bytes=limit)
        run = TcpPath(path, TcpOptions(aix=aix), client, Responder(200, 10))
        run.run_for(2 * SECOND)
        assert len(client.times_ps) == 5
        if waits:
            # the second part waits for the first one's ACK, and that for the scan
            assert all(time > 190 * MS for time in client.times_ps[1:])
        else:
            assert all(time < 2 * DELAY + US for time in client.times_ps)

    @pytest.mark.parametrize("aix", [AixTcp(), None], ids=["aix", "linux"])
    def test_waits_for_full_segments_too_as_linux_does_not(self, aix: AixTcp | None) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=DELAY)
        client = Requester((1448 + 100,), 10, 5)
        run = TcpPath(path, TcpOptions(aix=aix), client, Responder(1448 + 100, 10))
        run.run_for(2 * SECOND)
        assert len(client.times_ps) == 5
        assert all((time > 190 * MS) == (aix is not None) for time in client.times_ps[1:])


@pytest.mark.parametrize(
    ("attributes", "mss", "segments"),
    [
        ({}, 1448, 3),
        ({}, 536, 4),
        ({}, 8948, 2),
        ({"tcp_init_window": 10}, 1448, 10),
        ({"rfc2414": False}, 1448, 1),
        ({"rfc2414": False, "tcp_init_window": 10}, 1448, 1),
    ],
)
def test_the_first_congestion_window(attributes: dict[str, int], mss: int, segments: int) -> None:
    assert first_cwnd(AixTcp(**attributes), mss) == segments  # type: ignore[arg-type]


def test_the_interface_wins() -> None:
    assert effective_space(876544, 1048576) == 1048576
    assert effective_space(876544, 0) == 876544


@pytest.mark.parametrize(("rfc1323", "offered"), [(True, 1 << 20), (False, 65535)])
def test_the_whole_buffer_is_offered_if_windows_are_scaled(*, rfc1323: bool, offered: int) -> None:
    receiver = aix_receiver(AixTcp(rfc1323=rfc1323, recvspace_bytes=1 << 20), advmss=8948)
    receiver.start(0)
    assert receiver.ack_sent() == offered
    assert receiver.window.rcvbuf == 1 << 20
