"""What short connections need, and which settings they alone read."""

import itertools
from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.net.listen.rules import FIRST
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.effective import Effective
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
_ACCEPTS: Final = (
    "somaxconn",
    "tcp_max_syn_backlog",
    "tcp_syncookies",
    "tcp_abort_on_overflow",
    "tcp_synack_retries",
)
_CONNECTS: Final = ("tcp_syn_retries",)


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


def unused(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing of this load reads, and why."""
    peers = [f"peers[{number}]" for number in range(len(effective.peers))]
    listens = effective.listen is not None
    for host in peers if listens else [*peers, "host"]:
        for field in _ACCEPTS:
            yield f"{host}.kernel.{field}", "no connection is accepted there"
    for host in ["host"] if listens else [*peers, "host"]:
        for field in _CONNECTS:
            yield f"{host}.kernel.{field}", "no connection begins there"
