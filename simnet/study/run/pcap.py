"""Writes the frames of a port as pcapng, for Wireshark, tshark and tcptrace.

Headers are those of the simulated frames: Ethernet, IPv4, TCP with sequence numbers, window, SACK
and timestamps. Payload has no content here: it is left out (the frame says how long it was), and
counts as zeros in TCP's checksum. A connection is established before a simulation begins, so there
is no SYN of it. Two are written before its first frame, marked by a comment, because they tell a
reader by which power of two windows are scaled.

A frame is written at the time at which its last bit comes or leaves. A driver learns of frames
late, and posts them early, so a bounded number waits to be written in order.

Source: draft-ietf-opsawg-pcapng (blocks and options); RFC 791, 9293, 7323, 2018 (headers).
"""

from __future__ import annotations

import heapq
import socket
import struct
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from simnet.errors import InputError
from simnet.files import NewFile
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.spelling import nearest
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from simnet.net.link.skb import Header, Skb
    from simnet.scenario.system.system import System

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_BYTE_ORDER: Final = 0x1A2B3C4D
_ETHERNET: Final = 1
_COMMENT: Final = 1
_NAME: Final = 2
_RESOLUTION: Final = 9
_PICOSECONDS: Final = 12
_PLAIN_BYTES: Final = 14 + 20 + 20
_MOST_OPTIONS_BYTES: Final = 40
_HEADERS_BYTES: Final = _PLAIN_BYTES + _MOST_OPTIONS_BYTES
_LEAST_FRAME_BYTES: Final = 60  # without FCS
_MOST_IP_BYTES: Final = 0xFFFF
_MOST_WAITING: Final = 1 << 14
_SYN: Final = 0x02
_ACK: Final = 0x10
_PSH: Final = 0x08
_SYN_WINDOW: Final = 0xFFFF
_WINDOW_SHIFT: Final = 8  # windows of up to 16 MiB have their place in 16 bits
_NOT_SIMULATED: Final = "not simulated: says by which power of two windows are scaled"
# of a port with a single connection, whose frames need no addresses
_OWN: Final = (0x02_00_00_00_00_01, 0xC0000201, 12866)  # 192.0.2.1
_FAR: Final = (0x02_00_00_00_00_02, 0xC0000202, 12867)


class _Way(NamedTuple):
    """Addresses of a frame: Ethernet, IPv4 and TCP port of the sender, then of the receiver."""

    source: tuple[int, int, int]
    destination: tuple[int, int, int]


class PcapFile:
    """A capture of one port; use it in a `with` block, and `attach` it to a built system.

    Leaving the block by an exception removes what was written. Raises what `NewFile` raises.
    """

    _file: NewFile

    def __init__(self, path: str | Path, port: str | None = None) -> None:
        self.port = port
        self.frames = 0
        self._path = Path(path)
        self._waiting: list[tuple[int, int, bytes]] = []
        self._known: set[frozenset[tuple[int, int, int]]] = set()
        self._told: set[_Way] = set()

    def attach(self, system: System) -> None:
        """Capture what the port sees from now on.

        Raises:
            InputError: the system has no port of this name, or none that is Ethernet.
        """
        names = [str(nic.name) for nic in system.nics]
        if not names:
            raise InputError("there is no network port", key="--pcap")
        chosen = names[0] if self.port is None else self.port
        if chosen not in names:
            message = f"expected one of {', '.join(names)}, got {chosen!r}{nearest(chosen, names)}"
            raise InputError(message, key="--pcap-port")
        port = system.nics[names.index(chosen)]
        for queue in getattr(port, "queues", [port]):
            if queue.uncounted_bytes != UNCOUNTED_BYTES or queue.copies:
                raise InputError(f"{chosen} is no Ethernet port", key="--pcap-port")
            queue.capture = self
        options = _option(_NAME, chosen.encode()) + _option(_RESOLUTION, bytes([_PICOSECONDS]))
        order = struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)
        self._file.stream.write(_block(_SECTION, order, b""))
        self._file.stream.write(
            _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, _HEADERS_BYTES), options)
        )

    def frame(self, skb: Skb, time_ps: int, out: bool) -> None:  # noqa: FBT001 (from compiled code)
        """Take note of a frame whose last bit comes or leaves at a time."""
        way = _way(skb.header, out=out)
        ends = frozenset(way)
        if ends not in self._known:
            self._known.add(ends)
            self._handshake(skb, way, time_ps)
        size = skb.end_seq - skb.seq
        flags = _ACK | (_PSH if skb.push else 0)
        window = -(-skb.window >> _WINDOW_SHIFT)  # rounded up: a small one is not closed
        if window:
            self._told.add(way)
        elif way not in self._told:
            window = _SYN_WINDOW >> _WINDOW_SHIFT  # nothing came yet, and nothing is told
        header = _headers(way, (skb.seq, skb.ack, flags, window), _options(skb), size)
        self._put(time_ps, header, max(len(header) + size, _LEAST_FRAME_BYTES))

    def _handshake(self, skb: Skb, way: _Way, time_ps: int) -> None:
        """SYN and SYN with ACK, a microsecond before the first frame of a connection."""
        mss = b"\x02\x04" + struct.pack(">H", 1460)
        options = mss + b"\x04\x02\x03\x03" + bytes([_WINDOW_SHIFT]) + b"\x01\x01\x01"
        first, back = skb.seq - 1, skb.ack - 1
        begin = max(time_ps - PS_PER_US, 0)
        syn = _headers(way, (first, 0, _SYN, _SYN_WINDOW), options, 0)
        answer = _headers(_Way(*way[::-1]), (back, first + 1, _SYN | _ACK, _SYN_WINDOW), options, 0)
        for header in (syn, answer):
            self._put(begin, header, max(len(header), _LEAST_FRAME_BYTES), _NOT_SIMULATED)

    def _put(self, time_ps: int, header: bytes, length: int, comment: str = "") -> None:
        high, low = divmod(time_ps, 1 << 32)
        fixed = struct.pack("<IIIII", 0, high, low, len(header), length) + _padded(header)
        note = _option(_COMMENT, comment.encode()) if comment else b""
        heapq.heappush(self._waiting, (time_ps, self.frames, _block(_PACKET, fixed, note)))
        self.frames += 1
        if len(self._waiting) > _MOST_WAITING:
            self._file.stream.write(heapq.heappop(self._waiting)[2])

    def __enter__(self) -> Self:
        self._file = NewFile(self._path, key="--pcap")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            with self._file as stream:
                while self._waiting:
                    stream.write(heapq.heappop(self._waiting)[2])
            return
        self._file.discard()
        if self._file.failed is not None:
            raise self._file.failed from error  # a component that writes fails with it


