"""Intel 82571 to 82574 with the driver e1000e."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import count
from simnet.scenario.parts.nic.drivers.e1000 import Throttled
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot

# the modes that adapt, and the rate that they start from
_ADAPTIVE: Final = (1, 3)
_START_RATE: Final = 20000


class E1000e(Throttled):
    """A port whose driver adapts the rate of interrupts to the traffic."""

    driver: Literal["e1000e"]
    interrupt_throttle_rate: Annotated[
        int, count("interrupts per second at most; 0: no limit, 1 and 3: by the load", 0, 1000000)
    ]

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the module's parameters."""
        spec = value_spec(cls, "interrupt_throttle_rate")
        return (
            Knob(
                "modprobe e1000e InterruptThrottleRate",
                spec.doc,
                spec,
                "nic",
                "interrupt_throttle_rate",
                "modprobe -r e1000e; modprobe e1000e InterruptThrottleRate={value}",
            ),
        )

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.nic import e1000e

        return e1000e.E1000e(
            slot.device,
            interrupt_throttle_rate=self.interrupt_throttle_rate,
            tx_delay_ps=self.tx_int_delay_ps,
        )

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts; where it adapts, that of the rate it starts from."""
        rate = self.interrupt_throttle_rate
        rate = _START_RATE if rate in _ADAPTIVE else rate
        return PS_PER_S // rate if rate else 0


DRIVER = E1000e
