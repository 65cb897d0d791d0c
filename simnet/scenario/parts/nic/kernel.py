"""What a kernel has of network interfaces and NAPI."""

from typing import Annotated

from simnet.scenario.core.specs import Feature, count
from simnet.scenario.parts.host.schema import Kernel


class NicKernel(Kernel):
    """What a kernel has of network interfaces and NAPI."""

    netdev_lines: Annotated[
        int,
        count("cache lines of a port's queue and driver that sending or reclaiming writes", 0, 64),
    ]
    txqueuelen: Annotated[int, count("frames that wait when the transmit ring is full", 0, 100000)]
    gro: Annotated[bool, Feature("has generic receive offload", since="2.6.29")] = False
    irq_suspend: Annotated[
        bool, Feature("lets processes that poll busily suspend interrupts", since="6.13")
    ] = False
