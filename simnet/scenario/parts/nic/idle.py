"""Which settings of flow rules nothing reads."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective, Host, Port
from simnet.scenario.parts.nic.flow_steering import FlowSteering


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
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
