"""Throttles of igb and igc against `igb_update_itr`, `igb_set_itr`, `igb_update_ring_itr`."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.intel.igb_itr import IgbItr
from tests.house.examples import examples

START, BULK, LOW, LOWEST = 648, 980, 196, 56


@dataclass
class Container:
    """`struct igb_ring_container`."""

    packets: int = 0
    octets: int = 0
    itr: str = "lowest"

    def update(self) -> None:  # noqa: C901, PLR0912 - as the driver has it
        packets, octets = self.packets, self.octets
        if not packets:
            return
        each = octets // packets
        match self.itr:
            case "lowest":
                if each > 8000:
                    self.itr = "bulk"
                elif packets < 5 and octets > 512:
                    self.itr = "low"
            case "low":
                if octets > 10000:
                    if each > 8000 or packets < 10 or each > 1200:
                        self.itr = "bulk"
                    elif packets > 35:
                        self.itr = "lowest"
                elif each > 2000:
                    self.itr = "bulk"
                elif packets <= 2 and octets < 512:
                    self.itr = "lowest"
            case _:
                if octets > 25000:
                    if packets > 35:
                        self.itr = "low"
                elif octets < 1500:
                    self.itr = "low"
        self.packets = self.octets = 0


@dataclass
class Vector:
    """`struct igb_q_vector` with its adapter."""

    setting: int
    vectors: int
    speed: int = 1000
    igc: bool = False
    rx: Container = field(default_factory=Container)
    tx: Container = field(default_factory=Container)
    itr_val: int = START

    @property
    def fixed(self) -> bool:
        return self.speed < 1000 if self.igc else self.speed != 1000

    def irq_enable(self) -> int:
        if self.vectors == 1:
            self.set_itr()
        else:
            self.update_ring_itr()
        return self.itr_val

    def set_itr(self) -> None:
        if self.fixed:
            new = BULK
        else:
            self.tx.update()
            self.rx.update()
            order = ["lowest", "low", "bulk"]
            current = max(self.rx.itr, self.tx.itr, key=order.index)
            if current == "lowest" and self.setting == 3:
                current = "low"
            new = {"lowest": LOWEST, "low": LOW, "bulk": BULK}[current]
        if new != self.itr_val:
            if new > self.itr_val:
                new = max(new * self.itr_val // (new + (self.itr_val >> 2)), new)
            self.itr_val = new

    def update_ring_itr(self) -> None:
        new, wire = self.itr_val, 0
        if self.fixed:
            new = BULK
        else:
            if self.rx.packets:
                wire = self.rx.octets // self.rx.packets
            if self.tx.packets:
                wire = max(wire, self.tx.octets // self.tx.packets)
            if wire:
                wire = min(wire + 24, 3000)
                new = wire // 3 if 300 < wire < 1200 else wire // 2
                if new < LOW and self.setting == 3:
                    new = LOW
        self.itr_val = new
        for one in (self.rx, self.tx):
            one.packets = one.octets = 0


def register_us(itr: int) -> float:
    """What `igb_write_itr` writes, in us."""
    return ((itr & 0x7FFC) or 4) / 4


sizes = st.sampled_from([60, 66, 250, 299, 300, 400, 800, 1175, 1176, 1514, 2001, 9014, 65226])
polls = st.lists(
    st.tuples(st.integers(0, 70), sizes, st.integers(0, 40), sizes), min_size=1, max_size=60
)


@pytest.mark.parametrize("setting", [1, 3])
@pytest.mark.parametrize("vectors", [1, 2])
@pytest.mark.parametrize(
    ("speed", "igc"), [(100, False), (1000, False), (2500, False), (100, True), (2500, True)]
)
@given(polls=polls)
@settings(max_examples=examples(80), deadline=None)
def test_each_poll_leaves_the_throttle_of_the_driver(
    *, setting: int, vectors: int, speed: int, igc: bool, polls: list[tuple[int, int, int, int]]
) -> None:
    itr = IgbItr(setting, alone=vectors == 1, link_mbps=speed, faster=igc)
    driver = Vector(setting, vectors, speed, igc)
    assert itr.write() == register_us(START) * 10**6
    for received, rx_size, sent, tx_size in polls:
        before = driver.itr_val
        for mine, theirs, packets, size in (
            (itr.rx, driver.rx, received, rx_size),
            (itr.tx, driver.tx, sent, tx_size),
        ):
            mine.took(packets, packets * size)
            theirs.packets += packets
            theirs.octets += packets * size
        itr.update()
        assert itr.itr_val == driver.irq_enable()
        written = itr.write()
        changed = driver.itr_val != before
        assert written == (register_us(driver.itr_val) * 10**6 if changed else -1)


# packets and bytes at the limits of `igb_update_itr`
few = st.sampled_from([1, 2, 3, 4, 5, 9, 10, 35, 36])
octets = st.sampled_from(
    [n + off for n in (512, 1500, 10_000, 12_000, 25_000, 42_000, 80_000) for off in (-1, 0, 1)]
)


@given(looks=st.lists(st.tuples(few, octets), min_size=1, max_size=40))
@settings(max_examples=examples(300), deadline=None)
def test_at_its_limits_one_vector_is_judged_as_by_the_driver(looks: list[tuple[int, int]]) -> None:
    itr = IgbItr(1, alone=True, link_mbps=1000)
    driver = Vector(1, 1)
    for packets, size in looks:
        itr.rx.took(packets, size)
        driver.rx.packets, driver.rx.octets = packets, size
        itr.update()
        assert itr.itr_val == driver.irq_enable()


@pytest.mark.parametrize(
    ("setting", "wire", "us"),
    [
        # (1514 + 24) / 2 = 769 quarters, of which the register drops one
        (3, 1514, 192),
        (3, 60, 49),
        (1, 60, 10),
        # (800 + 24) / 3 = 274
        (1, 800, 68),
        (1, 9014, 375),
    ],
)
def test_with_several_vectors_the_mean_size_decides(setting: int, wire: int, us: int) -> None:
    itr = IgbItr(setting, alone=False, link_mbps=1000)
    itr.rx.took(3, 3 * wire)
    itr.update()
    assert itr.write() == us * 10**6


@pytest.mark.parametrize(
    ("usecs", "us"), [(0, 1), (10, 10), (125, 125), (8191, 8191), (10_000, 1808)]
)
def test_what_is_set_stays(usecs: int, us: int) -> None:
    itr = IgbItr(usecs, alone=False, link_mbps=1000)
    assert itr.write() == us * 10**6
    itr.rx.took(64, 64 * 1514)
    itr.update()
    assert itr.write() == -1
