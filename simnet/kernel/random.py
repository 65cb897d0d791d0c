"""Random streams: one for each component, none of which knows of another.

A stream is seeded by a hash of the scenario's seed and of the component's path, so that adding a
component changes no other's numbers. Draws that become event times use integers alone: the bits
of NumPy's PCG64, which NumPy promises not to change (NEP 19), and no function of a platform's
mathematical library. They are the same on every machine.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import cython

from simnet.kernel.compiled import ConstArray, native

if TYPE_CHECKING:
    from numpy.random import PCG64, Generator

BLOCK: cython.int = 64


@native
def high_product(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """Return the high half of the 128-bit product of two 64-bit numbers."""
    return a * b >> 64


_LARGEST_RAW: cython.ulonglong = (1 << 64) - 1
# An exponential draw stays below 64 times its mean as surely as anything does.
_LARGEST_MEAN_PS: cython.longlong = 1 << 55

# copying it takes half the time of making another
_EMPTY = blake2b(digest_size=16)

# of NumPy's SeedSequence
_WORD: cython.ulonglong = 0xFFFFFFFF
_INIT_A: cython.ulonglong = 0x43B0D7E5
_MULTIPLY_A: cython.ulonglong = 0x931E8875
_INIT_B: cython.ulonglong = 0x8B51F9DD
_MULTIPLY_B: cython.ulonglong = 0x58F38DED
_MIX_LEFT: cython.ulonglong = 0xCA01F9DD
_MIX_RIGHT: cython.ulonglong = 0x4973F715
# of PCG64
_PCG_HIGH: cython.ulonglong = 0x2360ED051FC65DA4
_PCG_LOW: cython.ulonglong = 0x4385DF649FCCF645


@cython.final
@cython.cclass
class RandomStream:
    """Random numbers for one component."""

    path: str = None  # the component's path, or what else the stream is for
    seed: Any = None  # the scenario's seed
    _bits: Any = None
    _generator: Any = None
    _block: ConstArray[cython.ulonglong] = None
    _next: cython.int = 0

    def __init__(self, seed: int, path: str) -> None:
        self.seed = seed
        self.path = path
        self._bits = _pcg64(seed, path, "integers")
        self._next = BLOCK

    @property
    def generator(self) -> Generator:
        """A NumPy generator, for statistics; independent of the integer draws.

        What it draws may differ between versions of NumPy, and must not become an event's time.
        """
        if self._generator is None:
            from numpy.random import Generator

            self._generator = Generator(_pcg64(self.seed, self.path, "generator"))
        generator: Generator = self._generator
        return generator

    def raw(self) -> cython.ulonglong:
        """Return 64 random bits."""
        if self._next == BLOCK:
            self._block = memoryview(self._bits.random_raw(BLOCK))
            self._next = 0
        bits: cython.ulonglong = self._block[self._next]
        self._next += 1
        return bits

    def below(self, count: cython.longlong) -> cython.longlong:
        """Return an integer from 0 to `count` - 1, all equally likely; ValueError if none is."""
        bits: cython.ulonglong
        uneven: cython.ulonglong
        if count < 1:
            message = f"{self.path}: no number is below {count}"
            raise ValueError(message)
        uneven = _uneven(count)
        bits = self.raw()
        while bits < uneven:
            bits = self.raw()
        return bits % count

    def exponential_ps(self, mean_ps: cython.longlong) -> cython.longlong:
        """Return a time in ps, exponentially distributed, rounded down.

        The mean is a time from 0 to 2**55 ps (10 hours), else ValueError. The method is von
        Neumann's ("Various techniques used in connection with random digits", 1951), which only
        compares: a uniform number is the fraction of an exponential one if the descending run
        that begins with it has odd length; every run of even length adds 1.
        """
        whole: cython.longlong = 0
        first: cython.ulonglong
        least: cython.ulonglong
        other: cython.ulonglong
        odd: cython.bint
        if mean_ps < 0 or mean_ps > _LARGEST_MEAN_PS:
            message = f"{self.path}: a mean of {mean_ps} ps is not from 0 to {_LARGEST_MEAN_PS}"
            raise ValueError(message)
        while True:
            first = self.raw()
            least = first
            odd = True
            while True:
                other = self.raw()
                if other >= least:
                    break
                least = other
                odd = not odd
            if odd:
                break
            whole += 1
        return mean_ps * whole + high_product(mean_ps, first)


@cython.cfunc
def _digest(seed: Any, path: str, purpose: str) -> bytes:
    hasher = _EMPTY.copy()
    hasher.update(f"{int(seed)}\0{path}\0{purpose}".encode())
    digest: bytes = hasher.digest()
    return digest


def _pcg64(seed: int, path: str, purpose: str) -> PCG64:
    # NumPy takes a tenth of a second to import, and most commands that read models draw nothing
    from numpy.random import PCG64

    return PCG64(int.from_bytes(_digest(seed, path, purpose), "big"))


@cython.overflowcheck(False)  # modulo 2**64, as NumPy has it
def first_raw(seed: Any, path: str) -> cython.ulonglong:
    """Return the first 64 bits of the stream of a component that needs no more.

    The same as ``stream(seed, path).raw()``, in a tenth of its time: ten thousand sockets have one
    such number each. Source: `SeedSequence` and PCG64 (XSL-RR) of NumPy,
    numpy/random/bit_generator.pyx and numpy/random/src/pcg64/pcg64.h.
    """
    words = cython.declare(cython.ulonglong[4])  # type: ignore[misc, valid-type]  # a C array
    high: cython.ulonglong
    low: cython.ulonglong
    more_high: cython.ulonglong
    more_low: cython.ulonglong
    turned: cython.ulonglong
    _seed_words(_digest(seed, path, "integers"), words)
    more_high = (words[2] << 1 | words[3] >> 63) & _LARGEST_RAW
    more_low = (words[3] << 1 | 1) & _LARGEST_RAW
    low = (words[1] + more_low) & _LARGEST_RAW
    high = (words[0] + more_high + (low < more_low)) & _LARGEST_RAW
    for _ in range(2):
        high = (high_product(low, _PCG_LOW) + high * _PCG_LOW + low * _PCG_HIGH) & _LARGEST_RAW
        low = (low * _PCG_LOW + more_low) & _LARGEST_RAW
        high = (high + more_high + (low < more_low)) & _LARGEST_RAW
    turned = high >> 58
    high ^= low
    return (high >> turned | high << (64 - turned & 63)) & _LARGEST_RAW


def first_below(seed: Any, path: str, count: cython.longlong) -> cython.longlong:
    """Return the first number of a stream below `count`, as ``stream(seed, path).below(count)``."""
    bits: cython.ulonglong = first_raw(seed, path)
    if count < 1 or bits < _uneven(count):
        return stream(seed, path).below(count)
    return bits % count


def _uneven(count: cython.longlong) -> cython.ulonglong:
    """How many of 2**64 values are drawn again, as they do not divide evenly into `count`."""
    return (_LARGEST_RAW - cython.cast(cython.ulonglong, count) + 1) % count


@cython.overflowcheck(False)  # likewise
def _seed_words(entropy: bytes, words: cython.p_ulonglong) -> cython.int:
    """Fill the four words of 64 bits that `SeedSequence` makes of 128 bits."""
    pool = cython.declare(cython.ulonglong[4])  # type: ignore[misc, valid-type]  # a C array
    constant: cython.ulonglong = _INIT_A
    value: cython.ulonglong
    low: cython.ulonglong = 0
    high: cython.ulonglong = 0
    place: cython.int
    source: cython.int
    for place in range(8):
        high = (high << 8 | cython.cast(cython.uchar, entropy[place])) & _LARGEST_RAW
        low = (low << 8 | cython.cast(cython.uchar, entropy[place + 8])) & _LARGEST_RAW
    for place in range(4):
        value = (high if place > 1 else low) >> (32 * (place & 1)) & _WORD ^ constant
        constant = constant * _MULTIPLY_A & _WORD
        value = value * constant & _WORD
        pool[place] = value ^ value >> 16
    for source in range(4):
        for place in range(4):
            if source != place:
                value = pool[source] ^ constant
                constant = constant * _MULTIPLY_A & _WORD
                value = value * constant & _WORD
                value ^= value >> 16
                value = (_MIX_LEFT * pool[place] - _MIX_RIGHT * value) & _WORD
                pool[place] = value ^ value >> 16
    constant = _INIT_B
    for place in range(8):
        value = pool[place & 3] ^ constant
        constant = constant * _MULTIPLY_B & _WORD
        value = value * constant & _WORD
        value ^= value >> 16
        if place & 1:
            words[place >> 1] |= value << 32
        else:
            words[place >> 1] = value
    return 0


def stream(seed: int, path: str) -> RandomStream:
    """Return the random stream of the component `path` in a scenario with `seed`."""
    return RandomStream(seed, path)
