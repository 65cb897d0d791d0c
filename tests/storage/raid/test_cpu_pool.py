"""Hardware threads that serve what is booked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.random import stream
from simnet.storage.raid.cpu_pool import CpuPool

WORK = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30)


@pytest.mark.parametrize("load_percent", [40, 70])
def test_random_arrivals_wait_as_in_m_d_1(load_percent: int) -> None:
    """Mean wait of M/D/1: load / (2 (1 - load)) times the service (Pollaczek, Khinchine)."""
    service_ps = 10**6
    pool, luck = CpuPool(1), stream(1, "arrivals")
    now = waited = 0
    count = 25_000
    for _ in range(count):
        now += luck.exponential_ps(service_ps * 100 // load_percent)
        waited += pool.book(now, service_ps) - now - service_ps
    load = load_percent / 100
    assert waited / count / service_ps == pytest.approx(load / (2 * (1 - load)), rel=0.08)


@given(WORK, st.integers(1, 4))
def test_work_is_done_at_once_if_a_thread_is_free_and_never_faster(
    asks: list[tuple[int, int]], cpus: int
) -> None:
    pool = CpuPool(cpus)
    now = 0
    ends: list[int] = []
    for gap, work in asks:
        now += gap
        under_way = sum(end > now for end in ends)
        end = pool.book(now, work)
        assert end == now + work if under_way < cpus else end > now
        ends.append(end)
    assert pool.busy_ps == sum(work for _, work in asks)
    assert pool.busy_ps <= cpus * max(ends, default=0)
