"""Ports that hang on USB."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Clear, Found, Hit, Rule

# of a bus of 480 Mbit/s, in Mbit/s
_USB_2: Final = 480


def _slow(evidence: Evidence) -> Iterator[Found]:
    speeds = evidence.of("phy", "Speed")
    for bus in {one.subject: one for one in evidence.of("usb", "rate")}.values():
        faster = [speed for speed in speeds if speed.value > bus.value]
        said = f"the bus of {bus.subject} has {bus.text}"
        if bus.value > _USB_2:
            yield Clear(bus, said)
        elif faster:
            said += f", its port {faster[0].text}"
            yield Hit(bus.subject, (bus, faster[0]), said, 68, "likely")
        else:
            yield Hit(bus.subject, (bus,), said, 45, "possible")


RULES: Final = (
    Rule(
        "usb-2",
        "PCIe",
        "The network device of {subject} hangs on a slow USB port",
        "lsusb -t, Speed of ethtool",
        "480 Mbit/s: USB 2.0",
        "A bus of 480 Mbit/s carries some 300 Mbit/s of packets, one way at a time, and shares that"
        " with all that hangs on it.",
        "Plug it into a port of USB 3 (SuperSpeed, often blue), with a cable for it.",
        "Linux Documentation/usb/ehci.rst; man lsusb",
        _slow,
        outside=True,
    ),
)
