"""What the drivers of network interfaces refuse, and which settings of flow rules nothing reads."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective, Host, Port
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.schema import Given, Nic


def check_nics(tree: Tree, place: Path, table: Table) -> None:
    """Set what the driver of each port of a host has of its own, and refuse what it refuses."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        given = Given(tree, place, (*place, "ports", number), table)
        driver = Nic.variants()[port["nic"]["driver"]]
        driver.settle(given)
        driver.check(given)


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
        for number, port in enumerate(host.ports):
            if isinstance(port.nic, FlowSteering):
                for field, why in _of_port(host, port, port.nic):
                    yield f"{place}.ports[{number}].nic.{field}", why


def _of_port(host: Host, port: Port, nic: FlowSteering) -> Iterator[tuple[str, str]]:
    if nic.rx_queues == 1:
        why = f"{port.name} has one receive queue"
        yield "flow_rules", why
        yield "ntuple", why
    elif not nic.flow_rules or not nic.rules_need_ntuple:
        why = nic.why_no_arfs(host.kernel.version)
        if not (host.kernel.rps_sock_flow_entries and any(port.rps_flow_cnt)):
            why = "RFS is off, by rps_flow_cnt or net.core.rps_sock_flow_entries"
        if why:
            yield "ntuple", why
