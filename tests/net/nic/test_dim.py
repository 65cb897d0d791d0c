"""Dynamic interrupt moderation decides as lib/dim/dim.c and net_dim.c of Linux 6.12 do.

Its answers to a list of samples were computed by the kernel's code; its rules are written out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.nic.dim import CQE, EQE, RX_PROFILES, TX_PROFILES, Dim
from tests.host.parts import US
from tests.house.examples import examples

# (state, tune_state, profile_ix) after each sample of `samples`, computed by lib/dim of Linux 6.12
KERNEL = """
100 221 221 221 121 121 222 122 122 231 131 131 222 122 231 231 131 222 222 122
231 231 131 222 222 122 122 223 123 224 224 124 124 114 114 114 114 114 114 114
114 114 114 114 114 114 114 114 114 233 233 233 133 133 224 124 124 233 133 133
224 124 124 233 133 224 224 124 124 104 233 233 233 133 133 232 132 132 223 123
103 103 232 232 232 132 132 223 123 123 232 132 223 223 123 232 232 132 132 231
131 222 222 122 122 102 231 231 231 131 131 230 130 130 221 121 121 230 130 100
100 221 221 221 121 121 230 130 130 221 121 121 230 130 221 221 121 121 222 122
231 231 131 131 101 101 101 101 101 230 230 130 221 221 121 121 222 122 122 223
123 123 232 132 223 223 123 232 232 132 132 231 131 222 222 122 122 102 231 231
231 131 222 222 122 231 231 131 131 230 130 221 221 121 121 101 230 230 230 130
221 221 121 121 222 122 122 231 131 131 222 122 122 223 123 232 232 132 132 102
231 231 231 131 131 230 130 221 221 121 121 101 101 230 230 130 221 221 121 121
222 122 223 223 123 232 232 132 132 102 102 231 231 131 230 230 130 221 221 121
121 101 101 230 230 130 130 100 100 221 221 121 121 230 130 221 221 121 230 230
130 130 100 100 221 221 121 121 222 122 122 231 131 222 222 122 231 231 131 131
230 130 130 221 121 121 230 130 130 100 100 221 221 121 121 222 122 223 223 123
123 232 132 223 223 123 123 224 124 124 233 133 133 224 124 124 233 133 133 224
124 114 114 114 114 114 114 114 114 114 114 114 114 114 114 114 114 114 233 233
233 133 232 232 132 223 223 123 123 103 103 103 103 103 103 103 232 232 232 132
132 223 123 123 232 132 231 231 131 222 222 122 102 102 231 231 231 131 230 230
"""


def samples() -> Iterator[tuple[int, int, int, int]]:
    """Time, events, packets and bytes; the counters wrap at 16 and 32 bits on the way."""
    seed = 7

    def drawn() -> int:
        nonlocal seed
        seed = (seed * 1103515245 + 12345) & 0xFFFFFFFF
        return seed >> 16 & 0x7FFF

    now_us, events, packets, size = 0, 65_000, 4_294_960_000, 4_294_000_000
    for number in range(400):
        luck, more = drawn(), drawn()
        phase = number // 80
        now_us += (400 if phase == 3 else 900) + luck % 300
        events += 40 + more % 40
        usual = (1000, 3000, 200, 1000, 900 if number % 2 else 2000)[phase]
        packets += usual + luck % 50
        size += (usual + luck % 50) * (60 + more % 1400 if phase == 3 else 100)
        yield now_us * US, events & 0xFFFF, packets & 0xFFFFFFFF, size & 0xFFFFFFFF


def test_each_decision_is_the_kernels() -> None:
    dim = Dim()
    seen = []
    for number, sample in enumerate(samples()):
        dim.sample(*sample)
        seen.append(f"{dim.state}{dim.tune_state}{dim.profile_ix}")
        if dim.state == 2 and number % 3 == 0:
            dim.applied()
    assert seen == KERNEL.split()


def test_counters_need_not_wrap() -> None:
    wrapped, plain = Dim(), Dim()
    for at, events, packets, size in samples():
        grown = (events + 65536, packets + 2**32, size + 2**32)
        assert wrapped.sample(at, events, packets, size) == plain.sample(at, *grown)
        if plain.state == 2:
            wrapped.applied()
            plain.applied()


def test_a_measurement_takes_64_events() -> None:
    dim = Dim()
    dim.sample(0, 0, 0, 0)
    dim.sample(1000 * US, 63, 1000, 1000)
    assert (dim.state, dim.profile_ix) == (1, 0)
    assert dim.sample(1001 * US, 64, 1001, 1001)
    assert (dim.state, dim.profile_ix) == (2, 1)


def test_nothing_is_measured_until_a_setting_is_applied() -> None:
    dim = Dim()
    dim.sample(0, 0, 0, 0)
    dim.sample(1000 * US, 64, 1000, 1000)
    assert not dim.sample(9000 * US, 640, 90_000, 90_000)
    dim.applied()
    assert not dim.sample(9001 * US, 704, 90_001, 90_001)
    assert dim.profile_ix == 1


#: NET_DIM_RX_EQE_PROFILES and the others of lib/dim/net_dim.c: "usec:pkts" of each setting
TABLES = """
rx eqe 1:256 8:256 64:256 128:256 256:256
rx cqe 2:256 8:128 16:64 32:64 64:64
tx eqe 1:128 8:128 32:128 64:128 128:128
tx cqe 5:128 8:64 16:32 32:32 64:32
"""


def test_settings_are_those_of_the_kernel_s_tables() -> None:
    for line in TABLES.split("\n")[1:-1]:
        way, start, *pairs = line.split()
        profiles = {"rx": RX_PROFILES, "tx": TX_PROFILES}[way][{"eqe": EQE, "cqe": CQE}[start]]
        assert [f"{usec}:{packets}" for usec, packets in profiles] == pairs


# -- the rules, written out --------------------------------------------------------------------

START, MEASURING, APPLY = range(3)
ON_TOP, TIRED, RIGHT, LEFT = range(4)


@dataclass
class Kernel:
    """`struct dim`; statistics are (bytes, packets, events) per millisecond."""

    profile: int = 0
    state: int = START
    tune: int = ON_TOP
    right: int = 0
    left: int = 0
    tired: int = 0
    previous: tuple[int, int, int] = (0, 0, 0)
    start: tuple[int, int, int, int] = field(default=(0, 0, 0, 0))

    def compare(self, current: tuple[int, int, int]) -> int:
        """`net_dim_stats_compare`: -1 worse, 0 same, 1 better."""
        for place, (new, old) in enumerate(zip(current, self.previous, strict=True)):
            if old == 0:
                return 1 if new and place < 2 else 0
            if 100 * abs(new - old) // old > 10:
                return 1 if (new > old) == (place < 2) else -1
        return 0

    def step(self) -> str:
        if self.tired == 10:
            return "tired"
        move = 1 if self.tune == RIGHT else -1
        if not 0 <= self.profile + move <= 4:
            return "edge"
        self.profile += move
        self.right += move > 0
        self.left += move < 0
        self.tired += 1
        return "stepped"

    def park(self, where: int) -> None:
        self.right = self.left = 0
        self.tired = 0 if where == ON_TOP else self.tired
        self.tune = where

    def leave(self) -> None:
        self.tune = LEFT if self.profile else RIGHT
        self.step()

    def decide(self, current: tuple[int, int, int]) -> bool:
        """`net_dim_decision`."""
        tune, profile = self.tune, self.profile
        if tune == ON_TOP:
            if self.compare(current):
                self.leave()
        elif tune == TIRED:
            self.tired -= 1
            if not self.tired:
                self.leave()
        else:
            if self.compare(current) < 1:
                # dim_turn
                self.tune = LEFT if tune == RIGHT else RIGHT
                self.left = 0 if tune == RIGHT else self.left
                self.right = 0 if tune == LEFT else self.right
            steps = (self.left, self.right) if self.tune == RIGHT else (self.right, self.left)
            if steps[0] > 1 and steps[1] == 1:
                self.park(ON_TOP)
            elif (outcome := self.step()) != "stepped":
                self.park(ON_TOP if outcome == "edge" else TIRED)
        if tune != ON_TOP or self.tune != ON_TOP:
            self.previous = current
        return self.profile != profile

    def sample(self, now_ps: int, events: int, packets: int, size: int) -> bool:
        """`net_dim`."""
        if self.state == APPLY:
            return False
        if self.state == MEASURING:
            then, *before = self.start
            delta_us = (now_ps - then) // US
            if (events - before[0]) % 2**16 < 64 or not delta_us:
                return False
            counts = (size - before[2]) % 2**32, (packets - before[1]) % 2**32, 64
            if self.decide(tuple(-(-1000 * count // delta_us) for count in counts)):  # type: ignore[arg-type]
                self.state = APPLY
                return True
        self.start = (now_ps, events, packets, size)
        self.state = MEASURING
        return False


# per measurement: microseconds, events, packets and bytes, mostly near a tenth more or less
rates = st.sampled_from([0, 1, 79, 80, 88, 89, 90, 91, 99, 100, 101, 110, 111, 112, 121, 123])
spells = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 88, 90, 99, 100, 111, 125]),
        st.sampled_from([0, 1, 63, 64, 64, 65, 1000]),
        rates,
        rates,
    ),
    min_size=20,
    max_size=80,
)


@given(spells, st.integers(0, 4), st.sampled_from([(0, 0, 0), (65_500, 2**32 - 99, 2**32 - 9)]))
@settings(max_examples=examples(150))
def test_decisions_near_a_tenth_are_the_kernels(
    measured: list[tuple[int, int, int, int]], profile: int, begin: tuple[int, int, int]
) -> None:
    dim, kernel = Dim(profile), Kernel(profile)
    now, (events, packets, size) = 0, begin
    for number, (delta_us, more, frames, octets) in enumerate(measured):
        now += delta_us * US + number % 3 * (US // 3)
        events, packets, size = events + more, packets + frames, size + octets
        sample = (now, events % 2**16, packets % 2**32, size % 2**32)
        assert dim.sample(*sample) == kernel.sample(*sample)
        assert (dim.state, dim.tune_state, dim.profile_ix) == (
            kernel.state,
            kernel.tune,
            kernel.profile,
        )
        if kernel.state == APPLY and number % 4:
            dim.applied()
            kernel.state = START


@given(st.integers(0, 4), st.lists(rates, min_size=120, max_size=240))
@settings(max_examples=examples(60))
def test_walks_of_equal_measurements_are_the_kernels(profile: int, bursts: list[int]) -> None:
    """Each lasts 100 us and has 64 events, so there is a decision at each second sample."""
    dim, kernel = Dim(profile), Kernel(profile)
    packets = size = 0
    for number, burst in enumerate(bursts):
        packets += 100
        size += 1000 * burst
        sample = (number * 100 * US, number * 64 % 2**16, packets, size)
        assert dim.sample(*sample) == kernel.sample(*sample)
        assert (dim.tune_state, dim.profile_ix) == (kernel.tune, kernel.profile)
        if kernel.state == APPLY:
            dim.applied()
            kernel.state = START


@pytest.mark.parametrize("stale_us", [1, 500])
def test_a_measurement_is_stale_from_its_limit_on(stale_us: int) -> None:
    for late_us, judged in ((stale_us - 1, stale_us > 1), (stale_us, False)):
        dim = Dim(0, stale_us * US)
        # a first sample at 0 begins whatever the limit
        dim.sample(0, 0, 0, 0)
        assert dim.sample(late_us * US, 64, 1000, 1000) == judged
        assert (dim.state, dim.profile_ix) == ((APPLY, 1) if judged else (MEASURING, 0))


def test_what_waits_for_its_setting_begins_anew_when_stale() -> None:
    dim = Dim(0, 500 * US)
    dim.sample(0, 0, 0, 0)
    assert dim.sample(100 * US, 64, 1000, 1000)
    assert not dim.sample(499 * US, 128, 2000, 2000)
    assert dim.state == APPLY
    assert not dim.sample(500 * US, 192, 3000, 3000)
    assert (dim.state, dim.start_ps, dim.start_events) == (MEASURING, 500 * US, 192)
    assert (dim.start_packets, dim.start_bytes) == (3000, 3000)


def test_a_state_begins_at_rest() -> None:
    dim = Dim(3)
    assert (dim.state, dim.tune_state, dim.profile_ix, dim.stale_ps) == (START, ON_TOP, 3, 0)
    assert (dim.steps_right, dim.steps_left, dim.tired) == (0, 0, 0)
    assert (dim.prev_bpms, dim.prev_ppms, dim.prev_epms) == (0, 0, 0)
    assert (dim.start_ps, dim.start_events, dim.start_packets, dim.start_bytes) == (0, 0, 0, 0)
    assert (Dim().profile_ix, Dim().stale_ps) == (0, 0)


def test_profiles_are_those_of_net_dim_c() -> None:
    """NET_DIM_RX_EQE_PROFILES and the others, with their default of packets."""
    assert (EQE, CQE) == (0, 1)
    assert RX_PROFILES[EQE] == tuple((usec, 256) for usec in (1, 8, 64, 128, 256))
    assert RX_PROFILES[CQE] == ((2, 256), (8, 128), *((usec, 64) for usec in (16, 32, 64)))
    assert TX_PROFILES[EQE] == tuple((usec, 128) for usec in (1, 8, 32, 64, 128))
    assert TX_PROFILES[CQE] == ((5, 128), (8, 64), *((usec, 32) for usec in (16, 32, 64)))
