"""What a driver's transmit ring asks of the queueing discipline above it."""

import cython

from simnet.net.link.skb import Skb


@cython.cclass
class Egress:
    """The way of frames into a transmit ring, where it is more than a plain queue."""

    def enqueue(self, skb: Skb) -> cython.int:
        """Take a frame; `run` after the last of a burst."""
        raise NotImplementedError

    def run(self) -> cython.int:
        """Give the ring what may go."""
        raise NotImplementedError

    def completed(self) -> cython.int:
        """The ring has freed frames."""
        raise NotImplementedError

    def wake(self) -> cython.int:
        """Time has come for what had to wait for it."""
        raise NotImplementedError

    def waiting(self) -> cython.longlong:
        """Frames that are not in the ring yet."""
        raise NotImplementedError
