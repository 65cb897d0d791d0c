"""Memory of a datagram socket: what is charged for what waits, and when it is given back.

Source: net/ipv4/udp.c (`__udp_enqueue_schedule_skb`, `udp_rmem_schedule`, `udp_rmem_release`) and
net/core/sock.c (`__sk_mem_raise_allocated`) of Linux 6.12 and 6.18. Each datagram is charged with
its `truesize`. Since 4.13 the reader gives memory back in batches of a quarter of the buffer while
it has more to read, so that it seldom writes what the softirq writes. Whole pages are taken from,
and given back to, what all UDP sockets may have together; UDP has no state of pressure, so that
beyond the first of the three values of `udp_mem` a socket with `udp_rmem_min` or more gets nothing.
"""

import cython

from simnet.net.udp.rules import UdpRules

_PAGE_BYTES: cython.longlong = 4096
# net.ipv4.udp_rmem_min
_RMEM_MIN: cython.longlong = 4096


@cython.final
@cython.cclass
class UdpPages:
    """What all UDP sockets of a host have together (`udp_memory_allocated`)."""

    limit: cython.longlong = 0  # pages, the first value of `net.ipv4.udp_mem`
    most: cython.longlong = 0  # pages, its third
    allocated: cython.longlong = 0  # pages

    def __init__(self, limit: int, most: int) -> None:
        self.limit = limit
        self.most = most

    def take(self, pages: cython.longlong, rmem_alloc: cython.longlong) -> cython.bint:
        """`__sk_mem_raise_allocated` for a socket with so many bytes; False if it gets nothing."""
        after: cython.longlong = self.allocated + pages
        if after > self.limit and (after > self.most or rmem_alloc >= _RMEM_MIN):
            return False
        self.allocated = after
        return True


@cython.final
@cython.cclass
class SocketMemory:
    """The receive memory of one socket, in bytes.

    Args:
        rules: of the kernel.
        pages: of the host.
        rcvbuf: `sk_rcvbuf`: twice SO_RCVBUF, or net.core.rmem_default.
    """

    pages: UdpPages = None
    counts_new: cython.bint = False
    reader_queue: cython.bint = True  # the reader takes all that waits at once
    rcvbuf: cython.longlong = 0
    forward_threshold: cython.longlong = 0
    rmem_alloc: cython.longlong = 0  # charged, and not given back yet
    forward_alloc: cython.longlong = 0  # taken from the pages and not charged
    forward_deficit: cython.longlong = 0  # read, and not given back yet

    def __init__(self, rules: UdpRules, pages: UdpPages, rcvbuf: int) -> None:
        self.pages = pages
        self.counts_new = rules.counts_new
        self.rcvbuf = rcvbuf
        self.reader_queue = rules.reader_queue
        self.forward_threshold = rcvbuf >> 2 if rules.reader_queue else 0

    def full(self, truesize: cython.longlong) -> cython.bint:
        """Whether a datagram is dropped for want of room; one alone never is."""
        if self.counts_new:
            return self.rmem_alloc > 0 and self.rmem_alloc + truesize > self.rcvbuf
        return self.rmem_alloc > self.rcvbuf

    def charge(self, truesize: cython.longlong) -> cython.bint:
        """`udp_rmem_schedule`: charge a datagram; False if the host's sockets have too much."""
        delta: cython.longlong = truesize - self.forward_alloc
        pages: cython.longlong
        if delta > 0:
            pages = (delta + _PAGE_BYTES - 1) // _PAGE_BYTES
            if not self.pages.take(pages, self.rmem_alloc):
                return False
            self.forward_alloc += pages * _PAGE_BYTES
        self.forward_alloc -= truesize
        self.rmem_alloc += truesize
        return True

    def release(self, truesize: cython.longlong, more: cython.bint) -> cython.bint:
        """`udp_rmem_release` for a datagram that is read; whether memory was given back.

        `more`: the reader's queue has others.
        """
        pages: cython.longlong
        self.forward_deficit += truesize
        if more and self.forward_deficit < self.forward_threshold:
            return False
        self.forward_alloc += self.forward_deficit
        self.rmem_alloc -= self.forward_deficit
        self.forward_deficit = 0
        # less one, so that a page may stay
        pages = (self.forward_alloc - 1) // _PAGE_BYTES
        self.forward_alloc -= pages * _PAGE_BYTES
        self.pages.allocated -= pages
        return True
