"""IP over InfiniBand."""

from simnet.scenario.core.subject import ModelFiles, Part, Subject, Way, late
from simnet.scenario.parts.infiniband.schema import Fabric

SUBJECT = Subject(
    "infiniband",
    order=40,
    models=(ModelFiles("fabric", "fabrics", Fabric, order=50),),
    parts=(
        Part(
            "fabric",
            Fabric,
            key="fabric",
            doc="InfiniBand fabric model, in place of the switch; none if absent",
            kind="fabric",
            order=20,
        ),
    ),
    ways=(Way("fabric", late("infiniband.build:connect")),),
    drivers=late("infiniband.driver:DRIVERS"),
    check=late("infiniband.checks:check_fabric"),
    columns=late("infiniband.columns:COLUMNS"),
    lifts=late("infiniband.lift:LIFTS"),
)
