"""Reasons that the kernel itself gives for dropped packets."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Find, percent
from simnet.diagnose.rule import Found, Hit, Rule

_SOURCE: Final = "Linux include/net/dropreason-core.h"
_NEEDS: Final = (
    "the reason of skb:kfree_skb (perf, bpftrace, trace-cmd), or the function of dropwatch"
)
# of all that was dropped
_SHARE: Final = 0.2


def _told(reasons: str, functions: str) -> Find:
    def find(evidence: Evidence) -> Iterator[Found]:
        for kind, names in (("reason", reasons), ("dropped by", functions)):
            every = {fact.name: fact for fact in evidence.of(kind)}
            mine = {fact.name: fact for fact in evidence.of(kind, names)} if names else {}
            whole = sum(fact.value for fact in every.values())
            own = sum(fact.value for fact in mine.values())
            if not own or own / whole < _SHARE:
                continue
            most = max(mine.values(), key=lambda fact: fact.value)
            said = f"{most.name} {most.shown}, {percent(own / whole)} of {whole:,.0f} drops"
            yield Hit("", (most,), said, 40 + 25 * own / whole, "likely")

    return find


RULES: Final = (
    Rule(
        "dropped-socket",
        "socket",
        "The kernel drops packets at full sockets {subject}",
        _NEEDS,
        "a fifth of what is dropped",
        "The buffer of a socket was full: its program reads too slowly, or in bursts.",
        "Raise rmem_max and the program's SO_RCVBUF; read on more threads.",
        f"{_SOURCE}, SOCKET_RCVBUFF, SOCKET_BACKLOG",
        _told(
            r"SOCKET_RCVBUFF|SOCKET_BACKLOG|PROTO_MEM|TCP_OFOMERGE|TCP_ZEROWINDOW|PACKET_SOCK_ERROR",
            r"__udp_enqueue_schedule_skb|udp_queue_rcv.*|sock_queue_rcv.*|tcp_add_backlog|tpacket_rcv"
            r"|__udp[46]?_queue_rcv.*|tcp_prune.*",
        ),
    ),
    Rule(
        "dropped-queue",
        "qdisc",
        "The kernel drops packets at full queues {subject}",
        _NEEDS,
        "a fifth of what is dropped",
        "A queue for sending, the backlog of a CPU or a ring between kernel and program was full.",
        "See which: tc -s qdisc, the second column of /proc/net/softnet_stat, rings of tun and"
        " XDP.",
        f"{_SOURCE}, QDISC_DROP, CPU_BACKLOG, FULL_RING",
        _told(
            r"QDISC_\w+|CPU_BACKLOG|FULL_RING|TC_EGRESS|FQ_\w+",
            r"pfifo_\w+|fq_\w+_enqueue|fq_enqueue|enqueue_to_backlog|__dev_xmit_skb|tun_net_xmit"
            r"|codel_\w+|red_enqueue|tbf_enqueue|htb_enqueue|netem_enqueue",
        ),
    ),
    Rule(
        "dropped-filter",
        "protocol",
        "Rules of the host drop packets {subject}",
        _NEEDS,
        "a fifth of what is dropped",
        "A filter, a policy or a program of XDP or tc says so: nothing is too slow.",
        "See which rule counts (nft list ruleset, iptables -vnL, tc -s filter, bpftool prog).",
        f"{_SOURCE}, NETFILTER_DROP",
        _told(
            r"NETFILTER_DROP|SOCKET_FILTER|BPF_CGROUP_EGRESS|XFRM_POLICY|TC_INGRESS|XDP|IP_RPFILTER",
            r"nf_hook_slow|sk_filter_trim_cap|tcf_\w+|sch_handle_ingress",
        ),
    ),
    Rule(
        "dropped-unwanted",
        "protocol",
        "The kernel drops packets that nobody wants {subject}",
        _NEEDS,
        "half and more of what is dropped",
        "There is no socket, no route, no protocol or no such address here: no tuning changes"
        " that.",
        "See what they are (tcpdump), and who sends them.",
        f"{_SOURCE}, NO_SOCKET, OTHERHOST, UNHANDLED_PROTO",
        _told(
            r"NO_SOCKET|OTHERHOST|UNHANDLED_PROTO|IP_NOPROTO|IP_INNOROUTES|IP_OUTNOROUTES|TCP_RESET"
            r"|TCP_FLAGS|IP_INADDRERRORS|IPV6DISABLED|ARP_\w+|NEIGH_FAILED|MAC_\w+|VLAN_\w+",
            r"icmp_rcv|ip_rcv_finish\w*|ip6?_forward|arp_process|__netif_receive_skb_core\w*"
            r"|ip_error|ip6_input_finish",
        ),
        hides=("link-dropped",),
    ),
    Rule(
        "dropped-checksum",
        "protocol",
        "The kernel drops packets with wrong checksums {subject}",
        _NEEDS,
        "a fifth of what is dropped",
        "IP, TCP or UDP is damaged though the frame was right.",
        "Find the device that damages them; try without the card's checksums (ethtool -K rx off).",
        f"{_SOURCE}, TCP_CSUM, UDP_CSUM, IP_CSUM",
        _told(r"TCP_CSUM|UDP_CSUM|IP_CSUM|ICMP_CSUM|SKB_CSUM|PKT_TOO_SMALL", ""),
        outside=True,
    ),
)
