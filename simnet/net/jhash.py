"""Bob Jenkins' hashes as Linux has them (include/linux/jhash.h).

Up to 2.6.37 it is his function of 1996 (lookup2), from 2.6.38 that of 2006 (lookup3). The kernel
hashes connections with it, with a random number of its own as `initval`.
"""

from __future__ import annotations

__all__ = ["jhash_1word", "jhash_3words"]

_WORD = 0xFFFFFFFF
_GOLDEN_RATIO = 0x9E3779B9
_INITVAL = 0xDEADBEEF
# lookup2: pairs of shift are to the right, to the left, to the right
_ROUNDS = ((13, 8, 13), (12, 16, 5), (3, 10, 15))


def _mix(a: int, b: int, c: int) -> int:
    """`__jhash_mix` of lookup2; only `c` is used."""
    for first, second, third in _ROUNDS:
        a = (a - b - c & _WORD) ^ c >> first
        b = (b - c - a & _WORD) ^ a << second & _WORD
        c = (c - a - b & _WORD) ^ b >> third
    return c


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD


def _final(a: int, b: int, c: int) -> int:
    """`__jhash_final` of lookup3."""
    c = (c ^ b) - _rotated(b, 14) & _WORD
    a = (a ^ c) - _rotated(c, 11) & _WORD
    b = (b ^ a) - _rotated(a, 25) & _WORD
    c = (c ^ b) - _rotated(b, 16) & _WORD
    a = (a ^ c) - _rotated(c, 4) & _WORD
    b = (b ^ a) - _rotated(a, 14) & _WORD
    return (c ^ b) - _rotated(b, 24) & _WORD


def jhash_3words(a: int, b: int, c: int, initval: int, *, lookup3: bool = False) -> int:
    """Hash three words of 32 bits.

    Args:
        a: the first word.
        b: the second.
        c: the third.
        initval: 32 bits.
        lookup3: the function of Linux 2.6.38 and later.

    Returns:
        32 bits.
    """
    constant = _INITVAL if lookup3 else _GOLDEN_RATIO
    function = _final if lookup3 else _mix
    return function(a + constant & _WORD, b + constant & _WORD, c + initval & _WORD)


def jhash_1word(a: int, initval: int, *, lookup3: bool = False) -> int:
    """Hash one word of 32 bits; see `jhash_3words`."""
    return jhash_3words(a, 0, 0, initval, lookup3=lookup3)
