"""What a key-value server needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.places import Places

if TYPE_CHECKING:
    from simnet.scenario.core.tree import Path, Table, Tree


__all__ = ["check_memcached"]


def check_memcached(tree: Tree, table: Table) -> None:
    """Refuse a server without its table, the hosts that ask it, or the CPUs of its workers."""
    if tree.get(("workload", "test")) != "memcached":
        return
    path: Path = ("workload", "test")
    if "memcached" not in tree.values:
        message = "memcached: the scenario has no table [memcached]"
        raise table.error(path, "workload.test", message)
    if len(tree.get(("peers",))) != 1:
        message = "memcached: expected one peer, which stands for the clients' hosts"
        raise table.error(path, "workload.test", message)
    cpus = Places(tree).cpu_count(("host",))
    last = tree.get(("memcached", "first_cpu")) + tree.get(("memcached", "workers")) - 1
    if last >= cpus:
        message = f"worker threads run on CPUs up to {last}, the system has 0 to {cpus - 1}"
        raise table.error(
            ("memcached", "first_cpu"), "memcached", message, ("memcached", "workers")
        )
