"""What serves a virtio device in the host, as the driver in the guest sees it."""

import cython

from simnet.host.kvm.host_cpu import HostCpu, HostThread
from simnet.kernel.compiled import Public
from simnet.net.link.skb import Skb

# virtqueues of a pair
RX: cython.int = 0
TX: cython.int = 1


@cython.cclass
class Backend(HostThread):
    """The thread that serves a pair of virtqueues."""

    # it wants a kick when the driver adds buffers to the queue
    notify_rx: Public[cython.bint] = False
    notify_tx: Public[cython.bint] = False
    waits_rx: cython.bint = False  # a frame for the guest wakes it

    def __init__(self, host: HostCpu, path: str) -> None:
        super().__init__(host, path)
        self.notify_tx = True
        self.waits_rx = True

    def kicked(self, queue: cython.int) -> cython.int:
        """The driver has added buffers, and exits to say so (ioeventfd)."""
        raise NotImplementedError(self.path)

    def published(self) -> cython.int:
        """The driver has added frames to be sent, without a kick."""
        raise NotImplementedError(self.path)

    def enqueue(self, skb: Skb) -> cython.int:
        """A frame for the guest comes."""
        raise NotImplementedError(self.path)
