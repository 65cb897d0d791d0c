"""Throttles of ixgbe against `ixgbe_update_itr`, `ixgbe_set_itr` of Linux 4.14, 5.3 and 6.9."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.intel.ixgbe_itr import IxgbeItr, itr_rules
from tests.house.examples import examples

LATENCY, MIN_USECS, MAX_USECS = 0x80, 10, 126
SLOW = (10, 1000, 2500)


@dataclass
class Container:
    """`struct ixgbe_ring_container`; `itr` is a byte."""

    itr: int
    packets: int = 0
    octets: int = 0
    next_update: int = -1


@dataclass
class Vector:
    """`struct ixgbe_q_vector` of Linux 4.15 and later."""

    link: int
    fixed: bool
    itr: int = 200
    rx: Container = field(default_factory=lambda: Container(MAX_USECS | LATENCY))
    tx: Container = field(default_factory=lambda: Container(MAX_USECS | LATENCY))

    def set_itr(self, jiffies: int) -> None:
        for container in (self.tx, self.rx):
            usecs = LATENCY | MIN_USECS
            if jiffies <= container.next_update:
                usecs = self.asked(container)
            container.itr = usecs % 256
            container.next_update = jiffies + 1
            container.packets = container.octets = 0
        self.itr = 4 * (min(self.rx.itr, self.tx.itr) & 0x7F)

    def asked(self, container: Container) -> int:
        packets, usecs = container.packets, self.itr // 4
        if packets == 0:
            return min(usecs + 2, MAX_USECS) + (container.itr & LATENCY)
        bulk = packets >= 256
        if not bulk and not (packets < 4 and container.octets < 9000):
            if packets < 48:
                return min(usecs + 2, MAX_USECS)
            return usecs if packets < 96 else max(self.itr // 8, MIN_USECS)
        size = container.octets // packets
        wire = 32256
        if size <= 60:
            wire = 5120
        elif size <= 316:
            wire = 40 * size + 2720
        elif size <= 1084:
            wire = 15 * size + 11452
        elif size <= (1967 if self.fixed else 1980):
            wire = 5 * size + 22420
        wire //= 1 if bulk else 2
        unit = 512
        if self.link in SLOW:
            unit = 128
            wire = min(wire, 8064) if self.fixed else wire
        return (0 if bulk else LATENCY) + -(-wire // unit) * 2


@dataclass
class Classes:
    """The same up to Linux 4.14."""

    itr: int = 200
    rx: Container = field(default_factory=lambda: Container(0))
    tx: Container = field(default_factory=lambda: Container(0))

    def set_itr(self, jiffies: int) -> None:  # noqa: ARG002 - as the later ones
        for container in (self.tx, self.rx):
            if container.packets and self.itr // 4:
                each = container.octets // (self.itr // 4)
                limits = {0: (-1, 10), 1: (10, 20), 2: (20, 1 << 62)}
                low, high = limits[container.itr]
                container.itr += (each > high) - (each <= low)
                container.packets = container.octets = 0
        new = (40, 200, 336)[max(self.rx.itr, self.tx.itr)]
        if new != self.itr:
            self.itr = 10 * new * self.itr // (9 * new + self.itr)


PACKETS = [0, 1, 2, 3, 4, 5, 47, 48, 49, 95, 96, 97, 200, 255, 256, 257, 300]
SIZES = [59, 60, 61, 200, 316, 317, 700, 1084, 1085, 1500, 1967, 1968, 1975, 1980, 1981, 4499, 9000]
traffic = st.tuples(st.sampled_from(PACKETS), st.sampled_from(SIZES), st.integers(0, 2))
intervals = st.lists(
    st.tuples(traffic, traffic, st.sampled_from([0, 0, 0, 0, 1, 1, 2])), min_size=4, max_size=60
)


@given(
    intervals,
    st.sampled_from([1000, 2500, 5000, 10_000]),
    st.sampled_from(["4.12", "4.14", "4.15", "5.3", "5.4", "6.9"]),
)
@settings(max_examples=examples(400), deadline=None)
def test_throttles_are_those_of_the_driver(
    taken: list[tuple[tuple[int, int, int], tuple[int, int, int], int]], link: int, version: str
) -> None:
    made = IxgbeItr(1, link, itr_rules(version))
    other: Vector | Classes = Vector(link, fixed=version in {"5.4", "6.9"})
    if version in {"4.12", "4.14"}:
        other = Classes()
    jiffies = 0
    for rx, tx, step in taken:
        for (packets, size, odd), mine, theirs in (
            (rx, made.rx, other.rx),
            (tx, made.tx, other.tx),
        ):
            octets = packets * size + (odd if packets else 0)
            mine.took(packets, octets)
            theirs.packets += packets
            theirs.octets += octets
        jiffies += step
        made.update(jiffies)
        other.set_itr(jiffies)
        assert (made.itr, made.rx.itr, made.tx.itr) == (other.itr, other.rx.itr, other.tx.itr)


def after(version: str, link: int, *looks: tuple[int, int]) -> float:
    """The register in us after looks at so many received packets of a size."""
    made = IxgbeItr(1, link, itr_rules(version))
    for packets, size in ((1, 60), *looks):
        made.rx.took(packets, packets * size)
        made.tx.took(packets, packets * size)
        made.update(0)
    return made.interval_ps() / 1e6


@pytest.mark.parametrize(
    ("version", "link", "look", "us"),
    [
        # 5120 / 2 / 512 is 5, in steps of 2 us
        ("6.9", 10_000, (1, 60), 10),
        # (15 x 1000 + 11452) / 2 / 512 is 25.8
        ("6.9", 10_000, (2, 1000), 52),
        ("6.9", 10_000, (256, 1000), 104),
        ("6.9", 10_000, (256, 9000), 126),
        ("6.9", 10_000, (30, 1000), 12),
        ("6.9", 10_000, (60, 1000), 10),
        # the cap of slow links, and what a byte makes of more than that
        ("6.9", 1_000, (256, 9000), 126),
        ("5.3", 1_000, (256, 9000), (504 & 255) & 127),
        ("5.3", 10_000, (256, 1975), 0),
        ("5.4", 10_000, (256, 1975), 126),
    ],
)
def test_values_follow_from_the_driver_s_formula(
    version: str, link: int, look: tuple[int, int], us: int
) -> None:
    assert after(version, link, look) == us


def test_up_to_4_14_the_throttle_goes_to_its_class_in_tenths() -> None:
    """From 50 us to 84: 10 x 336 x 200 / (9 x 336 + 200) is 208, or 52 us in the register."""
    made = IxgbeItr(1, 10_000, itr_rules("4.14"))
    values = []
    for _ in range(4):
        made.rx.took(100, 100_000)
        made.update(0)
        values.append(made.itr)
    # low latency at first, which 200 is; then bulk
    assert values == [200, 208, 216, 224]
    assert made.interval_ps() == 56 * 10**6


@pytest.mark.parametrize(("usecs", "us"), [(0, 0), (2, 2), (3, 2), (9, 8), (1022, 1022)])
def test_a_time_that_is_set_is_counted_in_steps_of_two(usecs: int, us: int) -> None:
    made = IxgbeItr(usecs, 10_000, itr_rules("6.9"))
    made.rx.took(300, 300_000)
    made.update(5)
    assert made.interval_ps() == us * 10**6


def test_a_vector_that_rested_begins_with_10_us() -> None:
    made = IxgbeItr(1, 10_000, itr_rules("6.9"))
    for jiffies, us in ((0, 10), (1, 12), (2, 14), (4, 10)):
        made.rx.took(10, 10_000)
        made.update(jiffies)
        assert made.interval_ps() == us * 10**6
