"""Byte queue limits: how many bytes a transmit ring needs so that its link never starves.

Source: lib/dynamic_queue_limits.c and include/linux/dynamic_queue_limits.h of Linux 3.5 to 6.12
(`dql_queued`, `dql_avail`, `dql_completed`). The limit grows when the link ran dry although more
would have been there, and shrinks by the least that was too much in a second (`slack_hold_time`).
"""

import cython

#: DQL_MAX_LIMIT: (UINT_MAX / 2) - DQL_MAX_OBJECT
MOST_BYTES = (2**32 - 1) // 2 - (2**32 - 1) // 16
_NO_SLACK: cython.longlong = 2**32 - 1


@cython.final
@cython.cclass
class DynamicQueueLimits:
    """`struct dql` of one transmit queue; counts do not wrap here."""

    # bounds of the limit, bytes
    min_limit: cython.longlong = 0
    max_limit: cython.longlong = 0
    hold_jiffies: cython.longlong = 0  # `slack_hold_time`, HZ in the kernel
    limit: cython.longlong = 0  # bytes that may be in the ring before the queue stops
    adj_limit: cython.longlong = 0
    # bytes ever given to the ring and freed
    num_queued: cython.longlong = 0
    num_completed: cython.longlong = 0
    last_obj_cnt: cython.longlong = 0
    prev_num_queued: cython.longlong = 0
    prev_last_obj_cnt: cython.longlong = 0
    prev_ovlimit: cython.longlong = 0
    lowest_slack: cython.longlong = 0
    slack_start_jiffy: cython.longlong = 0

    def __init__(self, min_limit: int, max_limit: int, hold_jiffies: int) -> None:
        self.min_limit = min_limit
        self.max_limit = max_limit
        self.hold_jiffies = hold_jiffies
        self.lowest_slack = _NO_SLACK

    def avail(self) -> cython.longlong:
        """Bytes that still fit; below 0 the queue is stopped."""
        return self.adj_limit - self.num_queued

    def queued(self, count: cython.longlong) -> cython.int:
        """The ring has got a packet of `count` bytes."""
        self.last_obj_cnt = count
        self.num_queued += count
        return 0

    def completed(self, count: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """One completion has freed `count` bytes: adapt the limit."""
        completed: cython.longlong = self.num_completed + count
        limit: cython.longlong = self.limit
        ovlimit: cython.longlong = max(self.num_queued - self.num_completed - limit, 0)
        inprogress: cython.longlong = self.num_queued - completed
        previous: cython.longlong = self.prev_num_queued - self.num_completed
        beyond: cython.longlong = max(completed - self.prev_num_queued, 0)
        all_before: cython.bint = completed >= self.prev_num_queued
        if (ovlimit > 0 and inprogress == 0) or (self.prev_ovlimit > 0 and all_before):
            # starved: over the limit, and nothing was left
            limit += beyond + self.prev_ovlimit
            self._restart(now_jiffy)
        elif inprogress > 0 and previous > 0 and not all_before:
            limit = self._less_slack(limit, count, now_jiffy)
        limit = min(max(limit, self.min_limit), self.max_limit)
        if limit != self.limit:
            self.limit = limit
            ovlimit = 0
        self.adj_limit = limit + completed
        self.prev_ovlimit = ovlimit
        self.prev_last_obj_cnt = self.last_obj_cnt
        self.num_completed = completed
        self.prev_num_queued = self.num_queued
        return 0

    def _less_slack(
        self, limit: cython.longlong, count: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.longlong:
        """The link was busy all the time: what the limit may be without what was never needed."""
        slack: cython.longlong = max(limit + self.prev_ovlimit - 2 * count, 0)
        if self.prev_ovlimit > 0:
            slack = max(slack, self.prev_last_obj_cnt - self.prev_ovlimit)
        self.lowest_slack = min(self.lowest_slack, slack)
        if now_jiffy > self.slack_start_jiffy + self.hold_jiffies:
            limit = max(limit - self.lowest_slack, 0)
            self._restart(now_jiffy)
        return limit

    def _restart(self, now_jiffy: cython.longlong) -> cython.int:
        """Look for the least slack anew."""
        self.slack_start_jiffy = now_jiffy
        self.lowest_slack = _NO_SLACK
        return 0
