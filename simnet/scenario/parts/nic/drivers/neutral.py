"""A card whose driver has no rules of its own here: only queues, rings and speed are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field

from simnet.scenario.core.specs import Choice, time
from simnet.scenario.parts.nic.channels import COMBINED, RSS_KNOBS
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import (
    FRAME_HEADER_BYTES,
    BusLatency,
    Ethernet,
    Polled,
    ReceiveOffload,
    Remaps,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.parts.nic.schema import Slot

# in 1/1000 of the frames
_SOME: Final = 500
_CALLED: Final = {"-C": "moderation", "-N": "a flow rule"}


class Neutral(BusLatency, ReceiveOffload, Polled, Multiqueue, Ethernet):
    """A port that is polled by NAPI, and whose moderation nobody knows."""

    driver: Literal["neutral"]
    stands_in_for: Annotated[
        str, Field(description="the driver that runs it on the host; empty: no file says it")
    ] = ""
    throttle_ps: Annotated[int, time("least time between two interrupts", "0 us", "10 ms")]
    checksum: Annotated[
        str, Choice("who computes and verifies TCP's checksums", ("device", "cpu"))
    ] = "device"

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the number of queues, where both ways are set together, and RSS."""
        return (COMBINED, *RSS_KNOBS)

    @classmethod
    def remaps(cls, version: str) -> Remaps:  # noqa: ARG003 - nobody knows of any
        """Return that nobody knows; see `Nic.remaps`."""
        why = "not known: drivers keep their buffers mapped, or map one for each frame"
        return Remaps(_SOME, why, 2 * _SOME)

    @classmethod
    def unknown(cls, knob: str, values: Mapping[str, Any]) -> str:
        """Return that nobody knows what moderation and the like do; see `Nic.unknown`."""
        tool, option, *_ = (*knob.split(), "")
        if tool != "ethtool":
            return ""
        what = _CALLED.get(option, f"ethtool {option}")
        name = values["stands_in_for"]
        return f"{what} of {f'the driver {name}' if name else 'this card'} is not modelled"

    @property
    def frame_buffer_bytes(self) -> int:
        """As many buffers as a full frame takes."""
        return self.whole_buffers_bytes(self.mtu_bytes + FRAME_HEADER_BYTES)

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts."""
        return self.throttle_ps

    @property
    def checksum_by_cpu(self) -> bool:
        """Whether the CPU computes and verifies TCP's checksums."""
        return self.checksum == "cpu"

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic import neutral

        made = neutral.Neutral(
            slot.device, self.offload(slot), tso=self.tso, gap_ps=self.throttle_ps
        )
        self.configure(made.instance, slot)
        return made


DRIVER = Neutral
