"""What has been written, sent and acknowledged, the peer's window, and the send buffer.

Source: RFC 9293, 3.3.1; net/ipv4/tcp_input.c (`tcp_ack_update_window`), tcp_output.c
(`tcp_sync_mss`, `tcp_bound_to_half_wnd`), tcp.c (`tcp_sendmsg`, `forced_push`), net/core/stream.c
(`sk_stream_write_space`).
"""

from __future__ import annotations

import cython

from simnet.net.tcp.rules.sender_version import SenderRules

# TCP and IP headers and the least payload that every host takes
_MIN_DATAGRAM_BYTES: cython.int = 68
_HEADER: cython.int = 20
_TIMESTAMPS_HEADER: cython.int = 32


@cython.final
@cython.no_gc
@cython.cclass
class SendSequence:
    """Sequence numbers of one connection, which begin at 0 and do not wrap.

    Args:
        mss: payload of a full segment.
        rules: of the kernel's version; None for 2.6.18.
        timestamps: segments carry the timestamps option.
        wmem_default, wmem_max: tcp_wmem[1] and [2].
        overhead_bytes: memory of a full segment beyond its payload.
    """

    snd_una: cython.longlong = 0  # first byte that is not acknowledged
    snd_nxt: cython.longlong = 0  # first byte that has not been sent
    write_seq: cython.longlong = 0  # first byte that the application has not written
    snd_wnd: cython.longlong = 0  # the peer's window
    no_space: cython.bint = False  # the writer waits for room in the send buffer
    mss: cython.longlong = 0  # payload of a full segment, which may be half of the peer's window
    pushed_seq: cython.longlong = 0  # last byte plus one that was pushed
    max_window: cython.longlong = 0  # the largest window seen
    sndbuf: cython.longlong = 0  # size of the send buffer
    overhead_bytes: cython.longlong = 0
    wmem_max: cython.longlong = 0
    path_mss: cython.longlong = 0
    whole_window_bytes: cython.longlong = 0
    least_mss: cython.longlong = 0
    half_window: cython.bint = False

    def __init__(
        self,
        mss: cython.longlong,
        rules: SenderRules | None = None,
        *,
        timestamps: cython.bint = False,
        wmem_default: cython.longlong = 0,
        wmem_max: cython.longlong = 0,
        overhead_bytes: cython.longlong = 0,
    ) -> None:
        if rules is None:
            rules = SenderRules()
        self.mss = mss
        self.sndbuf = wmem_default
        self.wmem_max = wmem_max
        self.overhead_bytes = overhead_bytes
        self.path_mss = mss
        self.half_window = rules.half_window
        self.whole_window_bytes = rules.whole_window_bytes
        self.least_mss = _MIN_DATAGRAM_BYTES - (_TIMESTAMPS_HEADER if timestamps else _HEADER)

    def write(self, count: cython.longlong, end_of_send: cython.bint) -> cython.int:
        """The application's bytes have been copied into the send queue."""
        self.write_seq += count
        if end_of_send or self.write_seq - self.pushed_seq > self.max_window >> 1:
            self.pushed_seq = self.write_seq
        return 0

    def sent(self, length: cython.longlong) -> cython.bint:
        """As many bytes are sent for the first time; return whether they end with a push."""
        self.snd_nxt += length
        return self.last_pushed()

    def push(self, end_seq: cython.longlong) -> cython.int:
        """The segment that ends there carries PSH."""
        self.pushed_seq = end_seq
        return 0

    def last_pushed(self) -> cython.bint:
        """Whether the last segment sent carries PSH."""
        return self.snd_nxt in (self.pushed_seq, self.write_seq)

    def acknowledge(self, ack: cython.longlong, window: cython.longlong) -> cython.bint:
        """An ACK for `ack` with `window` has come; return whether the MSS is another one."""
        # tcp_may_update_window
        if ack > self.snd_una or window > self.snd_wnd:
            self.snd_wnd = window
            self.snd_una = ack
            if window > self.max_window:
                self.max_window = window
                return self._sync_mss()
        return False

    def open_window(self, window: cython.longlong) -> cython.bint:
        """The peer's SYN offers `window` bytes; return whether the MSS is another one."""
        self.snd_wnd = self.max_window = window
        return self._sync_mss()

    def window_left(self) -> cython.longlong:
        """Bytes that the peer's window takes, beyond those on their way."""
        return self.snd_una + self.snd_wnd - self.snd_nxt

    def _sync_mss(self) -> cython.bint:
        """`tcp_sync_mss`: bound segments by half of the largest window seen."""
        cutoff: cython.longlong = self.max_window
        mss: cython.longlong = self.path_mss
        if not self.half_window or cutoff <= 0:
            return False
        if cutoff >= self.whole_window_bytes:
            cutoff >>= 1
        if mss > cutoff:
            mss = max(cutoff, self.least_mss)
        if mss == self.mss:
            return False
        self.mss = mss
        return True

    # -- memory -------------------------------------------------------------------------------

    def wmem_queued(self) -> cython.longlong:
        """Send-buffer memory in use."""
        mss: cython.longlong = self.mss
        queued: cython.longlong = self.write_seq - self.snd_una
        return (queued + mss - 1) // mss * (mss + self.overhead_bytes)

    def room(self) -> cython.longlong:
        """Bytes that `tcp_sendmsg` takes now before it has to wait for memory."""
        mss: cython.longlong = self.mss
        truesize: cython.longlong = mss + self.overhead_bytes
        queued: cython.longlong = self.wmem_queued()
        tail: cython.longlong = (self.write_seq - self.snd_una) % mss
        room: cython.longlong = 0
        if self.write_seq > self.snd_nxt and tail > 0:
            room = mss - tail
        if queued < self.sndbuf:
            room += (self.sndbuf - queued + truesize - 1) // truesize * mss
        self.no_space = room == 0
        return room

    def write_space(self, segments: cython.longlong) -> cython.bint:
        """`sk_stream_write_space`: whether a waiting writer is woken (a third is free).

        `segments`: what the buffer has room for at least (`tcp_new_space`).
        """
        queued: cython.longlong = self.wmem_queued()
        grown: cython.longlong = min(segments * (self.mss + self.overhead_bytes), self.wmem_max)
        self.sndbuf = max(self.sndbuf, grown)
        if self.sndbuf - queued < queued >> 1:
            return False
        self.no_space = False
        return True
