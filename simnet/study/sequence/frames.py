"""The TCP segments in a capture: pcapng or pcap, of simnet, tcpdump or Wireshark.

Files come from strangers. Their bytes and frames are bounded; what is no TCP over IP is left out;
what is cut off is read up to there. dpkt parses.
"""

import io
import socket
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import dpkt

from simnet.errors import InputError
from simnet.files import read_bytes
from simnet.study.sequence.interfaces import interfaces

MOST_BYTES: Final = 256 << 20
_MOST_FRAMES: Final = 500_000
_MAGIC: Final = frozenset(
    bytes.fromhex(one) for one in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1")
)
_BROKEN: Final = (
    dpkt.Error,
    struct.error,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    ArithmeticError,
)
_RAW: Final = (12, 14, 101)
_LATEST_S: Final = 1e12

End: TypeAlias = tuple[str, int]
"""IP address and TCP port of one end of a connection."""


@dataclass(frozen=True)
class Frame:
    """One frame with a TCP segment."""

    time_s: float  # as the capture has it
    # ends of the connection
    source: End
    destination: End
    # 32-bit numbers
    seq: int
    ack: int
    payload: int  # bytes
    window: int  # as in the header, not scaled
    # flags
    syn: bool
    acks: bool
    scale: int | None  # of the option of a SYN; None where there is none
    sack: tuple[tuple[int, int], ...]  # blocks, 32-bit numbers

    @property
    def ends(self) -> frozenset[End]:
        """Of its connection, in whichever way it went."""
        return frozenset((self.source, self.destination))


@dataclass(frozen=True)
class Frames:
    """What was read."""

    frames: tuple[Frame, ...]  # with TCP, in the order of the file
    others: int  # how many frames are of something else
    remarks: tuple[str, ...]  # one line each: what was cut


def read_frames(path: Path) -> Frames:
    """Read a capture.

    Raises:
        InputError: it cannot be read, or is no capture.
    """
    data = read_bytes(path, most_bytes=MOST_BYTES, kind="capture")
    if data[:4] not in _MAGIC:
        raise InputError("expected a capture: pcapng or pcap", file=path)
    files = interfaces(data)
    if len(files) == 1:
        return _of_one(files[0], path)
    read, refused = [], []
    for file in files:
        try:
            read.append(_of_one(file, path))
        except InputError as error:
            refused.append(error)
    if not read:
        raise refused[0]
    where: dict[frozenset[End], Counter[int]] = defaultdict(Counter)
    for number, one in enumerate(read):
        for frame in one.frames:
            where[frame.ends][number] += 1
    chosen = {ends: seen.most_common(1)[0][0] for ends, seen in where.items()}
    kept = [f for number, one in enumerate(read) for f in one.frames if chosen[f.ends] == number]
    remarks = dict.fromkeys(remark for one in read for remark in one.remarks)
    several = f"{len(files)} interfaces: each connection is read from the one that saw most of it"
    left_out = [f"an interface is left out: {error}" for error in refused]
    return Frames(
        tuple(sorted(kept, key=lambda frame: frame.time_s)),
        sum(one.others for one in read),
        (*remarks, *left_out, f"{path}: {several}"),
    )


def _of_one(data: bytes, path: Path) -> Frames:
    """Read the frames of one interface."""
    try:
        reader: Any = dpkt.pcap.UniversalReader(io.BytesIO(data))
        opened = _opener(reader.datalink())
    except _BROKEN as error:
        raise InputError(f"no capture: {_said(error)}", file=path) from error
    if opened is None:
        message = f"expected frames of Ethernet or IP, got link type {reader.datalink()}"
        raise InputError(message, file=path)
    found: list[Frame] = []
    others = 0
    remarks: list[str] = []
    for time_s, frame in _frames(reader, remarks, path):
        segment = _segment(time_s, frame, opened)
        if segment is None:
            others += 1
        else:
            found.append(segment)
    return Frames(tuple(found), others, tuple(remarks))


