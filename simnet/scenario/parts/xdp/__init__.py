"""Programs of XDP, and a generator of packets for them."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.xdp.schema import Xdp

SUBJECT = Subject(
    "xdp",
    order=96,
    parts=(Part("xdp", Xdp, key="xdp", doc="packets and the program, with test = xdp", order=117),),
    setups=(
        Setup(
            late("xdp.build:build"),
            types=("xdp",),
            tests=("xdp",),
            doc=", xdp has a program of XDP on the first port, and a generator that waits for"
            " nothing",
            load="media",
            rate="xdp.rate",
            order=17,
        ),
    ),
    check=late("xdp.checks:check_xdp"),
    columns=late("xdp.columns:COLUMNS"),
)
