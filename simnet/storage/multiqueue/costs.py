"""What the block layer and the NVMe driver cost a CPU, in whole nanoseconds kept as ps."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MqCosts:
    """Work of each step at full speed."""

    submit_ps: int = 0  # a bio, its request, and its command in the submission queue
    page_ps: int = 0  # a page that is pinned and mapped for the device
    schedule_ps: int = 0  # a request's way into a scheduler and out of it
    lock_ps: int = 0  # of that, under the lock that all queues have together
    lock_lines: int = 0  # cache lines that move when a CPU gets that lock after another
    complete_ps: int = 0  # an entry of a completion queue, its request and its bio
    poll_ps: int = 0  # a look at a completion queue that has nothing
