"""What a kernel has of packet steering."""

from __future__ import annotations

from typing import Annotated

from simnet.scenario.core.specs import Feature, count
from simnet.scenario.parts.host.schema import Kernel


class SteeringKernel(Kernel):
    """What a kernel has of packet steering."""

    rxhash_bits: Annotated[
        int,
        count(
            "bits of the hash that steers packets (skb->rxhash); 0: by the version, if it has it",
            0,
            32,
        ),
    ] = 0
    rps_index_shift: Annotated[
        int,
        count("a steered packet's place in its map is hash x length shifted by this", 1, 32),
    ] = 32
    softnet_lines: Annotated[
        int, count("cache lines of a CPU's backlog that queueing a packet there writes", 0, 64)
    ] = 2
    rps: Annotated[bool, Feature("has receive packet and flow steering", since="2.6.35")] = False
    xps: Annotated[bool, Feature("has transmit packet steering", since="2.6.38")] = False
    rps_sock_flow_entries: Annotated[
        int,
        count(
            "entries of the table of sockets' CPUs, rounded up to a power of two; 0: none",
            0,
            2**22,
        ),
    ] = 0
