"""One server of network shared disks: its threads, its memory, and what it does with a request."""

from dataclasses import replace
from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.nsd import NsdClient, NsdRequest, new_request
from simnet.storage.nsd.server import Frontend, NsdServer
from tests.storage.nsd.parts import MIB, MS, S, small

BLOCK = 8 * MIB
STRIP = MIB
KIB = 1 << 10
US = 10**6


class Front(Frontend):
    """Takes answers, and has data as soon as they are asked for unless it is told to wait."""

    server: NsdServer

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "front")
        self.fetched: list[Any] = []
        self.answers: list[tuple[int, Any]] = []
        self.holds = False
        self.held: list[NsdRequest] = []

    def fetch(self, request: NsdRequest) -> int:
        self.fetched.append(request.tag)
        return self.server.take(request)

    def answer(self, request: NsdRequest) -> int:
        self.answers.append((self.sim.now, request.tag))
        if self.holds:
            self.held.append(request)
            return 0
        return self.server.answered(request)


class Bench:
    """A server whose CPUs need a microsecond a request, and nothing else unless told."""

    def __init__(self, **server: int) -> None:
        self.sim = Simulator()
        usual = {
            "request_ps": US,
            "net_ps_kib": 0,
            "checksum_ps_kib": 0,
            "parity_ps_kib": 0,
            "cpus": 1,
            "worker_threads": 6,
            "small_ratio": 2,
            "small_bytes": 64 * KIB,
            "inline_write_bytes": 16 * KIB,
            "fast_write_bytes": 128 * KIB,
            "buffer_bytes": 64 * MIB,
            "tracks": 1000,
        }
        model = small()
        model = replace(model, server=replace(model.server, **(usual | server)))
        self.front = Front(self.sim)
        self.client = NsdClient(self.sim, "client")
        self.server = NsdServer(self.sim, "server", model, Surface(model.disk), self.front)
        self.front.server = self.server

    def ask(
        self, key: int, begin: int, end: int, *, write: bool = False, tag: Any = None
    ) -> NsdRequest:
        request = new_request(
            0, 0, 0, begin, end - begin, write, self.client, key if tag is None else tag
        )
        request.key = request.track = key
        self.server.arrive(request)
        return request

    def run(self, more_ps: int = S) -> None:
        self.sim.run_until(self.sim.now + more_ps)

    def counts(self, *names: str) -> list[int]:
        counters = self.server.counters()
        return [counters[name] for name in names]

    def read(self, key: int, begin: int, end: int) -> str:
        """Read a range; return "hit" or "miss"."""
        before = self.counts("hits", "misses")
        self.ask(key, begin, end)
        self.run()
        after = self.counts("hits", "misses")
        return {(1, 0): "hit", (0, 1): "miss"}[after[0] - before[0], after[1] - before[1]]


def test_a_server_begins_with_nothing_to_do() -> None:
    bench = Bench()
    assert set(bench.server.counters().values()) == {0}
    assert list(bench.server.counters()) == [
        *("requests", "active", "waiting", "largest", "hits", "misses", "joined", "logged"),
        *("cached_bytes", "used_bytes"),
    ]
    assert bench.server.free_threads == [4, 2]
    assert bench.server.threads_ps() == 0


@pytest.mark.parametrize(
    ("threads", "ratio", "split"), [(6, 2, [4, 2]), (7, 2, [4, 3]), (8, 1, [4, 4]), (5, 4, [4, 1])]
)
def test_threads_are_for_small_and_for_large_requests(
    threads: int, ratio: int, split: list[int]
) -> None:
    assert Bench(worker_threads=threads, small_ratio=ratio).server.free_threads == split


