"""Which settings only short connections read."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective

_ACCEPTS: Final = (
    "somaxconn",
    "tcp_max_syn_backlog",
    "tcp_syncookies",
    "tcp_abort_on_overflow",
    "tcp_synack_retries",
)
_CONNECTS: Final = ("tcp_syn_retries",)


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    peers = [f"peers[{number}]" for number in range(len(effective.peers))]
    listens = effective.listen is not None
    for host in peers if listens else [*peers, "host"]:
        for field in _ACCEPTS:
            yield f"{host}.kernel.{field}", "no connection is accepted there"
    for host in ["host"] if listens else [*peers, "host"]:
        for field in _CONNECTS:
            yield f"{host}.kernel.{field}", "no connection begins there"
