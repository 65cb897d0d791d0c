"""Byte queue limits against `dql_completed` of Linux 6.12, written out."""

from dataclasses import dataclass, field

from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet.net.qdisc.dynamic_queue_limits import MOST_BYTES, DynamicQueueLimits
from tests.house.examples import examples

UINT_MAX = 0xFFFFFFFF
HOLD = 10


def posdiff(one: int, other: int) -> int:
    return max(one - other, 0)


@dataclass
class Dql:
    """`struct dql`."""

    min_limit: int
    max_limit: int
    limit: int = 0
    adj_limit: int = 0
    num_queued: int = 0
    num_completed: int = 0
    prev_num_queued: int = 0
    prev_ovlimit: int = 0
    last_obj_cnt: int = 0
    prev_last_obj_cnt: int = 0
    lowest_slack: int = field(default=UINT_MAX)
    slack_start_time: int = 0

    def queued(self, count: int) -> None:
        self.last_obj_cnt = count
        self.num_queued += count

    def completed(self, count: int, jiffies: int) -> None:
        completed = self.num_completed + count
        limit = self.limit
        ovlimit = posdiff(self.num_queued - self.num_completed, limit)
        inprogress = self.num_queued - completed
        prev_inprogress = self.prev_num_queued - self.num_completed
        # AFTER_EQ
        all_prev_completed = completed - self.prev_num_queued >= 0
        if (ovlimit and not inprogress) or (self.prev_ovlimit and all_prev_completed):
            limit += posdiff(completed, self.prev_num_queued) + self.prev_ovlimit
            self.slack_start_time = jiffies
            self.lowest_slack = UINT_MAX
        elif inprogress and prev_inprogress and not all_prev_completed:
            slack = posdiff(limit + self.prev_ovlimit, 2 * (completed - self.num_completed))
            last = posdiff(self.prev_last_obj_cnt, self.prev_ovlimit) if self.prev_ovlimit else 0
            self.lowest_slack = min(self.lowest_slack, max(slack, last))
            if jiffies - (self.slack_start_time + HOLD) > 0:
                limit = posdiff(limit, self.lowest_slack)
                self.slack_start_time = jiffies
                self.lowest_slack = UINT_MAX
        limit = max(self.min_limit, min(limit, self.max_limit))
        if limit != self.limit:
            self.limit = limit
            ovlimit = 0
        self.adj_limit = limit + completed
        self.prev_ovlimit = ovlimit
        self.prev_last_obj_cnt = self.last_obj_cnt
        self.num_completed = completed
        self.prev_num_queued = self.num_queued


def test_the_largest_limit_leaves_room_for_an_object() -> None:
    """DQL_MAX_OBJECT is UINT_MAX / 16, DQL_MAX_LIMIT UINT_MAX / 2 less that."""
    assert MOST_BYTES == 0x7FFFFFFF - 0x0FFFFFFF


# packets of hundreds of bytes that are given to the ring, hundreds that it frees, jiffies
STEPS = st.lists(
    st.tuples(
        st.lists(st.integers(1, 15), max_size=4), st.integers(0, 40), st.sampled_from([0, 1, 4, 11])
    ),
    max_size=60,
)
# what is freed is just what there was at the last look, and the queue was over its limit
JUST_ALL = [([15, 15], 0, 1), ([5], 30, 1), ([5], 5, 1), ([15], 5, 1), ([], 20, 1)]


@settings(max_examples=examples(300))
@given(STEPS, st.sampled_from([0, 3000]), st.sampled_from([4500, MOST_BYTES]))
@example(JUST_ALL, 0, MOST_BYTES)
@example([([15] * 4, 60, 1), *[([10], 10, 1)] * 15], 0, MOST_BYTES)
@example([([15] * 4, 20, 1), *[([10, 3], 10, 4)] * 15], 0, MOST_BYTES)
def test_limits_are_the_kernels(
    steps: list[tuple[list[int], int, int]], least: int, most: int
) -> None:
    dql, kernel = DynamicQueueLimits(least, most, HOLD), Dql(least, most)
    jiffies = 0
    for packets, freed, passed in steps:
        jiffies += passed
        for packet in packets:
            dql.queued(100 * packet)
            kernel.queued(100 * packet)
        count = min(100 * freed, kernel.num_queued - kernel.num_completed)
        dql.completed(count, jiffies)
        kernel.completed(count, jiffies)
        assert (dql.limit, dql.avail()) == (kernel.limit, kernel.adj_limit - kernel.num_queued)
        assert (dql.num_queued, dql.num_completed) == (kernel.num_queued, kernel.num_completed)
        assert (dql.prev_ovlimit, dql.lowest_slack) == (kernel.prev_ovlimit, kernel.lowest_slack)
