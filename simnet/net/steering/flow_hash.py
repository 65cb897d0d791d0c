"""The kernel's hash of a connection, by which it steers packets (`skb->rxhash`).

Source: include/linux/jhash.h (Bob Jenkins' second and third hash for three words) and
`get_rps_cpu`, `__skb_get_rxhash` in net/core/dev.c. The words are what an x86 CPU reads from
the packet: network byte order seen by a little-endian machine.
"""

import cython

_WORD: cython.longlong = 0xFFFFFFFF
_GOLDEN_RATIO: cython.longlong = 0x9E3779B9
_INITIAL: cython.longlong = 0xDEADBEEF


def jhash2_3words(
    a: cython.longlong, b: cython.longlong, c: cython.longlong, seed: cython.longlong
) -> cython.longlong:
    """`jhash_3words` up to 2.6.37: 32 bits."""
    a = (a + _GOLDEN_RATIO) & _WORD
    b = (b + _GOLDEN_RATIO) & _WORD
    c = (c + seed) & _WORD
    a = ((a - b - c) & _WORD) ^ (c >> 13)
    b = ((b - c - a) & _WORD) ^ ((a << 8) & _WORD)
    c = ((c - a - b) & _WORD) ^ (b >> 13)
    a = ((a - b - c) & _WORD) ^ (c >> 12)
    b = ((b - c - a) & _WORD) ^ ((a << 16) & _WORD)
    c = ((c - a - b) & _WORD) ^ (b >> 5)
    a = ((a - b - c) & _WORD) ^ (c >> 3)
    b = ((b - c - a) & _WORD) ^ ((a << 10) & _WORD)
    return ((c - a - b) & _WORD) ^ (b >> 15)


def _rotated(word: cython.longlong, places: cython.int) -> cython.longlong:
    return ((word << places) | (word >> (32 - places))) & _WORD


def jhash3_3words(
    a: cython.longlong, b: cython.longlong, c: cython.longlong, seed: cython.longlong
) -> cython.longlong:
    """`jhash_3words` from 2.6.38 on: 32 bits."""
    a = (a + _INITIAL) & _WORD
    b = (b + _INITIAL) & _WORD
    c = (c + seed) & _WORD
    c = ((c ^ b) - _rotated(b, 14)) & _WORD
    a = ((a ^ c) - _rotated(c, 11)) & _WORD
    b = ((b ^ a) - _rotated(a, 25)) & _WORD
    c = ((c ^ b) - _rotated(b, 16)) & _WORD
    a = ((a ^ c) - _rotated(c, 4)) & _WORD
    b = ((b ^ a) - _rotated(a, 14)) & _WORD
    return ((c ^ b) - _rotated(b, 24)) & _WORD


def _swapped(word: cython.longlong) -> cython.longlong:
    """Four bytes the other way round."""
    return (word >> 24) | (word >> 8 & 0xFF00) | (word << 8 & 0xFF0000) | (word << 24 & _WORD)


def connection_hash(
    source_ip: cython.longlong,
    destination_ip: cython.longlong,
    source_port: cython.longlong,
    destination_port: cython.longlong,
    seed: cython.longlong,
    symmetric: cython.bint,
    lookup3: cython.bint,
) -> cython.longlong:
    """Hash of a TCP segment's addresses and ports: 32 bits.

    Args:
        source_ip: 32 bits.
        destination_ip: 32 bits.
        source_port: 16 bits.
        destination_port: 16 bits.
        seed: `hashrnd`, 32 bits.
        symmetric: the same for both directions.
        lookup3: Jenkins' third hash, else his second.
    """
    source: cython.longlong = _swapped(source_ip & _WORD)
    destination: cython.longlong = _swapped(destination_ip & _WORD)
    first: cython.longlong = (source_port & 0xFF) << 8 | source_port >> 8 & 0xFF
    second: cython.longlong = (destination_port & 0xFF) << 8 | destination_port >> 8 & 0xFF
    other: cython.longlong
    if symmetric and destination < source:
        other = source
        source = destination
        destination = other
    if symmetric and second < first:
        other = first
        first = second
        second = other
    if lookup3:
        return jhash3_3words(source, destination, first | second << 16, seed)
    return jhash2_3words(source, destination, first | second << 16, seed)
