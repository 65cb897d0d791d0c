"""What comes to a host that forwards, and what it does with it."""

from typing import Annotated, Final

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, ratio, size

MOST_FLOWS: Final = 1_000_000


class Forward(Section):
    """Packets that come by the first port, for nobody on the host; they leave by the second.

    Answers go the other way, through the same hooks.

    The peer stands for the load generator: of it only the packets are simulated.
    """

    rate: Annotated[
        int,
        count("packets a second, all together; 0: as many as the link carries", 0, 1_000_000_000),
    ] = 0
    size_bytes: Annotated[int, size("payload of a packet (UDP)", "1 B", "65507 B")]
    answers: Annotated[
        int,
        count("packets a second that go the other way, of the same connections", 0, 1_000_000_000),
    ] = 0
    answer_size_bytes: Annotated[int, size("payload of such a packet", "1 B", "65507 B")] = 18
    flows: Annotated[int, count("connections that the packets belong to", 1, MOST_FLOWS)] = 1
    spread: Annotated[
        str,
        Choice(
            "how flows come to receive queues: by the hash of the port (RSS), or each queue has as"
            " many",
            ("rss", "even"),
        ),
    ] = "rss"
    arrivals: Annotated[
        str,
        Choice(
            "how packets come to a queue: one each period, or at random (Poisson)",
            ("periodic", "poisson"),
        ),
    ] = "periodic"
    ttl: Annotated[int, count("time to live of the packets", 1, 255)] = 64
    ip_forward: Annotated[bool, Flag("the host forwards (net.ipv4.ip_forward)")] = True
    prefixes: Annotated[int, count("routes in the table", 1, 10_000_000)] = 1
    destinations: Annotated[int, count("of them are those that packets go to", 1, 10_000_000)] = 1
    drop: Annotated[
        str,
        Choice(
            "table whose last rule drops each packet: raw in PREROUTING, filter in FORWARD",
            ("none", "raw", "filter"),
        ),
    ] = "none"
    raw_rules: Annotated[
        int, count("rules of raw that a packet is compared with; 0: no table", 0, 100_000)
    ] = 0
    mangle_rules: Annotated[
        int, count("rules of mangle, in each of its three hooks; 0: no table", 0, 100_000)
    ] = 0
    nat_rules: Annotated[
        int,
        count("rules of nat, in each of its two hooks, for new connections; 0: no table", 0, 10**5),
    ] = 0
    filter_rules: Annotated[
        int, count("rules of filter that a packet is compared with; 0: no table", 0, 100_000)
    ] = 0
    security_rules: Annotated[
        int, count("rules of security that a packet is compared with; 0: no table", 0, 100_000)
    ] = 0
    conntrack: Annotated[bool, Flag("connections are tracked (nf_conntrack)")] = False
    nf_conntrack_max: Annotated[
        int, count("entries of the table of connections; 0: no limit", 0, 2**31 - 1)
    ] = 262_144
    nf_conntrack_buckets: Annotated[int, count("buckets of its hash", 1, 2**26)] = 65_536
    flow_offload: Annotated[
        bool, Flag("nftables: connections with an answer pass by a flow table, in software")
    ] = False
    rule_cycles: Annotated[int, cycles("comparing a packet with one rule of iptables")]
    table_cycles: Annotated[int, cycles("entering one table at one hook (ipt_do_table)")]
    route_cycles: Annotated[
        int, cycles("ip_rcv_finish to ip_forward: the route, with its lines in the private cache")
    ]
    output_cycles: Annotated[
        int, cycles("ip_forward to the doorbell: neighbour, queueing discipline, descriptor")
    ]
    xmit_cycles: Annotated[int, cycles("of these, under the lock of the transmit queue")]
    conntrack_make_cycles: Annotated[
        int, cycles("connection tracking: looking a connection up in vain, making and freeing it")
    ]
    conntrack_find_cycles: Annotated[int, cycles("connection tracking: finding a connection")]
    conntrack_lines: Annotated[
        int, count("cache lines of an entry that finding it reads or writes", 0, 64)
    ]
    flow_table_cycles: Annotated[
        int, cycles("a packet that a flow table sends, in place of hooks, route and output")
    ]
    flow_table_lines: Annotated[
        int, count("cache lines of a flow that finding it reads or writes", 0, 64)
    ]
    rx_line_exposed_permille: Annotated[
        int, ratio("share of fetching a packet's first line that the CPU waits for", "0", "1")
    ]
    cold_lines: Annotated[
        int,
        count("cache lines of code and data that the first packet finds cold after idle", 0, 1000),
    ]
