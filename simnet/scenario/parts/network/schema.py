"""What a model of a switch consists of."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, rate, size, time


class Switch(Section):
    """A store-and-forward switch."""

    link_rate_bps: Annotated[int, rate("rate of a port", "1 Mbit/s", "1 Tbit/s")]
    latency_ps: Annotated[int, time("last bit in to first bit out, port idle", "0 ns", "1 ms")]
    cable_delay_ps: Annotated[int, time("propagation on one cable", "0 ns", "1 ms")]
    buffer_per_port_bytes: Annotated[
        int, size("packet buffer that one egress port may fill", "1 KiB", "1 GiB")
    ]
    load_balance: Annotated[
        str,
        Choice(
            "addresses that choose the port of an EtherChannel",
            ("src-mac", "dst-mac", "src-dst-mac", "src-ip", "dst-ip", "src-dst-ip"),
        ),
    ]
    pause: Annotated[bool, Flag("global pause, 802.3x, is on at all ports")] = False
    pause_xoff_bytes: Annotated[
        int, size("frames of one ingress port in the buffer that make it pause", "0 B", "1 GiB")
    ] = 0
