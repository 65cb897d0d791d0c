"""Intel 82576, 82580, I350, I354, I210 and I211 with the driver igb."""

from __future__ import annotations

from typing import ClassVar, Literal

from simnet.scenario.parts.nic.gigabit import Gigabit

__all__ = ["DRIVER"]


class Igb(Gigabit):
    """A gigabit port."""

    most_usecs: ClassVar[int] = 8191
    ring_counter: ClassVar[str] = "rx_fifo_errors"

    driver: Literal["igb"]


DRIVER = Igb