class TestThreads:
    def test_a_request_that_is_just_small_has_a_thread_for_small_ones(self) -> None:
        bench = Bench()
        bench.ask(1, 0, 64 * KIB)
        assert bench.server.free_threads == [3, 2]
        bench.ask(2, 0, 64 * KIB + 1)
        assert bench.server.free_threads == [3, 1]
        assert bench.counts("requests", "active", "used_bytes") == [2, 2, 128 * KIB + 1]
        bench.run()
        assert bench.server.free_threads == [4, 2]
        assert bench.counts("requests", "active", "used_bytes") == [2, 0, 0]

    def test_who_finds_none_waits_behind_the_others_of_its_size(self) -> None:
        bench = Bench()
        bench.front.holds = True
        for number in range(5):
            bench.ask(number, 0, BLOCK)
        bench.ask(9, 0, 4096)
        assert bench.counts("requests", "active", "waiting", "largest") == [6, 3, 3, 3]
        bench.run()
        assert sorted(tag for _, tag in bench.front.answers) == [0, 1, 9]
        bench.server.answered(bench.front.held.pop())
        assert bench.counts("active", "waiting", "largest") == [3, 2, 3]
        bench.front.holds = False
        for request in bench.front.held:
            bench.server.answered(request)
        bench.run()
        assert bench.counts("active", "waiting", "largest") == [0, 0, 3]
        assert sorted(tag for _, tag in bench.front.answers) == [0, 1, 2, 3, 4, 9]

    def test_a_small_request_that_comes_later_does_not_pass_another(self) -> None:
        bench = Bench(worker_threads=2, small_ratio=1, buffer_bytes=100 * KIB)
        bench.front.holds = True
        bench.ask(1, 0, 60 * KIB)
        # too much for memory; the next would fit
        bench.ask(2, 0, 50 * KIB)
        bench.ask(3, 0, 4 * KIB)
        assert bench.counts("active", "waiting") == [1, 2]
        bench.run()
        bench.front.holds = False
        bench.server.answered(bench.front.held.pop())
        bench.run()
        assert [tag for _, tag in bench.front.answers] == [1, 2, 3]

    def test_time_of_threads_is_added_up_until_the_answer_is_there(self) -> None:
        bench = Bench()
        bench.front.holds = True
        bench.ask(1, 0, 4096, write=True)
        bench.run(7 * MS)
        bench.ask(2, 0, 4096, write=True)
        bench.run(3 * MS)
        assert bench.server.threads_ps() == 13 * MS
        for request in bench.front.held:
            bench.server.answered(request)
        bench.run()
        assert bench.server.threads_ps() == 13 * MS

    def test_each_request_costs_the_cpus_a_time(self) -> None:
        bench = Bench(request_ps=3 * US)
        # one hardware thread: the second waits for the first
        for number in (1, 2):
            bench.ask(number, 0, 4096, write=True)
        bench.run(3 * US)
        assert bench.counts("logged") == [1]
        bench.run(3 * US)
        assert bench.counts("logged") == [2]
        assert bench.server.cpus.busy_ps == 6 * US


