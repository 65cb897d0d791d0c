"""Intel 8254x with the driver e1000."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import count, time
from simnet.scenario.parts.nic.schema import Ethernet
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class Throttled(Ethernet):
    """A port whose chip keeps a time between its interrupts."""

    tx_int_delay_ps: Annotated[
        int, time("transmit gap that ends a batch: TxIntDelay", "0 us", "10 ms")
    ]


class E1000(Throttled):
    """A port with one rate of interrupts."""

    # in later ones the rate adapts, and there is GRO
    last: ClassVar[tuple[int, ...]] = (2, 6, 18)

    driver: Literal["e1000"]
    interrupt_throttle_rate: Annotated[
        int, count("interrupts per second at most; 0 is no limit", 0, 1000000)
    ]

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the module's parameters."""
        return (
            Knob(
                "modprobe e1000 InterruptThrottleRate",
                "interrupts per second at most, all ports of the driver",
                value_spec(cls, "interrupt_throttle_rate"),
                "nic",
                "interrupt_throttle_rate",
                "modprobe -r e1000; modprobe e1000 InterruptThrottleRate={value}",
            ),
        )

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.nic import e1000

        return e1000.E1000(
            slot.device, throttle_ps=self.interrupt_gap_ps, tx_delay_ps=self.tx_int_delay_ps
        )

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts."""
        rate = self.interrupt_throttle_rate
        return PS_PER_S // rate if rate else 0


DRIVER = E1000
