"""The interfaces of a pcapng file, each as a file of its own: dpkt reads one interface alone.

Source: "PCAP Next Generation (pcapng) Capture File Format", draft-ietf-opsawg-pcapng: blocks of
type, length, body and length again; section header 0x0A0D0D0A, interface description 1, enhanced
packet 6, whose body begins with the number of its interface.
"""

import struct
from typing import Final

_SECTION: Final = 0x0A0D0D0A
_INTERFACE: Final = 1
_PACKET: Final = 6
_LITTLE: Final = bytes.fromhex("4d3c2b1a")
_LEAST: Final = 12
_MOST: Final = 64


def interfaces(data: bytes) -> list[bytes]:
    """The file of each interface of the first section; the file as it is where there is one."""
    if data[:4] != _SECTION.to_bytes(4, "big"):
        return [data]
    order = "<" if data[8:12] == _LITTLE else ">"
    section, described, packets = b"", list[bytes](), list[list[bytes]]()
    place = 0
    while place + _LEAST <= len(data):
        kind, length = struct.unpack_from(f"{order}II", data, place)
        if length < _LEAST or (kind == _SECTION and place):
            break
        block = data[place : place + length]
        if kind == _SECTION:
            section = block
        elif kind == _INTERFACE:
            described.append(block)
            packets.append([])
        elif kind == _PACKET and len(block) >= _LEAST:
            (number,) = struct.unpack_from(f"{order}I", block, 8)
            if number < len(packets):
                packets[number].append(block)
        place += length
    if not 1 < len(described) <= _MOST:
        return [data]
    return [
        b"".join((section, one, *blocks)) for one, blocks in zip(described, packets, strict=True)
    ]
