"""What has been received, read and acknowledged, and the window that was offered with it.

Source: RFC 9293, 3.3.1; include/net/tcp.h (`tcp_receive_window`) and net/ipv4/tcp_input.c
(`tcp_sequence`) of Linux.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.rules.receiver_version import ReceiverRules


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveSequence:
    """Sequence numbers of what one connection receives; they do not wrap.

    Args:
        rules: of the kernel's version.
        rcv_wnd: the first window offered, bytes.

    Attributes:
        rcv_nxt: first byte that has not come.
        copied_seq: first byte that has not been read.
        rcv_wup: `rcv_nxt` of the last ACK sent.
        rcv_wnd: the window offered with it, bytes.
    """

    rcv_nxt: cython.longlong = 0
    copied_seq: cython.longlong = 0
    rcv_wup: cython.longlong = 0
    rcv_wnd: cython.longlong = 0
    rule_strict_window: cython.bint = False

    def __init__(
        self,
        rules: ReceiverRules,
        rcv_wnd: cython.longlong,
    ) -> None:
        self.rule_strict_window = rules.strict_window
        self.rcv_wnd = rcv_wnd
        self.start(0)

    def start(self, seq: cython.longlong) -> cython.int:
        """The first byte will be `seq`."""
        self.rcv_nxt = self.rcv_wup = self.copied_seq = seq
        return 0

    @cython.cfunc
    def received(self, end_seq: cython.longlong, direct: cython.bint) -> cython.int:
        """All bytes before `end_seq` have come; `direct`: the last ones straight to the reader."""
        self.rcv_nxt = end_seq
        if direct:
            self.copied_seq = end_seq
        return 0

    @cython.cfunc
    def copied(self, count: cython.longlong) -> cython.int:
        """The reader has taken `count` bytes."""
        self.copied_seq += count
        return 0

    @cython.cfunc
    def offered(self, window: cython.longlong) -> cython.int:
        """An ACK with `window` goes out."""
        self.rcv_wnd = window
        self.rcv_wup = self.rcv_nxt
        return 0

    def readable(self) -> cython.longlong:
        """Bytes in the receive queue."""
        return self.rcv_nxt - self.copied_seq

    @cython.cfunc
    def limit(self) -> cython.longlong:
        """First byte beyond the window that was offered; never before `rcv_nxt`."""
        limit: cython.longlong = self.rcv_wup + self.rcv_wnd
        return limit if limit > self.rcv_nxt else self.rcv_nxt

    def room(self) -> cython.longlong:
        """`tcp_receive_window`: what is left of the window that was offered."""
        return self.limit() - self.rcv_nxt

    def acceptable(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """`tcp_sequence`: whether anything of a segment counts, its ACK included."""
        limit: cython.longlong = self.limit()
        if seq > limit or end_seq < self.rcv_wup:
            return False
        return end_seq <= limit or not self.rule_strict_window or self.rcv_nxt == self.copied_seq
