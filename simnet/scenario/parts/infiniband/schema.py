"""What an InfiniBand fabric consists of."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Edges, Flag, count, rate, ratio, size, time


class Fabric(Section):
    """An InfiniBand fabric: switches, links, how routes are chosen.

    Switches are numbered, those with hosts (leaves) first.
    Host N hangs on leaf N // hosts_per_leaf.
    """

    link_rate_bps: Annotated[int, rate("data rate of a link, each way", "1 Mbit/s", "8 Tbit/s")]
    switch_latency_ps: Annotated[
        int, time("head of a packet in to head out, port idle", "0 ns", "1 ms")
    ]
    cable_delay_ps: Annotated[int, time("propagation on one cable", "0 ns", "1 ms")]
    cut_through: Annotated[bool, Flag("heads leave before tails have come; off: stored first")]
    leaf_switches: Annotated[int, count("switches with hosts", 1, 4096)]
    spine_switches: Annotated[int, count("switches without hosts", 0, 4096)]
    hosts_per_leaf: Annotated[int, count("hosts of a leaf switch", 1, 4096)]
    links: Annotated[
        tuple[tuple[int, int], ...],
        Edges("pairs of switches joined by a link; none for a fat tree, each leaf to each spine"),
    ]
    routing: Annotated[
        str,
        Choice(
            "who chooses among routes: a table by destination (deterministic), each switch by the"
            " queues of its ports (adaptive), chance (random)",
            ("deterministic", "adaptive", "random"),
        ),
    ]
    routes: Annotated[
        int, count("routes of a pair, shortest first; 0: all shortest, at most 64", 0, 64)
    ]
    background_permille: Annotated[
        int, ratio("share of each link between switches that other jobs use", "0", "0.95")
    ]
    background_message_bytes: Annotated[
        int, size("what other jobs send without a pause", "1 B", "16 MiB")
    ]
