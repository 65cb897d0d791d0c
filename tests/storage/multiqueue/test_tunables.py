"""Files in `iosched/` of mq-deadline.c, kyber-iosched.c and bfq-iosched.c: defaults and ranges."""

import pytest

from simnet.storage.multiqueue.bfq import Bfq
from simnet.storage.multiqueue.kyber import BATCH, DEPTH, Kyber
from simnet.storage.multiqueue.mq_deadline import MqDeadline
from simnet.storage.multiqueue.scheduler import MqScheduler

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LLONG_MAX = (1 << 63) - 1
# default, whether it is a time in jiffies, least and most
TUNABLES: dict[type[MqScheduler], dict[str, tuple[int, bool, int, int]]] = {
    MqDeadline: {
        "read_expire": (500, True, 0, INT_MAX),
        "write_expire": (5000, True, 0, INT_MAX),
        "writes_starved": (2, False, INT_MIN, INT_MAX),
        "front_merges": (1, False, 0, 1),
        "fifo_batch": (16, False, 0, INT_MAX),
        "prio_aging_expire": (10_000, True, 0, INT_MAX),
    },
    Kyber: {
        "read_lat_nsec": (2_000_000, False, 0, LLONG_MAX),
        "write_lat_nsec": (10_000_000, False, 0, LLONG_MAX),
    },
    Bfq: {
        "slice_idle": (8, False, 0, INT_MAX),
        "timeout_sync": (125, True, 0, INT_MAX),
        "max_budget": (0, False, 0, INT_MAX),
        "fifo_expire_sync": (125, True, 0, INT_MAX),
        "back_seek_max": (16 * 1024, False, 0, INT_MAX),
        "back_seek_penalty": (2, False, 1, INT_MAX),
    },
}


@pytest.mark.parametrize("scheduler", TUNABLES)
def test_defaults_and_ranges(scheduler: type[MqScheduler]) -> None:
    found = {
        name: (its.default, its.time, its.least, its.most)
        for name, its in scheduler.tunables.items()
    }
    assert found == TUNABLES[scheduler]


def test_reads_and_writes_of_kyber() -> None:
    """`kyber_depth` and `kyber_batch_size`."""
    assert (DEPTH, BATCH) == ((256, 128), (16, 8))
    # those of a queue are its own, except for kyber
    assert (Kyber.shared, MqScheduler.shared) == (False, True)
