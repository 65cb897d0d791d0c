"""A reader that takes segments through TCP itself, and those that wait for it: `tp->ucopy`.

Source: include/linux/tcp.h (`struct tcp_sock`, `ucopy`), include/net/tcp.h (`tcp_prequeue`) and
net/ipv4/tcp.c (`tcp_recvmsg`) of Linux 2.6.18.
"""

from __future__ import annotations

import cython

from simnet.net.link.skb import Skb, SkbQueue


@cython.final
@cython.cclass
class Ucopy:
    """That of one socket.

    Attributes:
        installed: a reader is in recv (`ucopy.task`).
        room: of its buffer, bytes (`ucopy.len`).
        prequeue: segments that wait for it.
        memory: their true size, bytes.
        prequeued: how many there have been.
    """

    installed: cython.bint = False
    room: cython.longlong = 0
    prequeue: SkbQueue = None
    memory: cython.longlong = 0
    prequeued: cython.longlong = 0

    def __init__(self) -> None:
        self.prequeue = SkbQueue()

    def install(self, room: cython.longlong) -> cython.int:
        """A reader is in recv and has so much room."""
        self.installed = True
        self.room = room
        return 0

    def remove(self) -> cython.int:
        """It leaves recv."""
        self.installed = False
        self.room = 0
        return 0

    @cython.cfunc
    def copied(self, length: cython.longlong) -> cython.int:
        """TCP has put data straight into the buffer."""
        self.room -= length
        return 0

    @cython.cfunc
    def append(self, skb: Skb, truesize: cython.longlong) -> cython.int:
        """A segment waits for the reader."""
        self.prequeue.append(skb)
        self.prequeued += 1
        self.memory += truesize
        return 0

    @cython.cfunc
    def emptied(self) -> cython.int:
        """No segment waits any more."""
        self.memory = 0
        return 0
