"""How queues are dealt out to CPUs: laws of `group_cpus_evenly` of Linux 6.12."""

from typing import NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cpu import Cpu
from simnet.storage.multiqueue.affinity import spread


class Place(NamedTuple):
    """What is asked of a CPU."""

    node: int
    core: int
    cpu_id: int


def dealt(sizes: list[int], queues: int) -> list[list[Place]]:
    cpus = [
        Place(node, number // 2, sum(sizes[:node]) + number)
        for node, size in enumerate(sizes)
        for number in range(size)
    ]
    return cast("list[list[Place]]", spread(cast("list[Cpu]", cpus), queues))


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 40))
def test_each_cpu_has_one_queue_and_each_queue_a_cpu_as_far_as_there_are(
    sizes: list[int], queues: int
) -> None:
    groups = dealt(sizes, queues)
    assert sorted(one.cpu_id for group in groups for one in group) == list(range(sum(sizes)))
    assert len(groups) == min(queues, sum(sizes))
    assert all(groups)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 40))
def test_queues_are_of_one_node_and_share_it_evenly(sizes: list[int], queues: int) -> None:
    groups = dealt(sizes, queues)
    if queues < len(sizes):
        held = [{one.node for one in group} for group in groups]
        assert held == [set(range(first, len(sizes), queues)) for first in range(queues)]
        return
    for node in range(len(sizes)):
        mine = [len(group) for group in groups if group[0].node == node]
        assert sum(mine) == sizes[node]
        assert mine == sorted(mine, reverse=True)
        assert max(mine) - min(mine) <= 1


@pytest.mark.parametrize(
    ("sizes", "queues", "shares"),
    [
        ([4, 4], 2, [1, 1]),
        ([4, 4], 5, [2, 3]),
        # the small node has one, though its share is less
        ([1, 15], 8, [1, 7]),
        ([2, 6, 8], 8, [1, 3, 4]),
    ],
)
def test_nodes_get_queues_by_their_cpus(sizes: list[int], queues: int, shares: list[int]) -> None:
    nodes = [group[0].node for group in dealt(sizes, queues)]
    assert [nodes.count(node) for node in range(len(sizes))] == shares


def test_no_queue_is_an_error() -> None:
    with pytest.raises(ValueError, match="a queue or more"):
        dealt([2], 0)
