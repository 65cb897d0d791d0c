"""Where a machine's CPU time goes: work by mechanism, before SMT siblings slow each other.

Every part of the data path books its work when it asks a CPU for it. What moving cache lines and
reaching registers costs because of where they are has entries of its own, so that the effect
of a placement can be read off.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public

MECHANISMS = {
    "hardirq": "hard interrupt",
    "softirq": "softirq and poll",
    "driver": "driver and IP, receive",
    "tcp_receive": "TCP receive",
    "tcp_ack": "acknowledgements",
    "tcp_send": "TCP and driver, send",
    "completion": "transmit completion",
    "copy": "copy to and from user",
    "checksum": "checksums by the CPU",
    "device_lines": "lines and registers of a device on another node",
    "copy_lines": "payload from another node",
    "socket_lines": "socket lines from another CPU",
    "skb_lines": "sk_buff lines from another CPU",
    "wakeup": "wake-up and context switch",
    "syscall": "system calls",
    "application": "application",
    "iommu": "mapping of buffers for devices (IOMMU)",
    "pages": "pages of receive buffers",
    "copy_misses": "payload that the last-level cache has lost",
    "storage": "block layer, page cache and virtual SCSI",
    "hypervisor": "hypervisor calls",
    "udp_receive": "UDP receive",
    "udp_send": "UDP send",
    "forwarding": "netfilter, routing and send",
    "xdp": "programs of XDP, and the driver for them",
}
# of machines that have it: the others' listings do not name it
_WHERE_DONE = (
    "iommu",
    "pages",
    "copy_misses",
    "storage",
    "hypervisor",
    "udp_receive",
    "udp_send",
    "forwarding",
    "xdp",
)
#: what profiles of a kernel sort its functions into
KINDS = ("copy", "tcpip", "netdev", "skb", "mm", "lock", "sched", "other")
PLACEMENT = ("device_lines", "copy_lines", "socket_lines", "skb_lines")


@cython.final
@cython.cclass
class Ledger:
    """Cumulative work of one machine, in ps, one attribute a mechanism of `MECHANISMS`."""

    hardirq: Public[cython.longlong] = 0
    softirq: Public[cython.longlong] = 0
    driver: Public[cython.longlong] = 0
    tcp_receive: Public[cython.longlong] = 0
    tcp_ack: Public[cython.longlong] = 0
    tcp_send: Public[cython.longlong] = 0
    completion: Public[cython.longlong] = 0
    copy: Public[cython.longlong] = 0
    checksum: Public[cython.longlong] = 0
    device_lines: Public[cython.longlong] = 0
    copy_lines: Public[cython.longlong] = 0
    socket_lines: Public[cython.longlong] = 0
    skb_lines: Public[cython.longlong] = 0
    wakeup: Public[cython.longlong] = 0
    syscall: Public[cython.longlong] = 0
    application: Public[cython.longlong] = 0
    storage: Public[cython.longlong] = 0
    hypervisor: Public[cython.longlong] = 0
    udp_receive: Public[cython.longlong] = 0
    udp_send: Public[cython.longlong] = 0
    forwarding: Public[cython.longlong] = 0
    xdp: Public[cython.longlong] = 0
    iommu: Public[cython.longlong] = 0
    pages: Public[cython.longlong] = 0
    copy_misses: Public[cython.longlong] = 0
    skb: Public[cython.longlong] = 0  # making `sk_buff`, which is part of `driver`
    skb_freed: Public[cython.longlong] = 0  # freeing them, part of `tcp_receive`
    ip: Public[cython.longlong] = 0  # IP's receive work, part of `driver`

    def __init__(self) -> None:
        for name in MECHANISMS:
            setattr(self, name, 0)

    def work(self) -> dict[str, int]:
        """Work until now by mechanism, in ps."""
        found = {name: getattr(self, name) for name in MECHANISMS}
        return {name: work for name, work in found.items() if work or name not in _WHERE_DONE}

    def kinds(self) -> dict[str, int]:
        """The same work by kind of `KINDS`, in ps."""
        received = self.driver - self.skb - self.ip
        parts = (
            self.copy + self.copy_lines + self.copy_misses,
            self.tcp_receive
            - self.skb_freed
            + self.tcp_ack
            + self.tcp_send
            + self.ip
            + self.udp_receive
            + self.udp_send
            + self.forwarding,
            received + self.xdp + self.softirq + self.completion + self.device_lines,
            self.skb + self.skb_freed + self.skb_lines,
            self.pages,
            self.socket_lines,
            self.wakeup,
            self.hardirq
            + self.checksum
            + self.syscall
            + self.application
            + self.storage
            + self.hypervisor
            + self.iommu,
        )
        return dict(zip(KINDS, parts, strict=True))
