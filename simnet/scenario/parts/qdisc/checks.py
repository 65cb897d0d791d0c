"""What a port needs for a queueing discipline."""

from typing import Final

from simnet.host.release import release
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import Nic
from simnet.scenario.parts.qdisc.schema import DISCIPLINES

_BQL_SINCE: Final = "3.3"


def check_queueing(tree: Tree, place: Path, table: Table) -> None:
    """Refuse disciplines and limits that a kernel lacks, or a driver has not here."""
    given = tree.get((*place, "qdisc"))
    fields = [
        field
        for field, asked in (
            ("default_qdisc", given["default_qdisc"] != "pfifo_fast"),
            ("bql", given["bql"]),
        )
        if asked
    ]
    version = tree.get((*place, "kernel"))["version"]
    for field in fields:
        path: Path = (*place, "qdisc", field)
        since = DISCIPLINES[given["default_qdisc"]] if field == "default_qdisc" else _BQL_SINCE
        if release(version) < release(since):
            message = f"of Linux {version} it is not modelled: expected {since} or later"
            raise table.error(path, "qdisc", message)
        for port in tree.get((*place, "ports")):
            driver = port["nic"]["driver"]
            having = [name for name, nic in Nic.variants().items() if nic.disciplines]
            if driver not in having:
                message = f"with the driver {driver} it is not modelled; it is with "
                raise table.error(path, "qdisc", message + ", ".join(sorted(having)))
