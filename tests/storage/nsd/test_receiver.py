"""The threads that read connections: line and thread take turns, and so do the directions."""

import pytest

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.cluster import NsdCluster
from tests.storage.nsd.parts import MIB, MS, Caller, S, whole

BLOCK = 16 * MIB
# 4.2 ms for a block
PS_KIB = 250_000
WORK_MS = BLOCK / 1024 * PS_KIB / MS
LINE_MS = {40: BLOCK / 4.95e6, 56: BLOCK / 6.93e6}
WINDOW_MS = {rate: ms / 16 for rate, ms in LINE_MS.items()}


class Bench:
    """One client on cores of its own; what it reads is in the servers' memory."""

    def __init__(self, *, rate: int = 40, ps_kib: int = PS_KIB) -> None:
        self.sim = Simulator()
        self.cluster = NsdCluster(self.sim, "fs", whole(rate_bps=rate * 10**9))
        self.caller = Caller(self.cluster, 0, depth=100)
        self.cpu = LparCpu(self.sim, "cpu", LparCores(16, 1, (1000,), (1000,)))
        self.ask(*range(8))
        if ps_kib:
            self.cluster.attach(0, self.cpu, ps_kib)

    def ask(self, *blocks: int, write: bool = False) -> float:
        """Read or write blocks at once; the time until the last one is done, in ms."""
        begun_ps = self.sim.now
        for block in blocks:
            self.caller.ask(7, block, 0, BLOCK, write=write)
        self.caller.go()
        self.sim.run_until(begun_ps + S)
        done = [one for one in self.caller.done if one.submitted_ps == begun_ps]
        assert len(done) == len(blocks)
        return (max(one.done_ps for one in done) - begun_ps) / MS


@pytest.mark.parametrize("rate", [40, 56])
def test_a_faster_line_shortens_what_the_thread_does_not_take(rate: int) -> None:
    bench = Bench(rate=rate)
    assert bench.ask(0) == pytest.approx(LINE_MS[rate] + WORK_MS, rel=0.05)
    # blocks of one server: a window of the next one comes while the thread works
    each = LINE_MS[rate] - WINDOW_MS[rate] + WORK_MS
    assert bench.ask(0, 2, 4, 6) == pytest.approx(4 * each, rel=0.05)


def test_each_connection_has_a_thread_of_its_own() -> None:
    bench = Bench()
    # both are on the line at once, and both threads work at once
    assert bench.ask(0, 1) == pytest.approx(2 * LINE_MS[40] + WORK_MS, rel=0.05)


def test_without_processors_data_are_read_in_no_time() -> None:
    bench = Bench(ps_kib=0)
    assert bench.ask(0, 2, 4, 6) == pytest.approx(4 * LINE_MS[40], rel=0.05)


def test_a_clients_thread_that_sends_reads_nothing() -> None:
    alone = Bench().ask(0)
    bench = Bench()
    bench.caller.ask(7, 2, 0, BLOCK, write=True)
    bench.caller.go()
    # the server has asked for the data by now, and the thread works on them
    bench.sim.run_until(bench.sim.now + MS)
    assert bench.ask(0) > alone + LINE_MS[40] + WORK_MS - 2
    assert bench.cpu.done_ps == pytest.approx(2 * WORK_MS * MS, rel=1e-6)


def test_a_threads_work_competes_with_the_programs() -> None:
    bench = Bench()
    alone = bench.ask(0)
    for _ in range(32):
        bench.cpu.background(S)
    assert bench.ask(0) == pytest.approx(alone + WORK_MS * 17 / 16, rel=0.05)


def test_the_servers_copy_what_is_written_before_the_disks_get_it() -> None:
    bench = Bench(ps_kib=0)
    server = bench.cluster.servers[bench.caller.done[0].server]
    busy_ps = server.cpus.busy_ps
    bench.ask(bench.caller.done[0].block, write=True)
    model = bench.cluster.model.server
    work = model.net_ps_kib + model.checksum_ps_kib + model.parity_ps_kib
    spent = server.cpus.busy_ps - busy_ps
    assert spent == pytest.approx(BLOCK // 1024 * work + model.request_ps, rel=1e-6)
