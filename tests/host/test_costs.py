"""Costs in whole nanoseconds, and how they vary."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.costs import COST_NAMES, Costs, Spread, whole_ns
from simnet.host.ledger import MECHANISMS, Ledger


@given(st.integers(0, 10**15))
def test_whole_ns_is_the_nearest(time_ps: int) -> None:
    rounded = whole_ns(time_ps)
    assert rounded % 1000 == 0
    assert abs(rounded - time_ps) <= 500


def test_cycles_become_time() -> None:
    costs = Costs(dict.fromkeys(COST_NAMES, 4800), 3 * 10**9, 128, 2)
    assert {getattr(costs, f"{name}_ps") for name in COST_NAMES} == {1_600_000}
    assert (costs.line_bytes, costs.copy_overlap) == (128, 2)


@pytest.mark.skipif(not hasattr(Costs, "lines"), reason="C functions")
@pytest.mark.parametrize(
    ("length", "lines", "overlapping"),
    # of 64 bytes; three fetches at a time, of 100 ns each
    [(0, 0, 0), (1, 1, 33), (64, 1, 33), (65, 2, 66), (128, 2, 66), (1448, 23, 766)],
)
def test_bytes_are_lines(length: int, lines: int, overlapping: int) -> None:
    costs: Any = Costs(dict.fromkeys(COST_NAMES, 0) | {"csum_line": 7}, 10**9, 64, 3)
    assert costs.lines(length) == lines
    assert costs.overlapping_ps(lines * 100_000) == overlapping * 1000
    assert costs.checksum_ps(length) == costs.ledger.checksum == lines * 7000
    assert costs.checksum_ps(length) + costs.ledger.work()["checksum"] == 3 * lines * 7000


def test_what_profiles_sort_work_into() -> None:
    """Each entry a power of four, so that each can be found in what they add up to."""
    ledger = Ledger()
    for place, name in enumerate(MECHANISMS):
        setattr(ledger, name, 4**place)
    names = list(MECHANISMS)

    def total(*of: str) -> int:
        return sum(4 ** names.index(name) for name in of)

    # parts of driver and tcp_receive
    ledger.skb, ledger.skb_freed, ledger.ip = 3, 4, 5
    assert ledger.kinds() == {
        "copy": total("copy", "copy_lines", "copy_misses"),
        "tcpip": total(
            "tcp_receive", "tcp_ack", "tcp_send", "udp_receive", "udp_send", "forwarding"
        )
        - 4
        + 5,
        "netdev": total("driver", "xdp", "softirq", "completion", "device_lines") - 3 - 5,
        "skb": total("skb_lines") + 3 + 4,
        "mm": total("pages"),
        "lock": total("socket_lines"),
        "sched": total("wakeup"),
        "other": total(
            *("hardirq", "checksum", "syscall", "application", "storage", "hypervisor", "iommu")
        ),
    }
    assert sum(ledger.kinds().values()) == sum(ledger.work().values()) == total(*names)


@pytest.mark.parametrize(
    "name",
    [
        "pages",
        "copy_misses",
        "storage",
        "hypervisor",
        "udp_receive",
        "udp_send",
        "forwarding",
        "xdp",
    ],
)
def test_work_of_some_machines_is_named_where_there_is_any(name: str) -> None:
    ledger = Ledger()
    assert set(ledger.work().values()) == {0}
    assert name not in ledger.work()
    setattr(ledger, name, 1)
    assert ledger.work()[name] == 1


class TestSpread:
    def test_numbers_are_those_of_the_c_standard_s_example(self) -> None:
        # 12345, 3554416254 and 2802067423, modulo 2^31, are the first from 0
        spread = Spread(0, 1000)
        drawn = [spread.vary(10**9) for _ in range(3)]
        states = [12_345, 3_554_416_254 & 0x7FFFFFFF, 2_802_067_423 & 0x7FFFFFFF]
        # from none of the work to twice as much, by 16 bits of the state
        assert drawn == [1000 * (2 * 10**6 * ((state >> 8) & 0xFFFF) // 65_536) for state in states]

    @given(st.integers(0, 2**40), st.integers(0, 1000), st.integers(0, 10**6))
    def test_stays_within_its_bounds(self, seed: int, permille: int, work_ns: int) -> None:
        spread = Spread(seed, permille)
        work_ps = work_ns * 1000
        for _ in range(20):
            drawn = spread.vary(work_ps)
            assert drawn % 1000 == 0
            assert abs(drawn - work_ps) <= work_ps * permille // 1000 + 2000

    def test_keeps_the_mean(self) -> None:
        spread = Spread(1, 500)
        draws = [spread.vary(10**7) for _ in range(20_000)]
        # uniform from 5 to 15 us: the mean of 20 000 has a standard deviation of 0.02 us
        assert abs(sum(draws) / len(draws) - 10**7) < 10**5
        assert min(draws) < 5_100_000
        assert max(draws) > 14_900_000

    def test_none_draws_nothing(self) -> None:
        spread = Spread(1, 0)
        assert [spread.vary(work) for work in (0, 1000, 123_000)] == [0, 1000, 123_000]

    def test_is_given_by_the_seed(self) -> None:
        def draws(seed: int) -> list[int]:
            spread = Spread(seed, 300)
            return [spread.vary(10**7) for _ in range(50)]

        assert draws(5) == draws(5)
        assert draws(5) != draws(6)
