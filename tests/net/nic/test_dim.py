"""Dynamic interrupt moderation decides as the kernel does."""

from __future__ import annotations

from collections.abc import Iterator

from simnet.net.nic.dim import CQE, EQE, RX_PROFILES, TX_PROFILES, Dim
from tests.host.parts import US

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
