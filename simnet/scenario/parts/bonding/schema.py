"""What a bond consists of."""

from typing import Annotated

from simnet.net.bonding.hash import POLICIES
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, PortName, count, time
from simnet.scenario.parts.host.schema import Kernel


class Bonding(Section):
    """The module parameters of the bonding driver; the defaults are the driver's.

    A port is a slave when its `enslaved` is set; without slaves there is no bond.
    """

    mode: Annotated[
        str,
        Choice(
            "how a bond sends, and what it needs of the switch",
            (
                "balance-rr",
                "active-backup",
                "balance-xor",
                "broadcast",
                "802.3ad",
                "balance-tlb",
                "balance-alb",
            ),
        ),
    ] = "balance-rr"
    miimon_ps: Annotated[
        int, time("interval at which links are looked at; 0 for never", "0 ms", "100 s")
    ] = 0
    updelay_ps: Annotated[int, time("time until a link that came counts", "0 ms", "1000 s")] = 0
    downdelay_ps: Annotated[int, time("time until a link that went counts", "0 ms", "1000 s")] = 0
    xmit_hash_policy: Annotated[
        str, Choice("what chooses the slave in balance-xor and 802.3ad", POLICIES)
    ] = "layer2"
    primary: Annotated[
        str, PortName("preferred slave of active-backup, balance-tlb, balance-alb; or none")
    ] = "none"


class BondingKernel(Kernel):
    """What a kernel has of bonds."""

    bond_lines: Annotated[int, count("cache lines of a bond that sending a frame writes", 0, 64)]
