"""Drivers by the names of counters that `ethtool -S` shows, where no file names the driver.

Each name is one that this driver has and no other of the kernel.

Source: the tables of names in drivers/net/ethernet, drivers/net/hyperv, drivers/net/vmxnet3 and
drivers/net/virtio_net.c of Linux 6.6.
"""

import re
from typing import Final

_SIGNS: Final = tuple(
    (driver, re.compile(rf"^\s*(?P<counter>{counter})\s*:", re.MULTILINE))
    for driver, counter in (
        ("ena", r"(?:bw_in|bw_out|pps|conntrack|linklocal)_allowance_exceeded"),
        ("hv_netvsc", r"vf_rx_packets|tx_scattered"),
        ("vmxnet3", r"drv dropped [rt]x total|pkts rx OOB"),
        ("mlx5_core", r"rx_out_of_buffer|rx_discards_phy|rx_steer_missed_packets"),
        ("ice", r"rx_dropped\.nic|rx_bytes\.nic|rx_unicast\.nic"),
        ("i40e", r"veb\.rx_\w+|port\.fdir_flush_cnt|port\.rx_dropped"),
        ("bnxt_en", r"rx_total_ring_discards|rx_stat_discard|rx_total_discard_pkts"),
        ("be2net", r"rx_drops_no_erx_descr|rx_drops_no_pbuf"),
        ("gve", r"rx_desc_err_dropped_pkt|interface_up_cnt"),
        ("ixgbe", r"rx_pkts_nic|fcoe_noddp|fdir_overflow"),
        ("tg3", r"rxbds_empty|dma_writeq_full"),
        ("sfc", r"rx_nodesc_drops|port_rx_nodesc_drops"),
        ("qede", r"no_buff_discards|mftag_filter_discards"),
        ("atlantic", r"InDroppedDma"),
        ("virtio_net", r"rx_queue_\d+_kicks|rx\d+_kicks"),
    )
)


def driver_of(text: str) -> tuple[str, str] | None:
    """Return the driver whose counters these are, and the one that tells; None if none does.

    >>> driver_of("     rx_out_of_buffer: 5")
    ('mlx5_core', 'rx_out_of_buffer')
    """
    found = [(driver, hit["counter"]) for driver, sign in _SIGNS if (hit := sign.search(text))]
    return found[0] if len({driver for driver, _ in found}) == 1 else None
