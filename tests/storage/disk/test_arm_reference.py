"""The arm of a disk beside its algorithm over plain lists; no buffer serves or delays anything."""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.mechanism import POLICIES
from simnet.storage.disk.model import DiskModel
from tests.storage.disk.test_flash_reference import Exact, Job, held
from tests.storage.parts import MS, ROUND, US

OVERHEAD, SETTLE = 300 * US, MS // 2
# three zones and two heads, and a bus that some reads wait for
MODEL = replace(
    ROUND,
    heads=2,
    zones=3,
    outer_rate_bps=ROUND.outer_rate_bps,
    inner_rate_bps=ROUND.outer_rate_bps // 2,
    bus_rate_bps=ROUND.outer_rate_bps * 2,
    command_overhead_ps=OVERHEAD,
    seek_track_ps=MS,
    seek_average_ps=4 * MS,
    seek_full_ps=8 * MS,
    write_settle_ps=SETTLE,
    head_switch_ps=MS // 4,
)


@dataclass
class Waiting:
    tag: int
    at: int
    sector: int
    sectors: int
    write: bool
    ready: int


@dataclass
class Arm:
    """One command after the other, the one that the policy takes."""

    model: DiskModel
    cylinder: int = 0
    head: int = 0
    counters: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.geometry = Geometry(self.model)
        names = ("seeks", "seek_cylinders", "seek_ps", "rotation_ps", "transfer_ps", "busy_ps")
        self.counters = dict.fromkeys(names, 0)

    def move_ps(self, one: Waiting, sector: int) -> int:
        """To a sector, where writing needs to be more exact than reading."""
        move = self.geometry.move_ps(self.cylinder, self.head, self.geometry.place(sector))
        there = (self.cylinder, self.head)
        place = self.geometry.place(sector)
        return move + (SETTLE if one.write and there != (place.cylinder, place.head) else 0)

    def cost(self, one: Waiting, now: int) -> int:
        place = self.geometry.place(one.sector)
        distance = place.cylinder - self.cylinder
        if self.model.queue_policy == "sstf":
            return abs(distance)
        if self.model.queue_policy == "c-look":
            return distance % self.geometry.cylinders
        there = max(now, one.ready) + self.move_ps(one, one.sector)
        return there + self.geometry.wait_ps(there, place)

    def choose(self, queue: list[Waiting], now: int) -> Waiting:
        oldest = queue[0]
        aged = 0 < self.model.queue_age_limit_ps < now - oldest.at
        if self.model.queue_policy == "fcfs" or aged:
            return oldest
        return min(queue, key=lambda one: self.cost(one, now))

    def execute(self, one: Waiting, begun: int) -> int:
        now = start = max(begun, one.ready)
        sector, left = one.sector, one.sectors
        count = self.counters
        while left:
            place = self.geometry.place(sector)
            distance = abs(place.cylinder - self.cylinder)
            move = self.move_ps(one, sector)
            wait = self.geometry.wait_ps(now + move, place)
            part = min(left, place.left)
            passing = self.geometry.pass_ps(part, place.zone)
            count["seeks"] += distance > 0
            count["seek_cylinders"] += distance
            count["seek_ps"] += move
            count["rotation_ps"] += wait
            count["transfer_ps"] += passing
            now += move + wait + passing
            self.cylinder, self.head = place.cylinder, place.head
            sector, left = sector + part, left - part
        if not one.write:
            now = max(now, start + self.model.bus_ps(one.sectors))
        count["busy_ps"] += now - begun
        return now

    def run(self, script: list[Job]) -> dict[int, int]:
        bus, now, done = 0, 0, {}
        coming: list[Waiting] = []
        for tag, (at, sector, sectors, write) in enumerate(script):
            ready = at + OVERHEAD
            if write:
                ready = bus = max(bus, ready) + self.model.bus_ps(sectors)
            coming.append(Waiting(tag, at, sector, sectors, write, ready))
        while coming:
            now = max(now, coming[0].at)
            one = self.choose([one for one in coming if one.at <= now], now)
            coming.remove(one)
            now = done[one.tag] = self.execute(one, now)
        return done


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 200_000), st.integers(0, 1900), st.integers(1, 40), st.booleans()),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from(POLICIES),
    st.sampled_from([0, 20 * MS]),
)
def test_commands_are_served_when_and_in_the_order_that_the_reference_says(
    drawn: list[tuple[int, int, int, bool]], policy: str, age: int
) -> None:
    script = [
        (us * US + 7 * number + 1, sector, sectors, write)
        for number, (us, sector, sectors, write) in enumerate(sorted(drawn))
    ]
    model = replace(MODEL, queue_policy=policy, queue_age_limit_ps=age)
    sim = Simulator()
    disk = Disk(sim, "disk", model)
    driver = Exact(sim, disk)
    for tag, (at, sector, sectors, write) in enumerate(script):
        driver.send(sector, sectors, at=at, write=write, tag=tag)
    driver.run()
    arm = Arm(model)
    done = arm.run(script)
    assert driver.log == sorted((at, tag) for tag, at in done.items())
    total, _, took = held(script, done)
    assert disk.counters() == arm.counters | {
        "commands": len(script),
        "hits": 0,
        "read_sectors": sum(sectors for _, _, sectors, write in script if not write),
        "written_sectors": sum(sectors for _, _, sectors, write in script if write),
        "command_ps": total,
        "residence_ps": took,
    }
