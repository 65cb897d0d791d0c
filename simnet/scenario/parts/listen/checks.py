"""What short connections need."""

import itertools
from typing import Final

from simnet.host.release import release
from simnet.net.listen.rules import FIRST
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.places import Places
from simnet.scenario.core.tree import Path, Table, Tree

_TEST: Final = "tcp_accept"
# of a way between the hosts, by their keys
_NOT_THERE: Final = {
    "jitter_ps": "jitter",
    "reorder_ppb": "reorder",
    "duplicate_ppb": "duplicate",
    "loss_ppb": "loss",
    "gemodel_p_ppb": "gemodel_p",
    "rate_bps": "rate",
}


def check_listen(tree: Tree, table: Table) -> None:
    """Refuse a load without its table, its peer or its CPUs, and ways that lose packets."""
    if not asks_for(tree, table, _TEST, "listen"):
        return
    path: Path = ("workload", "test")
    if len(tree.get(("peers",))) != 1:
        message = f"{_TEST}: expected one peer, which stands for the visitors"
        raise table.error(path, "workload.test", message)
    for way, field in itertools.product(("netem", "netem_to_system"), _NOT_THERE):
        if way in tree.values and tree.get((way, field)):
            message = (
                f"{_TEST}: answers are sent once and in order, so that of a way between the hosts"
                " only its delay is modelled"
            )
            raise table.error((way, field), f"{way}.{_NOT_THERE[field]}", message)
    given = tree.get(("listen",))
    cpus = Places(tree).cpu_count(("host",))
    last = given["first_cpu"] + given["workers"] - 1
    if given["placement"] == "pinned" and last >= cpus:
        message = f"workers run on CPUs up to {last}, the system has 0 to {cpus - 1}"
        raise table.error(("listen", "first_cpu"), "listen", message, ("listen", "workers"))


def check_host(tree: Tree, host: Path, table: Table) -> None:
    """Refuse kernels whose set-up of connections is not modelled."""
    path: Path = ("workload", "test")
    kernel = tree.get((*host, "kernel"))
    if tree.get(path) != _TEST:
        return
    if kernel["system"] != "linux" or release(kernel["version"]) < FIRST:
        said = f"connection set-up of {kernel['system']} {kernel['version']} is not modelled"
        raise table.error(path, "workload.test", f"{said}: Linux 4.10 on", (*host, "kernel"))
