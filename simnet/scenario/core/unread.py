"""Values that models carry and that no mechanism reads.

They are facts of the hardware or the kernel, and defaults of knobs that an administrator knows. A
setting of one is accepted and reported as not modelled. A mechanism that starts to read one takes
it off this list; a test compares the list with what the builder reads.
"""

from __future__ import annotations

from typing import Final

__all__ = ["UNREAD"]

UNREAD: Final = frozenset(
    {
        # machine
        "memory_per_node_bytes",
        "memory_bandwidth_bps",
        "bus_bandwidth_bps",
        "link_bandwidth_bps",
        "io_bandwidth_bps",
        # cpu
        "cache_bytes",
        # kernel
        "rmem_default_bytes",
        "wmem_default_bytes",
        "tcp_app_win",
        "prequeue_timer_ps",
        # nic
        "tx_wake_threshold",
        "tagged_status",
        "copybreak_bytes",
        "dma_latency_ps",
        # streams
        "preferred_node",
    }
)
