"""What a home router needs, and which of its settings nothing reads."""

from collections.abc import Iterator
from typing import Final, NoReturn

from simnet.host.release import release
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.places import Places
from simnet.scenario.core.tree import Path, Table, Tree

FIRST: Final = (5, 10)
"""The first version whose ports of a switch these are."""
_DRIVERS: Final = ("bcm4908_enet", "bgmac")
_PEERS: Final = 2


def check_gateway(tree: Tree, table: Table) -> None:
    """Refuse a load without its table, its port or its two sides, and what is not modelled."""
    if not asks_for(tree, table, "gateway", "gateway"):
        return
    path: Path = ("workload", "test")

    def refuse(message: str, *more: Path) -> NoReturn:
        raise table.error(path, "workload.test", f"gateway: {message}", *more)

    ports = tree.get(("host", "ports"))
    if len(ports) != 1 or len(tree.get(("peers",))) != _PEERS:
        refuse("expected one port, and two peers: of the wide area, and of the local network")
    driver = ports[0]["nic"]["driver"]
    if driver not in _DRIVERS:
        message = f"{driver} is not modelled: expected one of {', '.join(_DRIVERS)}"
        refuse(message, ("host", "ports", 0, "nic", "driver"))
    kernel = tree.get(("host", "kernel"))
    if kernel["system"] != "linux" or release(kernel["version"]) < FIRST:
        message = f"{kernel['system']} {kernel['version']} is not modelled: expected Linux 5.10 on"
        refuse(message, ("host", "kernel"))
    cpus = Places(tree).cpu_count(("host",))
    for cpu in tree.get(("gateway", "bridge_rps_cpus")):
        if cpu >= cpus:
            message = f"CPU {cpu}, but the machine has 0 to {cpus - 1}"
            raise table.error(("gateway", "bridge_rps_cpus"), "gateway.bridge_rps_cpus", message)


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    given = effective.gateway
    if given is None:
        return
    if given.flow_offload:
        yield "gateway.forward_cycles", "connections pass by the flow table"
    else:
        yield "gateway.offload_cycles", "there is no flow table"
