"""Which settings of RFS nothing reads: it needs a table of the machine and one of a queue."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
        if not any(any(port.rps_flow_cnt) for port in host.ports):
            why = "rps_flow_cnt is 0 for all queues, so RFS is off"
            yield f"{place}.kernel.rps_sock_flow_entries", why
        if not host.kernel.rps_sock_flow_entries:
            for number in range(len(host.ports)):
                why = "net.core.rps_sock_flow_entries is 0, so RFS is off"
                yield f"{place}.ports[{number}].rps_flow_cnt", why
