"""What differs between drivers with XDP, and since when they have it.

Source: i40e_txrx.c and mlx5 en_rx.c, en/xdp.c, en_main.c of Linux 4.8 to 5.4 and their history.
i40e uses half a page for a frame and hands buffers back 32 at a time during the poll
(I40E_RX_BUFFER_WRITE), 16 before 4.18; mlx5 uses a page for each frame while a program is there,
and posts at the end of a poll. mlx5 counts as received only what a program has let pass, so that
`Dim` does not see the rest.

mlx5 has the device compress completions (`ethtool --set-priv-flags PORT rx_cqe_compress on`); by
default only where the slot is slower than half the link (`slow_pci_heuristic`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simnet.host.release import release

_PAGE_BYTES: Final = 4096
_WRITES_32: Final = (4, 18)


@dataclass(frozen=True)
class XdpDriver:
    """A driver with native XDP."""

    since: Mapping[str, tuple[int, int]]  # versions of Linux that know each action
    buffer_bytes: int  # from one receive buffer to the next, with a program
    counted: bool  # what a program takes counts as received for the driver's moderation
    received: Mapping[str, str]  # counters of `ethtool -S` of packets by action; empty: none
    full: Mapping[str, str]  # of frames that found a ring for XDP full, by action
    completions: int  # in a message of 64 bytes to the host
    compressed: int  # likewise where the device may compress them; 0: it cannot
    discarded: str  # counter of what the card discards when the slot is too slow

    def refill(self, version: str, weight: int) -> int:
        """Buffers handed back at a time."""
        if self.counted:
            return 32 if release(version) >= _WRITES_32 else 16
        return weight


DRIVERS: Final = {
    "i40e": XdpDriver(
        since={"drop": (4, 13), "pass": (4, 13), "tx": (4, 13), "redirect": (4, 17)},
        buffer_bytes=_PAGE_BYTES // 2,
        counted=True,
        received={},
        full={"tx": "no counter of i40e", "redirect": "tracepoint xdp:xdp_devmap_xmit"},
        # four descriptors of 16 bytes at a time
        completions=4,
        compressed=0,
        discarded="port.rx_discards",
    ),
    "mlx5": XdpDriver(
        since={"drop": (4, 9), "pass": (4, 9), "tx": (4, 9), "redirect": (4, 18)},
        buffer_bytes=_PAGE_BYTES,
        counted=False,
        received={"drop": "rx_xdp_drop", "tx": "rx_xdp_tx_xmit", "redirect": "rx_xdp_redirect"},
        full={"tx": "rx_xdp_tx_full", "redirect": "tx_xdp_full"},
        completions=1,
        # seven of 8 bytes in a message, behind one that is whole
        compressed=7,
        discarded="rx_discards_phy",
    ),
}
"""By name."""