def _way(header: Header | None, *, out: bool) -> _Way:
    if header is None:
        return _Way(_OWN, _FAR) if out else _Way(_FAR, _OWN)
    return _Way(
        (header.source.mac, header.source_ip or _OWN[1], header.source_port),
        (header.destination.mac, header.destination_ip or _FAR[1], header.destination_port),
    )


def _headers(
    way: _Way, tcp: tuple[int, int, int, int], options: bytes, payload_bytes: int
) -> bytes:
    """Ethernet, IPv4 and TCP headers; `tcp` is sequence number, acknowledgement, flags, window."""
    (mac, own, port), (far_mac, far, far_port) = way
    seq, ack, flags, window = tcp
    segment_bytes = 20 + len(options) + payload_bytes
    total = 20 + segment_bytes
    ip = struct.pack(
        ">BBHHHBBHII",
        0x45, 0, total if total <= _MOST_IP_BYTES else 0, 0, 0x4000, 64, socket.IPPROTO_TCP, 0,
        own, far,
    )  # fmt: skip
    ip = ip[:10] + _checksum(ip) + ip[12:]
    offset = (20 + len(options)) // 4 << 4
    segment = struct.pack(
        ">HHIIBBHHH", port & 0xFFFF, far_port & 0xFFFF, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, offset,
        flags, min(window, 0xFFFF), 0, 0,
    ) + options  # fmt: skip
    pseudo = struct.pack(">IIBBH", own, far, 0, socket.IPPROTO_TCP, segment_bytes & 0xFFFF)
    segment = segment[:16] + _checksum(pseudo + segment) + segment[18:]
    ethernet = far_mac.to_bytes(6, "big") + mac.to_bytes(6, "big") + b"\x08\x00"
    return ethernet + ip + segment


def _options(skb: Skb) -> bytes:
    """Timestamps and SACK, padded to words as Linux does (`tcp_options_write`).

    Where timestamps count on the wire, but no mechanism looks at their values, there is padding.
    """
    found = b""
    if skb.tsval >= 0:
        stamps = struct.pack(">II", skb.tsval & 0xFFFFFFFF, max(skb.tsecr, 0) & 0xFFFFFFFF)
        found += b"\x01\x01\x08\x0a" + stamps
    if skb.sack:
        blocks = _blocks(skb.sack)[: 3 if found else 4]
        found += bytes([1, 1, 5, 2 + 8 * len(blocks)]) + b"".join(blocks)
    frame_bytes = skb.wire_bytes - UNCOUNTED_BYTES
    room = frame_bytes - _PLAIN_BYTES - (skb.end_seq - skb.seq)
    if frame_bytes > _LEAST_FRAME_BYTES and len(found) < room <= _MOST_OPTIONS_BYTES:
        found += bytes([1]) * (room - len(found))
    return found


def _blocks(sack: Iterable[tuple[int, int]]) -> list[bytes]:
    return [struct.pack(">II", first & 0xFFFFFFFF, last & 0xFFFFFFFF) for first, last in sack]


def _checksum(data: bytes) -> bytes:
    """The Internet checksum (RFC 1071) of an even number of bytes."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, fixed: bytes, options: bytes) -> bytes:
    """A block of pcapng: its type and length around what it holds."""
    body = fixed + (options + struct.pack("<HH", 0, 0) if options else b"")
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length
