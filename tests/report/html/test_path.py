"""The way through a system: rows of equal length, and flows that are counted where all are held."""

import pytest

from simnet.report.html.blocks import Stage, Stages, Table
from simnet.report.html.cases import path_section
from simnet.study.explain.bottleneck import Limit
from simnet.study.explain.explain import Explanation, explain


@pytest.mark.parametrize(("stages", "columns"), [(0, 0), (1, 1), (5, 5), (6, 3), (8, 4), (9, 5)])
def test_rows_are_equally_long(stages: int, columns: int) -> None:
    assert Stages("", tuple(Stage("", ()) for _ in range(stages))).columns == columns


@pytest.fixture(scope="module")
def explained() -> Explanation:
    return explain("xdp-firewall", warm_up="1 ms", duration="1 ms")


def _flows(found: Explanation, *limits: Limit) -> list[str]:
    made = found.model_copy(update={"limits": limits})
    tables = [one for one in path_section("p", {"": made}).blocks if isinstance(one, Table)]
    return [row[0] for one in tables if one.heading[0] == "flows" for row in one.rows]


@pytest.mark.compiled
def test_all_flows_that_one_limit_holds_are_a_number(explained: Explanation) -> None:
    limit = explained.limits[0]
    many = limit.model_copy(update={"flows": tuple(f"eth0.{n}" for n in range(256))})
    few = limit.model_copy(update={"flows": ("a", "b")})
    assert _flows(explained, many) == ["all 256 flows"]
    assert _flows(explained, few) == ["a, b"]
    (first, second) = _flows(explained, many, few)
    assert first.startswith("eth0.0, ")
    assert len(first) < 60
    assert second == "a, b"