def _frames(reader: Any, remarks: list[str], path: Path) -> Iterator[tuple[float, bytes]]:
    """Yield time and bytes of each frame, as far as the file is whole."""
    rows = iter(reader)
    for number in range(_MOST_FRAMES):
        try:
            time_s, frame = next(rows)
            time_s = float(time_s)
        except StopIteration:
            return
        except _BROKEN as error:
            remarks.append(f"{path}: cut or broken after frame {number}: {_said(error)}")
            return
        if 0 <= time_s < _LATEST_S:
            yield time_s, bytes(frame)
    remarks.append(f"{path}: only the first {_MOST_FRAMES} frames are read")


def _opener(link: int) -> Callable[[bytes], Any] | None:
    """Return what takes the link's header off; None for a link that is not known."""
    if link == dpkt.pcap.DLT_EN10MB:
        return lambda frame: dpkt.ethernet.Ethernet(frame).data
    if link == dpkt.pcap.DLT_LINUX_SLL:
        return lambda frame: dpkt.sll.SLL(frame).data
    if link == dpkt.pcap.DLT_LINUX_SLL2:
        return lambda frame: dpkt.sll2.SLL2(frame).data
    return _packet if link in _RAW else None


def _packet(frame: bytes) -> Any:
    version = frame[0] >> 4
    return dpkt.ip6.IP6(frame) if version == 6 else dpkt.ip.IP(frame)  # noqa: PLR2004 - IPv6


def _segment(time_s: float, frame: bytes, opened: Callable[[bytes], Any]) -> Frame | None:
    try:
        packet = opened(frame)
        if not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6):
            return None
        tcp = packet.data
        if not isinstance(tcp, dpkt.tcp.TCP):
            return None
        source, destination = _ends(packet, tcp)
        scale, sack = _options(tcp)
        return Frame(
            time_s=time_s,
            source=source,
            destination=destination,
            seq=tcp.seq,
            ack=tcp.ack,
            payload=max(_ip_payload(packet) - 4 * tcp.off, 0),
            window=tcp.win,
            syn=bool(tcp.flags & dpkt.tcp.TH_SYN),
            acks=bool(tcp.flags & dpkt.tcp.TH_ACK),
            scale=scale,
            sack=sack,
        )
    except (*_BROKEN, OSError):
        return None


def _ends(packet: Any, tcp: Any) -> tuple[End, End]:
    family = socket.AF_INET if isinstance(packet, dpkt.ip.IP) else socket.AF_INET6
    source, destination = (socket.inet_ntop(family, one) for one in (packet.src, packet.dst))
    return (source, tcp.sport), (destination, tcp.dport)


def _ip_payload(packet: Any) -> int:
    """Bytes of TCP, header included, as the IP header has it: captures may leave payload out."""
    if isinstance(packet, dpkt.ip.IP):
        whole = packet.len - 4 * packet.hl
        return int(whole if packet.len else len(packet.data))
    return int(packet.plen) - sum(len(header) for header in packet.all_extension_headers)


def _options(tcp: Any) -> tuple[int | None, tuple[tuple[int, int], ...]]:
    """Return the window scale, and the SACK blocks."""
    scale: int | None = None
    sack: list[tuple[int, int]] = []
    for kind, data in dpkt.tcp.parse_opts(tcp.opts):
        if kind == dpkt.tcp.TCP_OPT_WSCALE and len(data) == 1:
            scale = min(data[0], 14)  # RFC 7323, 2.3
        elif kind == dpkt.tcp.TCP_OPT_SACK and len(data) % 8 == 0:
            sack += struct.iter_unpack(">II", data)
    return scale, tuple(sack)


def _said(error: BaseException) -> str:
    if isinstance(error, dpkt.NeedData | struct.error):
        return "the file ends too early"
    return " ".join(str(error).split())[:80] or type(error).__name__
