"""What a model of a network interface consists of: rings, queues, moderation, offloads."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, HashKey, Quantity, count, rate, size, time

__all__ = ["Nic"]

# of `simnet.net.nic.multiqueue`, which has a bit of a word for each
_MOST_QUEUES: Final = 63


class Nic(Section):
    """A network interface with its driver's defaults."""

    driver: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", description="Linux driver")]
    link_rate_bps: Annotated[int, rate("line rate", "1 Mbit/s", "1 Tbit/s")]
    mtu_bytes: Annotated[int, size("largest IP packet", "68 B", "64 KiB")]
    moderation: Annotated[
        str,
        Choice(
            "how interrupts are moderated: frames or a gap (coalesce), the same with a status block"
            " and a message of its own for each queue (status-blocks), a minimum interval"
            " (throttle), one that the driver adapts (adaptive), frames or a time after the first"
            " of them (holdoff), a completion queue that is armed anew each time (completions), or"
            " the signal that a virtual port's queue is no longer empty (hypervisor)",
            (
                "coalesce",
                "status-blocks",
                "throttle",
                "adaptive",
                "holdoff",
                "completions",
                "hypervisor",
            ),
        ),
    ]
    rx_ring: Annotated[int, count("receive descriptors", 16, 65536)]
    rx_buffers_posted: Annotated[int, count("receive buffers kept posted", 1, 65536)]
    tx_ring: Annotated[int, count("usable transmit descriptors", 16, 65536)]
    tx_wake_threshold: Annotated[int, count("free descriptors that wake the queue", 1, 65536)]
    rx_usecs_ps: Annotated[int, time("receive gap that ends a batch", "0 us", "10 ms")]
    rx_frames: Annotated[int, count("received frames that end a batch", 0, 1023)]
    rx_usecs_irq_ps: Annotated[int, time("rx_usecs while masked", "0 us", "10 ms")]
    rx_frames_irq: Annotated[int, count("rx_frames while masked", 0, 1023)]
    tx_usecs_ps: Annotated[int, time("transmit gap that ends a batch", "0 us", "10 ms")]
    tx_frames: Annotated[int, count("sent frames that end a batch", 0, 1023)]
    tx_usecs_irq_ps: Annotated[int, time("tx_usecs while masked", "0 us", "10 ms")]
    tx_frames_irq: Annotated[int, count("tx_frames while masked", 0, 1023)]
    interrupt_throttle_rate: Annotated[
        int,
        count(
            "interrupts per second at most; 0 is no limit; with moderation = adaptive, 1 and 3 are"
            " the driver's modes",
            0,
            1000000,
        ),
    ]
    tagged_status: Annotated[bool, Flag("status block carries a tag; unmasking compares it")]
    clrtick: Annotated[bool, Flag("every frame restarts the gap timer")]
    copybreak_bytes: Annotated[
        int, size("frames up to this size are copied to a small buffer", "0 B", "64 KiB")
    ]
    napi_weight: Annotated[int, count("packets per poll", 1, 4096)]
    tso: Annotated[bool, Flag("segmentation offload")]
    gro: Annotated[
        bool, Flag("receive offload: a poll merges segments, with moderation = holdoff")
    ] = False
    rx_buffer_bytes: Annotated[int, size("receive buffer", "64 B", "1 MiB")]
    descriptor_bytes: Annotated[
        int, size("descriptors that one received frame takes in all rings", "8 B", "1 KiB")
    ]
    shared_status_update: Annotated[
        bool, Flag("a status update by one engine clears the count of the other")
    ]
    dma_latency_ps: Annotated[
        int, time("end of frame on the wire to descriptor in memory", "0 ns", "1 ms")
    ]
    checksum: Annotated[
        str, Choice("who computes and verifies TCP's checksums", ("device", "cpu"))
    ] = "device"
    ipoib_mode: Annotated[
        str,
        Choice(
            "transport of IP over InfiniBand: reliable connections, datagrams; none for Ethernet",
            ("none", "connected", "datagram"),
        ),
    ] = "none"
    ib_mtu_bytes: Annotated[int, size("payload of an InfiniBand packet", "256 B", "4 KiB")] = 4096
    rx_page_bytes: Annotated[
        int, size("pages that a connection's received packets are put into", "4 KiB", "64 KiB")
    ] = 4096
    reorder_window: Annotated[
        int, count("received packets ahead of the next that wait for it; 0: none", 0, 32767)
    ] = 0
    drain_after_slide: Annotated[
        bool, Flag("go on handing up from the left edge after a slide; off: the paper's letter")
    ] = True
    flush_timeout_ps: Annotated[
        int, time("give up what is missing after this time; 0: never, as the paper", "0 us", "10 s")
    ] = 0
    send_loss_ppm: Annotated[
        int, count("packets of a million that the driver drops on purpose", 0, 1_000_000)
    ] = 0
    rx_queues: Annotated[
        int, count("receive queues, each with an interrupt of its own", 1, _MOST_QUEUES)
    ] = 1
    tx_queues: Annotated[int, count("transmit queues", 1, _MOST_QUEUES)] = 1
    rss_default_queue: Annotated[
        bool, Flag("the first receive queue takes only what RSS does not sort")
    ] = False
    rss_table_entries: Annotated[
        int, count("entries of the RSS indirection table, a power of two", 1, 4096)
    ] = 128
    rss_equal: Annotated[
        int,
        count("receive queues that the indirection table is dealt out to; 0: all", 0, _MOST_QUEUES),
    ] = 0
    rss_key: Annotated[str, HashKey("key of the RSS hash, 40 bytes")] = "microsoft"
    irq_values_first_queue: Annotated[
        bool, Flag("what holds while an interrupt is masked holds for the first queue alone")
    ] = False
    rx_pool_buffers: Annotated[
        tuple[int, int, int, int, int],
        Quantity(
            "buffers of 512 B, 2, 16, 32 and 64 KiB, with moderation = hypervisor",
            "count",
            "0",
            "4096",
            5,
        ),
    ] = (0, 0, 0, 0, 0)
