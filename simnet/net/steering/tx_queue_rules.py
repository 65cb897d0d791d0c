"""How Linux picks the transmit queue of a socket's packets, by version.

Source: net/core/dev.c (`dev_pick_tx`, `skb_tx_hash`, `get_xps_queue`) and net/ipv4/tcp_output.c
(`tcp_transmit_skb`, `ooo_okay`) of 2.6.18, 2.6.32, 2.6.38 and 3.10. Several transmit queues came
with 2.6.27, XPS with 2.6.38.
"""

from dataclasses import dataclass

from simnet.host.release import release


@dataclass(frozen=True)
class TxQueueRules:
    """Which rules hold; the defaults are those of 2.6.38."""

    # the hash of a socket spreads over all queues; else there is one, the first
    several: bool = True
    steers: bool = True  # the CPU that sends chooses (XPS)
    # a socket changes its queue when nothing of it is left in the host; else when nothing is
    # in flight
    waits_for_completion: bool = False


def tx_queue_rules(version: str) -> TxQueueRules:
    """Return the rules of a kernel version, as in 2.6.32."""
    number = release(version)
    return TxQueueRules(
        several=number >= (2, 6, 27),
        steers=number >= (2, 6, 38),
        waits_for_completion=number >= (3, 10),
    )
