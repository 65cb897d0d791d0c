"""Drivers whose queues are channels: a receive and a transmit ring that share an interrupt."""

from typing import Annotated, Any, ClassVar, Final

from simnet.scenario.core.knob import Knob, Stage
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag, time
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.queues import Multiqueue, Queues
from simnet.scenario.parts.nic.schema import (
    BusLatency,
    Ethernet,
    Given,
    Nic,
    Polled,
    ReceiveOffload,
    RxUsecs,
)


def ethtool(section: type[Nic], typed: str, target: str, **more: Any) -> Knob:
    """Return the knob `ethtool TYPED VALUE`, with the range and the meaning of its target."""
    spec, name = value_spec(section, target), f"ethtool {typed}"
    return Knob(name, spec.doc, spec, "nic", target, f"{name} {{value}}", **more)


class Combined(Queues):
    """A port whose queues come in pairs."""

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse receive and transmit queues that are not channels; see `Nic.check`."""
        super().check(given)
        if given["rx_queues"] != given["tx_queues"]:
            name = given.tree.get(given.port)["name"]
            queues = f"{given['rx_queues']} receive and {given['tx_queues']} transmit queues"
            message = f"{cls.name()} has channels of both, not {queues}"
            raise given.error("rx_queues", f"{message}: ethtool -L {name} combined N", "tx_queues")

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the number of channels."""
        return (COMBINED,)


class AdaptiveRx(RxUsecs):
    """A port whose moderation of received frames may adapt to the traffic."""

    tx_usecs_ps: Annotated[int, time("transmit gap that ends a batch", "0 us", "10 ms")]
    adaptive_rx: Annotated[bool, Flag("moderation of receive interrupts adapts to the traffic")]


class Channels(
    FlowSteering, Combined, BusLatency, ReceiveOffload, AdaptiveRx, Polled, Multiqueue, Ethernet
):
    """A port with channels and flow rules, whose moderation may adapt to the traffic."""

    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True

    adaptive_tx: Annotated[bool, Flag("moderation of transmit interrupts adapts to the traffic")]

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return RSS, and what makes moderation adapt, too."""
        return (*super().knobs(), *CHANNEL_KNOBS)


COMBINED: Final = Knob(
    "ethtool -L {port} combined",
    "channels, each with a receive and a transmit queue",
    value_spec(Combined, "rx_queues"),
    "nic",
    "rx_queues",
    "ethtool -L {port} combined {value}",
    also=("tx_queues",),
    stage=Stage.QUEUES,
    restarts=True,
)
RSS_KNOBS: Final = (
    ethtool(
        Channels, "-X {port} equal", "rss_equal", unset="ethtool -X {port} default", since="2.6.36"
    ),
    ethtool(Channels, "-X {port} hkey", "rss_key", since="3.16"),
)
ADAPTIVE_RX: Final = ethtool(AdaptiveRx, "-C {port} adaptive-rx", "adaptive_rx")
CHANNEL_KNOBS: Final = (
    *RSS_KNOBS,
    ADAPTIVE_RX,
    ethtool(Channels, "-C {port} adaptive-tx", "adaptive_tx"),
)
