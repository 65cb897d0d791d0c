"""Receive-side scaling: which receive queue of a NIC a frame goes to.

The Toeplitz hash of a frame's addresses and ports, under a key, selects an entry of the
indirection table, and the entry is the queue. Source: Microsoft, "RSS hashing types" and
"Verifying the RSS hash calculation"; Documentation/networking/scaling.txt; ethtool 3.x
(`fill_indir_table`). The same for all frames of a connection, so their order is kept as long as
the table stays.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import cython

from simnet.errors import InputError
from simnet.kernel.compiled import Array
from simnet.net.link.skb import Header

if TYPE_CHECKING:
    from collections.abc import Sequence

#: the key that Microsoft verifies the hash with, which many drivers program
MICROSOFT_KEY = bytes.fromhex(
    "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
)

_KEY_BYTES = 40
_INPUT_BYTES = 12
_WORD = 0xFFFFFFFF


@cython.final
@cython.cclass
class Toeplitz:
    """The hash under one key.

    Args:
        key: 40 bytes.

    Raises:
        InputError: the key has another length.
    """

    words: Array[cython.longlong] = None

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY_BYTES:
            message = f"an RSS key has {_KEY_BYTES} bytes, this one {len(key)}"
            raise InputError(message)
        number = int.from_bytes(key, "big")
        bits = 8 * _KEY_BYTES
        # bit i of the input, the highest first, adds bits i to i + 31 of the key
        windows = [number >> (bits - 32 - i) & _WORD for i in range(8 * _INPUT_BYTES)]
        self.words = array("q", [0]) * (256 * _INPUT_BYTES)
        place: cython.int
        value: cython.int
        for place in range(_INPUT_BYTES):
            for value in range(256):
                word = 0
                for bit in range(8):
                    if value >> (7 - bit) & 1:
                        word ^= windows[8 * place + bit]
                self.words[256 * place + value] = word

    def hash_ip4(
        self, source_ip: cython.longlong, destination_ip: cython.longlong
    ) -> cython.longlong:
        """Hash the addresses of a packet that is no TCP segment: 32 bits."""
        return self._word(0, source_ip) ^ self._word(4, destination_ip)

    def hash_tcp4(
        self,
        source_ip: cython.longlong,
        destination_ip: cython.longlong,
        source_port: cython.longlong,
        destination_port: cython.longlong,
    ) -> cython.longlong:
        """Hash addresses and ports of a segment: 32 bits."""
        return self.hash_ip4(source_ip, destination_ip) ^ self._word(
            8, source_port << 16 | destination_port
        )

    def _word(self, place: cython.int, word: cython.longlong) -> cython.longlong:
        """What four bytes at a place of the input add."""
        result: cython.longlong = self.words[256 * place + (word >> 24 & 255)]
        result ^= self.words[256 * (place + 1) + (word >> 16 & 255)]
        result ^= self.words[256 * (place + 2) + (word >> 8 & 255)]
        result ^= self.words[256 * (place + 3) + (word & 255)]
        return result


def equal_table(entries: int, queues: int, first: int = 0) -> list[int]:
    """Deal the entries out to queues in turn (the default of most drivers)."""
    return [first + entry % queues for entry in range(entries)]


def block_table(entries: int, queues: int) -> list[int]:
    """Give each queue neighbouring entries (the default of igb, `igb_setup_mrqc`)."""
    return [entry * queues // entries for entry in range(entries)]


@cython.final
@cython.cclass
class Rss:
    """The stage of a NIC that sorts received frames.

    Raises:
        InputError: the table has another length.
    """

    toeplitz: Toeplitz = None  # the hash
    table: Array[cython.longlong] = None  # the indirection table, the length a power of two
    mask: cython.longlong = 0

    def __init__(self, toeplitz: Toeplitz, table: Sequence[int]) -> None:
        if len(table) & (len(table) - 1) or not table:
            message = f"an indirection table of {len(table)} entries; a power of two is needed"
            raise InputError(message)
        self.toeplitz = toeplitz
        self.table = array("q", table)
        self.mask = len(table) - 1

    def hash_of(self, header: Header) -> cython.longlong:
        """The hash of a connection, which is kept in its header."""
        if header.rss_hash < 0:
            header.rss_hash = self.toeplitz.hash_tcp4(
                header.source_ip,
                header.destination_ip,
                header.source_port,
                header.destination_port,
            )
        return header.rss_hash

    def queue(self, header: Header | None) -> cython.int:
        """The queue that a frame with this header is put into; the first without IP addresses."""
        number: cython.int = 0
        if header is not None and header.source_ip != 0:
            number = self.table[self.hash_of(header) & self.mask]
        return number
