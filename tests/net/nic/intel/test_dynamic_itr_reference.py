"""Throttles of i40e against `i40e_update_itr` and its caller of Linux 6.6, written out."""

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.intel.dynamic_itr import DynamicItr, RingContainer
from tests.house.examples import examples

LATENCY, MASK, MIN_USECS, MAX_USECS = 0x8000, 0x1FFE, 2, 0x7E
# I40E_LINK_SPEED_*: what i40e_itr_divisor returns over I40E_ITR_ADAPTIVE_MIN_INC
SPEEDS = {
    100: 32,
    1_000: 32,
    2_500: 256,
    5_000: 256,
    10_000: 256,
    20_000: 512,
    25_000: 512,
    40_000: 1024,
}


@dataclass
class Ring:
    target: int
    current: int
    next_update: int = 1
    packets: int = 0
    octets: int = 0


class Driver:
    """A vector with both rings, throttles in us."""

    def __init__(self, rx_us: int, tx_us: int, link_mbps: int) -> None:
        self.rx, self.tx = Ring(rx_us, rx_us), Ring(tx_us, tx_us)
        self.divisor = 2 * SPEEDS[link_mbps]
        self.countdown = 3

    def update_itr(self, ring: Ring, jiffies: int) -> None:
        if jiffies > ring.next_update:
            ring.target = LATENCY | (MIN_USECS if ring is self.rx else MAX_USECS)
        elif not self.countdown:
            ring.target = self.target_of(ring)
        ring.next_update = jiffies + 1
        ring.packets = ring.octets = 0

    def target_of(self, ring: Ring) -> int:
        packets = ring.packets
        if ring is self.rx:
            if 0 < packets < 4 and ring.octets < 9000 and self.tx.target & LATENCY:
                return self.by_size(ring, LATENCY)
        elif packets < 4:
            if ring.target == MAX_USECS == self.rx.target & MASK:
                return MAX_USECS | LATENCY
        elif packets > 32:
            ring.target &= ~LATENCY
        if packets < 56:
            return self.capped(ring.target + 2)
        if packets > 256:
            return self.by_size(ring, 0)
        usecs = min(self.tx.current, self.rx.current) & MASK
        return usecs if packets <= 112 else max(usecs // 2 & MASK, MIN_USECS)

    def by_size(self, ring: Ring, usecs: int) -> int:
        size = ring.octets // ring.packets
        if size <= 60:
            size = 4096
        elif size <= 380:
            size = size * 40 + 1696
        elif size <= 1084:
            size = size * 15 + 11452
        elif size <= 1980:
            size = size * 5 + 22420
        else:
            size = 32256
        size //= 2 if usecs & LATENCY else 1
        return self.capped(usecs + -(-size // self.divisor) * 2)

    def capped(self, usecs: int) -> int:
        return usecs & LATENCY | MAX_USECS if usecs & MASK > MAX_USECS else usecs

    def update_enable_itr(self, jiffies: int) -> Ring | None:
        rx, tx = self.rx, self.tx
        self.update_itr(tx, jiffies)
        self.update_itr(rx, jiffies)
        written = None
        if rx.target < rx.current:
            written = rx
        elif tx.target < tx.current or rx.target - rx.current < tx.target - tx.current:
            written = tx
        elif rx.current != rx.target:
            written = rx
        if written is not None:
            written.current = written.target
            self.countdown = 3
        elif self.countdown:
            self.countdown -= 1
        return written


PACKETS = [0, 1, 2, 3, 4, 5, 31, 32, 33, 55, 56, 57, 111, 112, 113, 114, 255, 256, 257, 300]
SIZES = [59, 60, 61, 200, 379, 380, 381, 700, 1083, 1084, 1085, 1500, 1979, 1980, 1981, 4499, 9000]
traffic = st.tuples(st.sampled_from(PACKETS), st.sampled_from(SIZES), st.integers(0, 2))
intervals = st.lists(
    st.tuples(traffic, traffic, st.sampled_from([0, 0, 0, 0, 1, 1, 2])), min_size=4, max_size=60
)


@given(
    intervals,
    st.sampled_from(sorted(SPEEDS)),
    st.sampled_from([2, 50, 124, 126]),
    st.sampled_from([2, 50, 124, 126]),
)
@settings(max_examples=examples(200))
def test_every_register_is_the_drivers(
    found: list[tuple[tuple[int, int, int], tuple[int, int, int], int]],
    link_mbps: int,
    rx_us: int,
    tx_us: int,
) -> None:
    rx, tx = RingContainer(rx_us, dynamic=True), RingContainer(tx_us, dynamic=True)
    itr, driver = DynamicItr(rx, tx, link_mbps), Driver(rx_us, tx_us, link_mbps)
    jiffies = 0
    for received, sent, later in found:
        jiffies += later
        # most of the time nothing is written and the countdown ends: the same again
        for _ in range(4):
            for mine, ring, (packets, size, more) in (
                (rx, driver.rx, received),
                (tx, driver.tx, sent),
            ):
                itr.took(mine, packets, packets * size + more)
                ring.packets += packets
                ring.octets += packets * size + more
            written = driver.update_enable_itr(jiffies)
            wanted = {None: None, id(driver.rx): rx, id(driver.tx): tx}
            assert itr.update(jiffies) is wanted[None if written is None else id(written)]
            for mine, ring in ((rx, driver.rx), (tx, driver.tx)):
                assert (mine.target_itr, mine.current_itr) == (ring.target, ring.current)
                assert (mine.packets, mine.size) == (0, 0)
                assert mine.next_update == ring.next_update
            assert itr.countdown == driver.countdown


@pytest.mark.parametrize("link_mbps", SPEEDS)
def test_a_throttle_follows_from_the_mean_size_and_the_speed(link_mbps: int) -> None:
    """All pieces of the line, at each of their ends, at each speed."""
    for packets, size in itertools.product((1, 3, 257), SIZES):
        rx, tx = RingContainer(50, dynamic=True), RingContainer(50, dynamic=False)
        itr, driver = DynamicItr(rx, tx, link_mbps), Driver(50, 50, link_mbps)
        itr.countdown = driver.countdown = 0
        tx.target_itr = driver.tx.target = 50 | LATENCY
        itr.took(rx, packets, packets * size)
        driver.rx.packets, driver.rx.octets = packets, packets * size
        driver.update_itr(driver.rx, 0)
        itr.update(0)
        assert rx.target_itr == driver.rx.target


def test_a_vector_begins_with_what_is_set() -> None:
    rx, tx = RingContainer(51, dynamic=True), RingContainer(0x3FFF, dynamic=False)
    for ring, usecs in ((rx, 50), (tx, MASK)):
        assert (ring.target_itr, ring.current_itr) == (usecs, usecs)
        assert (ring.next_update, ring.packets, ring.size) == (1, 0, 0)
    assert DynamicItr(rx, tx, 10_000).countdown == 3
