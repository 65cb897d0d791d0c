"""TCP alone over a path."""

import pytest

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Skb, new_skb
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from tests.host.parts import MS, US, make_machine

SECOND = 1000 * MS


class Captured(Endpoint):
    """Takes segments for the other end."""

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.echoes: list[int] = []

    def receive(self, skb: Skb, cpu: Cpu | None) -> int:
        """Note the timestamp that a segment echoes."""
        del cpu
        self.echoes.append(skb.tsecr)
        return 0


def bulk(total_bytes: int = 0, seconds: int = 2, seed: int = 1, **path: int) -> TcpPath:
    options = {"rate_bps": 100 * 10**6, "delay_ps": 500 * US} | path
    run = TcpPath(PathOptions(**options), TcpOptions(), BulkSource(total_bytes), Sink(), seed=seed)
    run.run_for(seconds * SECOND)
    return run


class TestBulk:
    def test_fills_the_bottleneck(self) -> None:
        run = bulk()
        # 1448 bytes of 1538 on the wire
        assert run.right.delivered * 8 / 2 == pytest.approx(100e6 * 1448 / 1538, rel=0.01)
        assert run.left.counters()["retransmissions"] == 0

    def test_loss_is_made_good(self) -> None:
        run = bulk(total_bytes=500_000, seconds=60, loss_ppb=2 * 10**7)
        assert run.forward.lost > 2
        assert run.right.delivered == 500_000

    def test_the_seed_decides_which_frames_are_lost(self) -> None:
        runs = [bulk(seed=seed, loss_ppb=10**7) for seed in (1, 1, 2)]
        counts = [run.left.counters() for run in runs]
        assert counts[0] == counts[1] != counts[2]

    @pytest.mark.parametrize("kernel", ["2.6.9", "2.6.18", "2.6.32", "3.8", "4.4", "6.18"])
    def test_flows_where_one_segment_would_not_fit_into_the_window(self, kernel: str) -> None:
        """IP over InfiniBand with an MTU of 65520 and the default receive buffer."""
        tcp = TcpOptions(kernel=kernel, mss=65_468, rmem_bytes=(87_380, 87_380))
        path = PathOptions(rate_bps=10**10, delay_ps=10 * US)
        run = TcpPath(path, tcp, BulkSource(), Sink())
        run.run_for(SECOND // 50)
        assert run.right.delivered * 8 * 50 > 4 * 10**9
        assert run.left.counters()["timeouts"] == 0


class TestTimestamps:
    def test_an_old_duplicate_is_not_echoed(self) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=20 * US)
        run = TcpPath(path, TcpOptions(), BulkSource(1), Sink())
        far = run.backward.destination = Captured(run.sim, "far")
        right, cpu = run.right, make_machine(run.sim).cpus[0]
        for number, tsval in ((0, 5), (1, 6), (0, 9), (3, 9)):
            skb = new_skb(right, number * 1448, (number + 1) * 1448, 0, 0, 1538, False)  # noqa: FBT003
            skb.tsval = tsval
            right.receive(skb, cpu)
        run.run_for(MS)
        assert far.echoes[-1] == 6


class TestRequests:
    def test_one_write_is_answered_after_a_round_trip(self) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=20 * US)
        client = Requester((300,), 10, 20)
        run = TcpPath(path, TcpOptions(), client, Responder(300, 10))
        run.run_for(SECOND)
        assert len(client.times_ps) == 20
        assert all(40 * US < time < 41 * US for time in client.times_ps)

    def test_a_host_that_takes_time_adds_it(self) -> None:
        path = PathOptions(rate_bps=10**10, delay_ps=20 * US)
        client = Requester((300,), 10, 50)
        run = TcpPath(path, TcpOptions(service_ps=7 * US), client, Responder(300, 10))
        run.run_for(SECOND)
        # once the answers carry the acknowledgements
        assert 54 * US < client.times_ps[-1] < 55 * US
