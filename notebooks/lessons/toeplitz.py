"""The Toeplitz hash by hand: 96 windows of the key, and the XOR of those whose bit is 1.

Source: Microsoft, "RSS hashing functions" and "Verifying the RSS hash calculation".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from ipaddress import IPv4Address
from operator import xor
from typing import TYPE_CHECKING, Final

import numpy as np

from lessons.drawing import VERMILION, heading
from simnet.net.nic.rss import MICROSOFT_KEY, Toeplitz

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_BITS: Final = 32
_BORDERS: Final = (31.5, 63.5, 79.5)
_PARTS: Final = {
    16: "source address",
    48: "destination address",
    72: "source port",
    88: "dest. port",
}


@dataclass(frozen=True)
class Vector:
    """Addresses and ports of a packet."""

    source: str
    source_port: int
    destination: str
    destination_port: int

    def nic(self, key: bytes = MICROSOFT_KEY) -> int:
        """The hash as the simulator's NIC computes it, from tables."""
        ends = int(IPv4Address(self.source)), int(IPv4Address(self.destination))
        return int(Toeplitz(key).hash_tcp4(*ends, self.source_port, self.destination_port))


def windows(vector: Vector, key: bytes = MICROSOFT_KEY) -> list[tuple[bool, int]]:
    """For each bit of the input: is it 1, and the 32 bits of the key from there on."""
    data = b"".join(
        (
            IPv4Address(vector.source).packed,
            IPv4Address(vector.destination).packed,
            vector.source_port.to_bytes(2),
            vector.destination_port.to_bytes(2),
        )
    )
    keys = "".join(f"{byte:08b}" for byte in key)
    bits = "".join(f"{byte:08b}" for byte in data)
    return [(bit == "1", int(keys[place : place + _BITS], 2)) for place, bit in enumerate(bits)]


def _digits(numbers: list[int]) -> NDArray[np.int64]:
    """The bits of numbers, shape (32, numbers)."""
    return np.array([[int(digit) for digit in f"{number:032b}"] for number in numbers]).T


def draw(left: Axes, right: Axes, vector: Vector) -> None:
    """Draw the windows side by side, those whose bit is 1 dark, and on the right their XOR."""
    table = windows(vector)
    columns = _digits([window for _, window in table])
    chosen = np.array([bit for bit, _ in table])
    shade = np.where(columns, 0.35, 0.0)
    shade[:, chosen] = np.where(columns[:, chosen], 1.0, 0.12)
    total = reduce(xor, (window for bit, window in table if bit))
    left.imshow(shade, cmap="Blues", aspect="auto", vmin=0, vmax=1)
    right.imshow(_digits([total]), cmap="Oranges", aspect="auto", vmin=0, vmax=1.3)
    _label(left, right)


def _label(left: Axes, right: Axes) -> None:
    for border in _BORDERS:
        left.axvline(border, color=VERMILION)
    left.set_xticks(list(_PARTS), list(_PARTS.values()))
    left.set_xlabel("bit of the input (dark columns: it is 1)")
    left.set_ylabel("bit of the hash (0 is the highest)")
    right.set_xticks([0], ["hash"])
    right.set_ylabel("the hash (bits)")
    right.yaxis.set_label_position("right")
    heading(
        left,
        "The key slides along, so diagonals are of one shade; the hash is the XOR of the dark"
        " columns.",
    )
