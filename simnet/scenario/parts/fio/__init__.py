"""Jobs of fio on the drives of a host."""

from simnet.scenario.core.subject import Part, Setup, Subject, late
from simnet.scenario.parts.fio.schema import FioGroup

SUBJECT = Subject(
    "fio",
    order=60,
    parts=(
        Part(
            "fio", FioGroup, key="fio", doc="jobs of fio, with test = fio", several=True, order=136
        ),
    ),
    setups=(
        Setup(
            late("fio.build:build_fio"),
            late("fio.checks:check_fio"),
            types=("fio",),
            tests=("fio",),
            doc=", fio reads and writes an NVMe drive",
            load="requests",
            order=30,
        ),
    ),
    columns=late("fio.columns:COLUMNS"),
    needs=late("fio.checks:needs"),
    lifts=late("fio.lift:LIFTS"),
)
