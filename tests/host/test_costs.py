"""Costs in whole nanoseconds, and how they vary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simnet.host.costs import COST_NAMES, Costs, Spread, whole_ns


@given(st.integers(0, 10**15))
def test_whole_ns_is_the_nearest(time_ps: int) -> None:
    rounded = whole_ns(time_ps)
    assert rounded % 1000 == 0
    assert abs(rounded - time_ps) <= 500


def test_cycles_become_time() -> None:
    costs = Costs(dict.fromkeys(COST_NAMES, 4800), 3 * 10**9, 128, 2)
    assert {getattr(costs, f"{name}_ps") for name in COST_NAMES} == {1_600_000}
    assert (costs.line_bytes, costs.copy_overlap) == (128, 2)


class TestSpread:
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