class TestMemory:
    def test_a_request_beyond_memory_waits_unless_it_is_alone(self) -> None:
        bench = Bench(buffer_bytes=MIB)
        bench.ask(1, 0, 4 * MIB)
        assert bench.counts("active", "waiting") == [1, 0]
        bench.ask(2, 0, 4096)
        assert bench.counts("active", "waiting") == [1, 1]
        bench.run()
        assert bench.counts("active", "waiting", "used_bytes") == [0, 0, 0]
        assert [tag for _, tag in bench.front.answers] == [1, 2]

    def test_memory_may_be_full_to_the_last_byte(self) -> None:
        bench = Bench(buffer_bytes=128 * KIB)
        bench.ask(1, 0, 64 * KIB)
        bench.ask(2, 0, 64 * KIB)
        bench.ask(3, 0, 1)
        assert bench.counts("active", "waiting") == [2, 1]

    def test_whole_strips_that_were_read_are_kept(self) -> None:
        bench = Bench()
        assert bench.read(1, STRIP // 2, 3 * STRIP + 4096) == "miss"
        # two whole strips
        assert bench.counts("cached_bytes") == [2 * STRIP]
        assert bench.read(1, STRIP, 3 * STRIP) == "hit"
        assert bench.read(1, STRIP + 5, 2 * STRIP) == "hit"
        assert bench.read(1, STRIP - 1, 2 * STRIP) == "miss"
        assert bench.read(1, 2 * STRIP, 3 * STRIP + 1) == "miss"
        assert bench.read(2, STRIP, 2 * STRIP) == "miss"
        assert bench.counts("cached_bytes") == [3 * STRIP]
        # what is there already counts once
        assert bench.read(1, 0, 8 * STRIP) == "miss"
        assert bench.counts("cached_bytes") == [9 * STRIP]

    def test_less_than_a_strip_is_not_kept(self) -> None:
        bench = Bench()
        assert bench.read(1, 1, STRIP) == "miss"
        assert bench.read(1, 0, STRIP - 1) == "miss"
        assert bench.counts("cached_bytes") == [0]

    def test_the_track_used_longest_ago_makes_room_for_requests(self) -> None:
        bench = Bench(buffer_bytes=4 * STRIP)
        for key in (1, 2, 3):
            bench.read(key, 0, STRIP)
        assert bench.counts("cached_bytes") == [3 * STRIP]
        assert bench.read(1, 0, STRIP) == "hit"
        # one strip under way beside three; then one more is too many
        assert bench.read(4, 0, STRIP) == "miss"
        assert bench.counts("cached_bytes") == [3 * STRIP]
        assert [bench.read(key, 0, STRIP) for key in (1, 3, 4, 2)] == ["hit", "hit", "hit", "miss"]

    def test_so_many_tracks_are_the_most(self) -> None:
        bench = Bench(tracks=2)
        for key in (1, 2, 3):
            bench.read(key, 0, STRIP)
        assert bench.counts("cached_bytes") == [2 * STRIP]
        assert [bench.read(key, 0, STRIP) for key in (2, 3, 1)] == ["hit", "hit", "miss"]

    def test_what_was_written_is_kept_too(self) -> None:
        bench = Bench()
        bench.ask(1, STRIP, 3 * STRIP, write=True)
        bench.run()
        assert bench.read(1, STRIP, 3 * STRIP) == "hit"


class TestReads:
    def test_others_that_want_the_track_meanwhile_wait_for_the_first(self) -> None:
        bench = Bench()
        bench.ask(1, 0, 2 * STRIP, tag="first")
        bench.ask(1, STRIP, 2 * STRIP, tag="inside")
        bench.ask(1, 5 * STRIP, 5 * STRIP + 4096, tag="outside")
        bench.run()
        assert [tag for _, tag in bench.front.answers] == ["first", "inside", "outside"]
        # the last has to be read after all
        assert bench.counts("hits", "misses", "joined") == [1, 2, 2]
        assert bench.server.raid.reads == 2

    def test_what_the_log_holds_comes_from_there(self) -> None:
        bench = Bench()
        bench.ask(1, 4096, 12288, write=True)
        bench.run()
        assert bench.counts("logged") == [1]
        assert bench.read(1, 4096, 12288) == "hit"
        assert bench.read(1, 8192, 12288) == "hit"
        assert bench.read(1, 4095, 12288) == "miss"
        assert bench.read(2, 4096, 12288) == "miss"

    def test_what_is_sent_costs_the_cpus(self) -> None:
        bench = Bench(net_ps_kib=500)
        bench.read(1, 0, STRIP + 1023)
        assert bench.server.cpus.busy_ps == US + 1024 * 500


class TestWrites:
    @pytest.mark.parametrize(("size", "fetched"), [(16 * KIB, []), (16 * KIB + 1, [1])])
    def test_data_that_did_not_come_with_the_request_are_fetched(
        self, size: int, fetched: list[int]
    ) -> None:
        bench = Bench(net_ps_kib=500)
        bench.ask(1, 0, size, write=True)
        bench.run()
        assert bench.front.fetched == fetched
        # what is fetched is copied by the thread that reads the connection
        assert bench.server.cpus.busy_ps == US + (0 if fetched else 16 * 500)

    @pytest.mark.parametrize(("size", "logged"), [(128 * KIB, 1), (128 * KIB + 1, 0)])
    def test_a_small_part_of_a_track_is_logged(self, size: int, logged: int) -> None:
        bench = Bench()
        bench.ask(1, 0, size, write=True)
        bench.run()
        assert bench.counts("logged") == [logged]
        assert bench.server.raid.part_writes == 1 - logged
        assert len(bench.front.answers) == 1

    def test_a_whole_track_is_written_at_once_and_makes_the_log_needless(self) -> None:
        bench = Bench(fast_write_bytes=BLOCK)
        bench.ask(1, 0, 64 * KIB, write=True)
        bench.run()
        assert bench.server.log.used_bytes == 64 * KIB
        bench.ask(1, 0, BLOCK, write=True)
        bench.run()
        assert bench.counts("logged") == [1]
        assert bench.server.raid.full_writes == 1
        assert bench.server.log.counters()["dropped_bytes"] == 64 * KIB
        assert bench.server.log.used_bytes == 0

    def test_a_part_leaves_the_log_alone(self) -> None:
        bench = Bench()
        bench.ask(1, 0, 64 * KIB, write=True)
        bench.run()
        bench.ask(1, 0, BLOCK - 1, write=True)
        bench.run()
        assert bench.server.log.used_bytes == 64 * KIB
