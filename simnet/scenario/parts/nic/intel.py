"""What ice and i40e share: throttles for each direction, a limit, and the Flow Director."""

from typing import Annotated, Any, ClassVar

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import time
from simnet.scenario.parts.nic.channels import Channels, ethtool
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.page_parts import PageParts
from simnet.scenario.parts.nic.schema import Given, Slot
from simnet.time_units import PS_PER_US

_UNIT_US = 2
_LIMIT_UNIT_US = 4


class Throttled(PageParts, Channels):
    """A port of Intel's 700 or 800 series."""

    most_usecs: ClassVar[int] = 8160
    most_descriptors: ClassVar[int]  # of a ring
    limit_needs_fixed: ClassVar[bool] = False  # the limit may not be set while a direction adapts
    one_input_set: ClassVar[bool] = True
    rules_need_ntuple: ClassVar[bool] = True
    charges_datagrams: ClassVar[bool] = True

    ntuple: Annotated[bool, value_spec(FlowSteering, "ntuple")] = True
    rx_usecs_high_ps: Annotated[int, time("least time between interrupts", "0 us", "236 us")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse what `ethtool -C` and `-G` of the drivers refuse; see `Nic.check`."""
        super().check(given)
        port = given.tree.get(given.port)["name"]
        for way in ("rx", "tx"):
            if given[f"adaptive_{way}"] and given.typed(f"{way}_usecs_ps"):
                off = f"ethtool -C {port} adaptive-{way} off"
                message = f"{cls.name()} refuses {way}-usecs while adaptive-{way} is on: {off}"
                raise given.error(f"{way}_usecs_ps", message)
        adapts = [way for way in ("rx", "tx") if given[f"adaptive_{way}"]]
        if cls.limit_needs_fixed and adapts and given.typed("rx_usecs_high_ps"):
            off = " ".join(f"adaptive-{way} off" for way in adapts)
            message = f"{cls.name()} refuses rx-usecs-high while it adapts: ethtool -C {port} {off}"
            raise given.error("rx_usecs_high_ps", message)
        cls.refuse_longer(given, cls.most_descriptors)

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the limit, beside what all channels have."""
        high = ethtool(Throttled, "-C {port} rx-usecs-high", "rx_usecs_high_ps", unit="us")
        return (*super().knobs(), high)

    def throttles(self, slot: Slot) -> dict[str, Any]:
        """Return what the mechanisms of both drivers take; registers count in units."""
        unit, limit = _UNIT_US * PS_PER_US, _LIMIT_UNIT_US * PS_PER_US
        return {
            "gro": self.offload(slot),
            "tso": self.tso,
            "rx_itr_ps": self.rx_usecs_ps // unit * unit,
            "tx_itr_ps": self.tx_usecs_ps // unit * unit,
            "intrl_ps": self.rx_usecs_high_ps // limit * limit,
            "adaptive_rx": self.adaptive_rx,
            "adaptive_tx": self.adaptive_tx,
        }
