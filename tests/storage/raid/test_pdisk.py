"""Disks of an array: the mechanism of `Disk`, the block layer before it, the paths behind it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.errors import SimulationError
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.disks.build import disk_model
from simnet.storage.disk.command import Command
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.disk.surface import ReadAhead, Surface
from simnet.storage.raid.pdisk import Pdisk, SasPath, Strip, StripOwner, new_strip

S = 10**12
WHOLE = disk_model("sas-7k2-2tb")
PLAIN = replace(WHOLE, cache_segments=0)
SURFACE = Surface(PLAIN)
AHEAD = Surface(replace(WHOLE, cache_segments=4))
FAST = 10**12

Ask = tuple[int, int, int, bool]


class Host(StripOwner):
    """Sends commands at their times to a `Pdisk`; notes when they are done."""

    def __init__(self, sim: Simulator, disk: Any, asks: list[Ask]) -> None:
        super().__init__(sim, "host")
        self.disk, self.asks = disk, asks
        self.done: list[tuple[int, int]] = []
        for number, ask in enumerate(asks):
            sim.at(ask[0], self, 0, number, 2)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        _, sector, sectors, write = self.asks[arg]
        self.disk.submit(new_strip(self, None, arg, sector, sectors, write))

    def strip_done(self, strip: Strip) -> int:
        self.done.append((self.sim.now, strip.index))
        return 0


class Reference(Host):
    """Sends the same commands to a `Disk`."""

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        _, sector, sectors, write = self.asks[arg]
        assert self.disk.submit(Command(sector, sectors, write=write, owner=self, tag=arg))

    def command_done(self, command: Command) -> None:
        self.done.append((self.sim.now, command.tag))


def pdisk(
    sim: Simulator,
    *,
    depth: int = 128,
    requests: int = 128,
    deadline: bool = True,
    lane: int = FAST,
    surface: Surface = SURFACE,
) -> Pdisk:
    return Pdisk(
        sim,
        "pdisk",
        surface,
        SasPath("lane", lane),
        SasPath("adapter", FAST),
        nr_requests=requests,
        queue_depth=depth,
        deadline=deadline,
    )


def served(asks: list[Ask], **queue: Any) -> Host:
    sim = Simulator()
    host = Host(sim, pdisk(sim, **queue), asks)
    sim.run_until(1000 * S)
    return host


ASKS = st.lists(
    st.tuples(
        st.integers(0, S // 20),
        st.integers(0, SURFACE.sectors - 9000),
        st.sampled_from([8, 256, 4096, 9000]),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


# strips that follow each other, as those of a file do
RUNS = st.lists(
    st.tuples(
        st.integers(0, S // 20),
        st.integers(0, 60).map(lambda place: 70_000_000 + place * 2048),
        st.sampled_from([2048, 2040, 4096]),
        st.integers(0, 5).map(lambda kind: kind == 0),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=40)
@given(RUNS | ASKS)
def test_read_ahead_is_that_of_the_whole_disk_to_the_picosecond(asks: list[Ask]) -> None:
    sim = Simulator()
    reference = Reference(sim, Disk(sim, "disk", AHEAD.model), asks)
    sim.run_until(1000 * S)
    host = served(asks, surface=AHEAD)
    assert host.done == reference.done
    assert host.disk.hits == reference.disk.hits


@settings(max_examples=15)
@given(ASKS)
def test_a_disk_does_what_the_whole_disk_does_to_the_picosecond(asks: list[Ask]) -> None:
    sim = Simulator()
    reference = Reference(sim, Disk(sim, "disk", PLAIN), asks)
    sim.run_until(1000 * S)
    assert served(asks).done == reference.done
    assert len(reference.done) == len(asks)


@pytest.mark.parametrize("policy", ["fcfs", "sptf"])
@pytest.mark.parametrize("limit_ms", [0, 50])
def test_the_next_command_is_the_whole_disks_by_every_policy(policy: str, limit_ms: int) -> None:
    model = replace(PLAIN, queue_policy=policy, queue_age_limit_ps=limit_ms * S // 1000)
    luck = stream(1, "sectors")
    asks = [(n, luck.below(SURFACE.sectors - 8), 8, False) for n in range(40)]
    sim = Simulator()
    reference = Reference(sim, Disk(sim, "disk", model), asks)
    sim.run_until(1000 * S)
    assert served(asks, surface=Surface(model)).done == reference.done


@pytest.mark.parametrize("surface", [SURFACE, AHEAD])
@pytest.mark.parametrize("sectors", [[0, 8], [0, 0, 8], [8000, 8000, 10_048, 12_000]])
def test_a_disk_reads_ahead_of_no_other_command_than_the_whole_disk(
    surface: Surface, sectors: list[int]
) -> None:
    for pause_ps in (S // 100, S // 30):
        asks = [(n * pause_ps, sector, 8, False) for n, sector in enumerate(sectors, 1)]
        sim = Simulator()
        reference = Reference(sim, Disk(sim, "disk", surface.model), asks)
        sim.run_until(1000 * S)
        assert served(asks, surface=surface).done == reference.done


@settings(max_examples=25)
@given(ASKS, st.integers(1, 8), st.booleans())
def test_every_command_is_done_once_and_none_is_lost_on_the_way(
    asks: list[Ask],
    depth: int,
    deadline: bool,  # noqa: FBT001 - hypothesis
) -> None:
    host = served(asks, depth=depth, deadline=deadline)
    assert sorted(number for _, number in host.done) == list(range(len(asks)))
    counts = host.disk.counters()
    assert counts["read_sectors"] == sum(ask[2] for ask in asks if not ask[3])
    assert counts["written_sectors"] == sum(ask[2] for ask in asks if ask[3])
    residence = sum(time - asks[number][0] for time, number in host.done)
    assert counts["held_ps"] == residence


def order(asks: list[Ask], *, deadline: bool) -> list[int]:
    """The order in which a disk that takes one command at a time is given them."""
    return [number for _, number in served(asks, depth=1, deadline=deadline).done]


def test_deadline_serves_a_batch_by_sector_and_noop_by_arrival() -> None:
    far = SURFACE.sectors // 10
    asks = [(n, far * place, 8, False) for n, place in enumerate((5, 7, 2, 9, 1, 3))]
    assert order(asks, deadline=False) == [0, 1, 2, 3, 4, 5]
    # the second is the oldest that waits; upwards from it; then again the oldest
    assert order(asks, deadline=True) == [0, 1, 3, 2, 5, 4]


def test_deadline_lets_reads_go_first_and_writes_after_two_batches() -> None:
    far = SURFACE.sectors // 100
    reads = [(n, far * (90 - n), 8, False) for n in range(6)]
    writes = [(n, far * n, 8, True) for n in range(6)]
    got = order([reads[0], *[(1, *ask[1:]) for ask in (*writes, *reads[1:])]], deadline=True)
    # falling sectors: each read is a batch of its own
    assert got[:4] == [0, 7, 8, 1]


def test_a_path_that_disks_share_bounds_them_together() -> None:
    sim = Simulator()
    rate = 200 * 10**6
    lane = SasPath("lane", rate)
    hosts = []
    for number in range(8):
        disk = Pdisk(
            sim,
            f"pdisk{number}",
            SURFACE,
            lane,
            SasPath("adapter", FAST),
            nr_requests=32,
            queue_depth=16,
            deadline=True,
        )
        host = Host.__new__(Host)
        StripOwner.__init__(host, sim, f"host{number}")
        host.disk, host.asks, host.done = disk, [], []
        hosts.append(host)
        for index in range(20):
            disk.submit(new_strip(host, None, index, index * 4096, 4096, write=False))
    sim.run_until(100 * S)
    last_ps = max(host.done[-1][0] for host in hosts)
    moved = 8 * 20 * 4096 * SECTOR_BYTES
    assert all(len(host.done) == 20 for host in hosts)
    assert moved * S / rate <= last_ps <= 1.02 * moved * S / rate
    assert lane.bytes == moved


def test_a_failed_disk_hands_back_what_it_held() -> None:
    sim = Simulator()
    disk = pdisk(sim, depth=4)
    host = Host(sim, disk, [(0, n * 100_000, 8, n % 2 == 0) for n in range(20)])
    sim.run_until(S // 50)
    done = len(host.done)
    lost = disk.fail()
    sim.run_until(S)
    assert done > 0
    assert len(host.done) == done
    assert sorted([strip.index for strip in lost] + [n for _, n in host.done]) == list(range(20))
    with pytest.raises(ValueError, match="cannot do 0"):
        disk.submit(new_strip(host, None, 0, 0, 8, write=False))


def random_reads_ms(depth: int, sectors: int) -> float:
    """Mean service time of random reads of the whole disk, `depth` of them kept in it."""
    sim = Simulator()
    disk = pdisk(sim)
    host = Feeder(sim, disk, sectors)
    for _ in range(depth):
        host.more()
    sim.run_until(4 * S)
    return 4000 / disk.commands


class Feeder(StripOwner):
    """Keeps random reads in a disk."""

    def __init__(self, sim: Simulator, disk: Pdisk, sectors: int) -> None:
        super().__init__(sim, "feeder")
        self.disk, self.sectors, self.random = disk, sectors, stream(1, "feeder")

    def more(self) -> None:
        sector = self.random.below(SURFACE.sectors - self.sectors)
        self.disk.submit(new_strip(self, None, 0, sector, self.sectors, write=False))

    def strip_done(self, strip: Strip) -> int:  # noqa: ARG002 - any is as good
        self.more()
        return 0


def test_one_random_read_takes_seek_half_a_turn_and_its_transfer() -> None:
    zones = Geometry(PLAIN).zones
    mean_track = sum(zone.track_sectors for zone in zones) / len(zones)
    transfer_ms = 4096 * 1.1 / mean_track * 8.333
    expected = 8.2 + 8.333 / 2 + transfer_ms
    assert random_reads_ms(1, 4096) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize(
    ("strip_kib", "mb_s"), [(128, 9.8), (512, 32.0), (1024, 51.0), (2048, 73.6)]
)
def test_random_strips_have_the_rate_of_seek_rotation_and_transfer(
    strip_kib: int, mb_s: float
) -> None:
    """One at a time all over the disk: strip / (12.36 ms + strip / 130 MB/s)."""
    found = strip_kib * 1024 / random_reads_ms(1, 2 * strip_kib) / 1000
    assert found == pytest.approx(mb_s, rel=0.06)


def test_a_deep_queue_shortens_positioning() -> None:
    one, deep = random_reads_ms(1, 4096), random_reads_ms(16, 4096)
    assert one - deep > 3


def test_the_last_sector_can_be_read_and_none_behind_it() -> None:
    last = SURFACE.sectors - 8
    assert [index for _, index in served([(0, last, 8, False)]).done] == [0]
    with pytest.raises(SimulationError, match="beyond the disk"):
        served([(0, last + 1, 8, False)])


def test_a_read_of_the_same_again_is_a_hit_while_the_disk_reads_on() -> None:
    again = served([(0, 4096, 8, False), (S // 10, 4096, 8, False)], surface=AHEAD)
    assert again.disk.counters()["hits"] == 1


def test_a_write_waits_for_two_batches_of_sixteen_reads() -> None:
    reads = [(0, 1_000_000 + 8 * number, 8, False) for number in range(60)]
    found = order([(0, 0, 8, False), (0, 9_000_000, 8, True), *reads], deadline=True)
    # the first is in the disk; of those that wait two batches of reads go, then the write
    assert found.index(1) == 1 + 2 * 16


def test_the_buffer_keeps_as_many_ranges_as_it_has_segments_and_forgets_the_oldest() -> None:
    ahead = ReadAhead(AHEAD)
    places = [1000 * number for number in range(5)]
    for place in places:
        ahead.begin(place, place + 8, 0, 0, 0)
        ahead.stop(0)
    # a second stop has nothing more to keep
    ahead.stop(0)
    assert [ahead.hold(place, place + 8) for place in places] == [False, True, True, True, True]
    assert not ahead.hold(places[1], places[1] + 9)
    # one that was used is the last to go
    assert ahead.hold(places[1], places[1] + 8)
    ahead.begin(9000, 9008, 0, 0, 0)
    ahead.stop(0)
    assert ahead.hold(places[1] + 1, places[1] + 8)
    assert not ahead.hold(places[2], places[2] + 8)
    # overwriting what lies right before and right behind leaves it alone
    ahead.drop(8992, 9000)
    ahead.drop(9008, 9016)
    assert ahead.hold(9000, 9008)
    ahead.drop(9007, 9016)
    assert not ahead.hold(9000, 9001)
