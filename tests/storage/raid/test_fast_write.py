"""The log of fast writes: when it writes a track back, who waits, and its ledger."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from simnet.kernel.simulator import Simulator
from simnet.storage.raid.fast_write import FastWriteLog
from tests.storage.nsd.parts import MS, small

KIB = 1 << 10
PIECE = 64 * KIB


class Raid:
    """Holds writes of tracks until they are let go, the oldest first."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int, int]] = []
        self.held: list[Any] = []

    def write(self, _nsd: int, track: int, begin: int, end: int, _owner: Any, tag: Any) -> None:
        self.begun.append((track, begin, end))
        self.held.append(SimpleNamespace(tag=tag))


class Bench:
    """A log that writes back from two pieces on, by two threads, and is full with six."""

    def __init__(self) -> None:
        self.sim = Simulator()
        model = small()
        server = replace(
            model.server, log_high_bytes=2 * PIECE, log_limit_bytes=6 * PIECE, flusher_threads=2
        )
        self.raid = Raid()
        model = replace(model, server=replace(server, fast_write_bytes=PIECE))
        self.log = FastWriteLog(self.sim, "log", model, cast("Any", self.raid))
        self.logged: list[int] = []
        self.block = model.block_bytes

    def write(self, track: int, offset: int = 0, size: int = PIECE) -> None:
        request: Any = SimpleNamespace(
            key=track, nsd=0, track=track, offset_bytes=offset, size_bytes=size
        )
        owner = SimpleNamespace(is_logged=lambda request: self.logged.append(request.track))
        self.log.write(request, owner)
        self.run()

    def run(self) -> None:
        self.sim.run_until(self.sim.now + 1000 * MS)

    def written_back(self) -> None:
        self.log.track_done(self.raid.held.pop(0))
        self.run()

    @property
    def tracks(self) -> list[int]:
        return [track for track, _, _ in self.raid.begun]


def test_from_the_watermark_on_the_oldest_is_written_back_by_so_many_threads() -> None:
    bench = Bench()
    found = []
    for track in range(6):
        bench.write(track)
        found.append(len(bench.tracks))
    # two may stay; one more is written back for each that comes, by two threads
    assert found == [0, 0, 1, 2, 2, 2]
    assert bench.tracks == [0, 1]
    bench.written_back()
    assert bench.tracks == [0, 1, 2]
    bench.written_back()
    assert bench.tracks == [0, 1, 2, 3]
    bench.written_back()
    bench.written_back()
    # two are left, as at the beginning
    assert bench.tracks == [0, 1, 2, 3]
    assert bench.log.counters() == {
        "written_bytes": 6 * PIECE,
        "flushed_bytes": 4 * PIECE,
        "dropped_bytes": 0,
        "used_bytes": 2 * PIECE,
        "flushing": 0,
    }
    bench.write(6)
    assert bench.tracks == [0, 1, 2, 3, 4]


def test_a_full_log_lets_writes_wait_in_their_order() -> None:
    bench = Bench()
    for track in range(5):
        bench.write(track)
    bench.write(5, size=2 * PIECE)
    # it would have room, but not before the other
    bench.write(6)
    assert bench.logged == [0, 1, 2, 3, 4]
    bench.written_back()
    # exactly full
    assert bench.logged == [0, 1, 2, 3, 4, 5]
    assert bench.log.used_bytes == 6 * PIECE
    bench.written_back()
    assert bench.logged == [0, 1, 2, 3, 4, 5, 6]


def test_what_a_whole_write_replaces_is_dropped_and_touching_ranges_are_one() -> None:
    bench = Bench()
    bench.write(0, 0)
    bench.write(0, PIECE)
    assert bench.log.holds(0, 0, 2 * PIECE)
    assert not bench.log.holds(0, 0, 2 * PIECE + 1)
    bench.log.drop(0)
    assert not bench.log.holds(0, 0, 1)
    counters = bench.log.counters()
    assert (counters["dropped_bytes"], counters["used_bytes"]) == (2 * PIECE, 0)
    # with a gap it is two ranges, written back from the first to the last
    bench.write(1, 0, KIB)
    bench.write(1, 3 * KIB, KIB)
    assert not bench.log.holds(1, 0, 4 * KIB)
    bench.write(2, 0, 2 * PIECE)
    assert bench.raid.begun == [(1, 0, 4 * KIB)]


def test_the_log_begins_anew_at_its_end() -> None:
    bench = Bench()
    places = []
    for track in range(8):
        bench.write(track)
        places.append(bench.log.sector // 128)
        if bench.raid.held:
            bench.written_back()
    # six pieces of 128 sectors are all that it has
    assert places == [1, 2, 3, 4, 5, 6, 1, 2]
