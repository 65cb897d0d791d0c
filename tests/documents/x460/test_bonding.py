"""The answer about the modes of bonding."""

import pytest

from simnet.documents.x460.bonding import CASES, numbers
from simnet.kernel.random import stream
from simnet.study.run.result import Result

KEYS = {
    "balance_rr_mbit_s", "active_backup_mbit_s", "balance_xor_mbit_s", "broadcast_mbit_s",
    "802_3ad_mbit_s", "balance_tlb_mbit_s", "balance_alb_mbit_s", "balance_rr_cpu_percent",
    "802_3ad_cpu_percent", "balance_alb_cpu_percent",
}  # fmt: skip


def result(mbit_s: float, busy: float) -> Result:
    return Result.model_construct(throughput_bps=mbit_s * 1e6, cpu_busy_percent=busy)


def test_the_keys_that_are_wanted() -> None:
    assert set(numbers(dict.fromkeys(CASES, result(1, 1)))) == KEYS


def test_modes_with_a_channel_are_means_over_addresses() -> None:
    results = {label: result(int(label.split()[1]) * 1000, 4.0) for label in CASES}
    found = numbers(results)
    assert found["802_3ad_mbit_s"] == pytest.approx(2500)
    assert found["balance_alb_mbit_s"] == pytest.approx(1000)
    assert found["balance_rr_cpu_percent"] == 4.0


def test_the_seeds_use_as_many_ports_as_random_addresses_do_in_the_mean() -> None:
    used = [
        len({stream(seed, f"peer{peer}.eth0.mac").below(1 << 24) & 7 for peer in range(8)})
        for seed in (1, 2, 3, 4)
    ]
    assert sum(used) / 4 == pytest.approx(8 * (1 - (7 / 8) ** 8), abs=0.01)
