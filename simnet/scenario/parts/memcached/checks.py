"""What a key-value server needs."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.places import Places
from simnet.scenario.core.subject import Need
from simnet.scenario.core.tree import Table, Tree

# as measured: what a build of so many more has taken
_CONNECTION_BYTES: Final = 10 << 10
_CONNECTION_PS: Final = 20 * 10**6
_MULTIPLIED: Final = ("hosts", "threads", "connections")


def check_memcached(tree: Tree, table: Table) -> None:
    """Refuse a server without its table, the hosts that ask it, or the CPUs of its workers."""
    if not asks_for(tree, table, "memcached", "memcached"):
        return
    if len(tree.get(("peers",))) != 1:
        message = "memcached: expected one peer, which stands for the clients' hosts"
        raise table.error(("workload", "test"), "workload.test", message)
    cpus = Places(tree).cpu_count(("host",))
    last = tree.get(("memcached", "first_cpu")) + tree.get(("memcached", "workers")) - 1
    if last >= cpus:
        message = f"worker threads run on CPUs up to {last}, the system has 0 to {cpus - 1}"
        raise table.error(
            ("memcached", "first_cpu"), "memcached", message, ("memcached", "workers")
        )


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the connections of the clients take."""
    if "memcached" in tree.values:
        hosts, threads, each = (tree.get(("memcached", field)) for field in _MULTIPLIED)
        yield Need(
            ("memcached", "connections"),
            each,
            hosts * threads * each,
            "connections",
            _CONNECTION_BYTES,
            _CONNECTION_PS,
            (("memcached", "hosts"), ("memcached", "threads")),
        )
