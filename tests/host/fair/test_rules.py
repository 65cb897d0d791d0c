"""Which rules of kernel/sched/fair.c came with which version of Linux."""

from dataclasses import asdict

import pytest

from simnet.host.fair.rules import fair_rules
from tests.host.parts import MS

# sysctl_sched_min_granularity, half of sched_latency, sched_wakeup_granularity, sched_latency: each
# 0.75, 3, 1 and 6 ms, times four for eight CPUs or more
CFS = {"slice_ps": 3 * MS, "credit_ps": 12 * MS, "granularity_ps": 4 * MS, "latency_ps": 24 * MS}
NONE = {"smt_first": False, "scans_by_use": False, "eevdf": False}


@pytest.mark.parametrize(
    ("versions", "changes"),
    [
        (("4.12", "5.4", "5.12"), {}),
        # select_idle_smt came back
        (("5.13", "5.19"), {"smt_first": True}),
        # SIS_UTIL
        (("6.0", "6.5"), {"smt_first": True, "scans_by_use": True}),
        # place_entity knows lag instead of a credit
        (
            ("6.6", "6.12", "7.0"),
            {"smt_first": True, "scans_by_use": True, "eevdf": True, "credit_ps": 0},
        ),
    ],
)
def test_rules(versions: tuple[str, ...], changes: dict[str, int]) -> None:
    for version in versions:
        assert asdict(fair_rules(version)) == CFS | NONE | changes
