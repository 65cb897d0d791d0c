"""What of TCP can be lifted."""

from typing import Any, Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.system.lifting import Lifting, copy, hosts, twice

_SPACES: Final = ("recvspace_bytes", "sendspace_bytes")
_BUFFERS: Final = (
    "tcp_rmem_bytes",
    "tcp_wmem_bytes",
    "tcp_recvspace_bytes",
    "tcp_sendspace_bytes",
    "sb_max_bytes",
)


def _twice(value: Any) -> Any:
    return tuple(map(twice, value)) if isinstance(value, tuple) else twice(value)


def _buffers(effective: Effective) -> Effective:
    def larger(host: Host) -> Host:
        ports = tuple(copy(port, twice, *_SPACES) for port in host.ports)
        kernel = copy(host.kernel, _twice, *_BUFFERS)
        return host.model_copy(update={"kernel": kernel, "ports": ports})

    return hosts(effective, larger) if effective.ports else effective


LIFTS: Final = (
    Lifting(
        "TCP's buffers",
        _buffers,
        "of both ends, doubled",
        reasons=("send buffer", "receive window"),
        order=100,
    ),
)
