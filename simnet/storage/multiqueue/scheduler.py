"""What a scheduler of blk-mq is: see `Elevator` for merging and tunables.

Source: `struct elevator_mq_ops` in block/elevator.h of Linux 6.12.
"""

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.elevator import Elevator
from simnet.storage.multiqueue.request import MqRequest


@cython.cclass
class MqScheduler(Elevator):
    """A scheduler of all hardware queues.

    Attributes:
        mq: the queue of the device.
        shared: its queues and its lock are one for all hardware queues.
        submit_holds, end_holds: how often a request takes that lock on its way into the driver
            (for merging, for inserting and for dispatching) and when it is complete.
    """

    mq: Public[Any] = None

    shared = True
    submit_holds = 3
    end_holds = 0

    def __init__(self, queue: Any) -> None:
        self.mq = queue
        super().__init__(queue)

    def insert(self, request: MqRequest) -> cython.int:
        """Take a request (`insert_requests`)."""
        raise NotImplementedError

    def next_request(self, hardware: Any) -> MqRequest:
        """Return what goes to the driver next; None if nothing does (`dispatch_request`).

        Args:
            hardware: the queue that is run; a shared scheduler may give one of another.
        """
        raise NotImplementedError

    def has_work(self, hardware: Any) -> cython.bint:
        """Whether requests wait (`has_work`)."""
        raise NotImplementedError

    def done(self, request: MqRequest) -> cython.int:
        """A request is complete (`completed_request` and `finish_request`)."""
        return 0
