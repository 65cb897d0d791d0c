"""How packets come to a container, and what that costs."""

from typing import Annotated, Final

from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles

HOST: Final = "host"
_NETWORKS: Final = (HOST, "route", "route-bridge", "bridge")


class Container(Section):
    """The workers of `[udp]` are in one container, whose network is the host's or its own."""

    network: Annotated[
        str,
        Choice(
            "how packets come to it: its sockets are the host's (--network host, hostNetwork), the"
            " host routes to its veth (Calico), routes to a bridge with its veth (docker0, cni0),"
            " or the port and its veth are in one bridge",
            _NETWORKS,
        ),
    ]
    gro: Annotated[bool, Flag("receive offload of the container's end of the veth pair")] = False
    tso: Annotated[bool, Flag("segmentation offload of the host's end of the veth pair")] = True
    rps_cpus: Annotated[
        tuple[int, ...],
        CpuMask(
            "CPUs that what the container's end receives is spread over; 0: none", none_allowed=True
        ),
    ] = ()
    filter_rules: Annotated[
        int,
        count("rules of filter that a packet is compared with on its way; 0: no table", 0, 100_000),
    ] = 0
    conntrack: Annotated[bool, Flag("connections are tracked (nf_conntrack)")] = False
    per_connection: Annotated[
        int,
        count(
            "datagrams that a client sends by one port, before it takes another; 0: all", 0, 10**9
        ),
    ] = 0
    services: Annotated[
        int, count("services of Kubernetes, each with one port; 0: no kube-proxy", 0, 100_000)
    ] = 0
    kube_proxy: Annotated[
        str,
        Choice(
            "how kube-proxy has them: iptables, a rule for each that a connection's first packet is"
            " compared with, or nftables, one look into a map",
            ("iptables", "nftables"),
        ),
    ] = "iptables"
    route_cycles: Annotated[
        int, cycles("the host: ip_rcv_finish to ip_finish_output2, route and neighbour")
    ]
    bridge_cycles: Annotated[
        int, cycles("the host: by a bridge to the veth, br_handle_frame or br_dev_xmit")
    ]
    veth_xmit_cycles: Annotated[
        int, cycles("__dev_queue_xmit and veth_xmit, without queueing the packet")
    ]
    veth_receive_cycles: Annotated[
        int, cycles("with a NAPI instance: a packet out of the ring, and napi_gro_receive")
    ]
    ring_lines: Annotated[
        int, count("cache lines of the ring that sending and receiving both write", 0, 64)
    ]
    table_cycles: Annotated[int, cycles("entering one table at one hook (ipt_do_table)")]
    rule_cycles: Annotated[int, cycles("comparing a packet with one rule of iptables")]
    service_cycles: Annotated[
        int, cycles("kube-proxy: chains of a connection's first packet, beside rules of services")
    ]
    conntrack_make_cycles: Annotated[
        int, cycles("connection tracking: looking a connection up in vain, and making it")
    ]
    conntrack_find_cycles: Annotated[int, cycles("connection tracking: finding a connection")]
