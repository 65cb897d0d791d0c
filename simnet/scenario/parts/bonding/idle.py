"""Which settings of bonds nothing reads: those of other modes, and of links that stay as they are.

Source: Documentation/networking/bonding.txt.
"""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective, Host

_HASH: Final = {"balance-xor", "802.3ad"}
# the switch sees a port as one of its own, not as part of a channel
_SINGLE: Final = {"active-backup", "balance-tlb", "balance-alb"}


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
        yield from _of_host(f"{place}.bonding", host)
    modes = {host.bonding.mode for host in hosts.values() if _slaves(host)}
    if not modes - _SINGLE:
        yield "switch.load_balance", "no bond is a channel of the switch"


def _slaves(host: Host) -> bool:
    return any(port.enslaved for port in host.ports)


def _of_host(place: str, host: Host) -> Iterator[tuple[str, str]]:
    mode = host.bonding.mode
    if not _slaves(host):
        yield place, "bond0 has no slave"
        return
    if mode not in _HASH:
        yield f"{place}.xmit_hash_policy", f"{mode} does not hash"
    if mode not in _SINGLE:
        yield f"{place}.primary", f"{mode} prefers no slave"
    if not any(port.unplugged_ps or port.plugged_ps for port in host.ports):
        for attribute in ("updelay_ps", "downdelay_ps"):
            yield f"{place}.{attribute}", "no link goes or comes"
