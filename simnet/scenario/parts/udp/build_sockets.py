"""What sockets of a host may have together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.net.udp.memory import UdpPages

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Host

__all__ = ["udp_pages"]

_PAGE_BYTES: Final = 4096


def udp_pages(host: Host) -> UdpPages:
    """`udp_mem`: as set, or by the memory of the host (`udp_init`)."""
    low, _, most = host.kernel.udp_mem_pages
    if not most:
        memory = host.machine.nodes * host.machine.memory_per_node_bytes
        limit = max(memory // _PAGE_BYTES // 8, 128)
        low = limit // 4 * 3
        most = 2 * low
    return UdpPages(low, most)
