"""Which settings only sockets of UDP read, received or sent by."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.udp.checks import SERVE

_OF_SOCKETS: Final = {
    "rmem_default_bytes": "it is for sockets of UDP: TCP's begin with the second of tcp_rmem",
    "udp_mem_pages": "it is for sockets of UDP",
}
_SENDS: Final = "it is for sockets of UDP that send: TCP's begin with the second of tcp_wmem"


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = [f"peers[{number}]" for number in range(len(effective.peers))]
    if effective.workload.test in {"udp_rr", "udp_send"}:
        return
    serves = effective.workload.test == SERVE
    for host in hosts if serves else (*hosts, "host"):
        yield f"{host}.kernel.wmem_default_bytes", _SENDS
    if effective.udp is not None and not serves:
        for field in ("answer_bytes", "batch", "sendmsg_cycles", "lock_cycles"):
            yield f"udp.{field}", "nobody answers"
    if effective.udp is None:
        hosts.append("host")
        yield "host.machine.memory_per_node_bytes", "it limits what sockets of UDP may have"
    for host in hosts:
        for field, why in _OF_SOCKETS.items():
            yield f"{host}.kernel.{field}", why
