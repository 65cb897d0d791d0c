"""Jobs on a parallel file system."""

from simnet.scenario.core.subject import ModelFiles, Part, Subject
from simnet.scenario.parts.sas.schema import Gpfsperf, SasMix

SUBJECT = Subject(
    "sas",
    models=(ModelFiles("workload", "workloads", SasMix, order=130),),
    parts=(
        Part(
            "sas",
            SasMix,
            key="sas",
            doc="workload model: SAS mixed analytics",
            kind="workload",
            order=100,
        ),
        Part(
            "gpfsperf",
            Gpfsperf,
            key="gpfsperf",
            doc="arguments of gpfsperf, with type = gpfsperf",
            early=True,
            order=105,
        ),
    ),
)
