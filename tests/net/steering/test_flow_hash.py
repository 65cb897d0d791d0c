"""The kernel's connection hash: against what its headers compute, and against Jenkins' vector."""

import socket
import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.net.steering.flow_hash import connection_hash, jhash2_3words, jhash3_3words

WORD = 0xFFFFFFFF
WORDS = st.integers(0, WORD)
PORTS = st.integers(0, 65535)


def ip(text: str) -> int:
    return int.from_bytes(socket.inet_aton(text), "big")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        # include/linux/jhash.h of 2.6.32-131, compiled
        ((0, 0, 0, 0), 0xBD49D10D),
        ((1, 2, 3, 4), 0xD1222A50),
        ((WORD, WORD, WORD, WORD), 0x17F43626),
        ((0x0100A8C0, 0x0200A8C0, 0x50001234, 0xDEADBEEF), 0x046B30D4),
    ],
)
def test_second_hash(words: tuple[int, int, int, int], value: int) -> None:
    assert jhash2_3words(*words) == value


def test_third_hash_ends_the_published_vector() -> None:
    """lookup3.c: hashlittle("Four score and seven years ago", 30, 0) is 0x17770551."""

    def rotated(word: int, places: int) -> int:
        return (word << places | word >> (32 - places)) & WORD

    text = b"Four score and seven years ago"
    a = b = c = (0xDEADBEEF + len(text)) & WORD
    for start in (0, 12):
        x, y, z = struct.unpack("<III", text[start : start + 12])
        a, b, c = (a + x) & WORD, (b + y) & WORD, (c + z) & WORD
        for places in (4, 6, 8, 16, 19, 4):
            a = (a - c) & WORD ^ rotated(c, places)
            c = (c + b) & WORD
            a, b, c = b, c, a
    x, y = struct.unpack("<II", text[24:].ljust(8, b"\0"))
    # jhash_3words adds its own initial value to the first two words
    initial = 0xDEADBEEF
    assert jhash3_3words((a + x - initial) & WORD, (b + y - initial) & WORD, c, 0) == 0x17770551


def test_words_are_read_as_a_little_endian_machine_does() -> None:
    """The same header and the packet's 12 bytes, compiled."""
    packet = (ip("192.168.0.9"), ip("192.168.1.1"), 40000, 8080)
    assert connection_hash(*packet, 0x12345678, symmetric=False, lookup3=False) == 0x9424BC6B


@given(WORDS, WORDS, PORTS, PORTS, WORDS)
def test_symmetric_hash_is_the_same_for_both_directions(
    here: int, there: int, port: int, other: int, seed: int
) -> None:
    for lookup3 in (False, True):
        out = connection_hash(here, there, port, other, seed, symmetric=True, lookup3=lookup3)
        back = connection_hash(there, here, other, port, seed, symmetric=True, lookup3=lookup3)
        assert out == back
        assert 0 <= out <= WORD


def test_the_hash_of_2_6_32_is_not() -> None:
    packet = (ip("10.0.0.1"), ip("10.0.0.2"), 1000, 2000)
    back = (packet[1], packet[0], packet[3], packet[2])
    assert connection_hash(*packet, 7, symmetric=False, lookup3=False) != connection_hash(
        *back, 7, symmetric=False, lookup3=False
    )


@pytest.mark.parametrize(("lookup3", "words_hash"), [(False, jhash2_3words), (True, jhash3_3words)])
def test_both_hashes_take_the_packets_twelve_bytes_as_three_words(
    lookup3: bool,  # noqa: FBT001 - a parameter
    words_hash: Callable[[int, int, int, int], int],
) -> None:
    packet = (ip("192.168.0.9"), ip("192.168.1.1"), 40000, 8080)
    first, second, third = struct.unpack("<III", struct.pack(">IIHH", *packet))
    found = connection_hash(*packet, 0x12345678, symmetric=False, lookup3=lookup3)
    assert found == words_hash(first, second, third, 0x12345678)
