"""What a home router does with the packets of streams, and what that costs."""

from typing import Annotated, Final

from simnet.scenario.core.knob import CpuMask
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles

_PORTS: Final = ("vlan", "dsa")


class GatewayTable(Section):
    """Streams of TCP from the first peer, in the wide area, to the second, in the local network.

    Cycles are those of the router's processor, whichever it is.
    """

    streams: Annotated[int, count("TCP streams (iperf -P)", 1, 64)] = 1
    flow_offload: Annotated[
        bool, Flag("nftables: established connections pass by a flow table, in software")
    ] = False
    bridge_rps_cpus: Annotated[
        tuple[int, ...],
        CpuMask("CPUs that what comes from the bridge is spread over", none_allowed=True),
    ] = ()
    switch_ports: Annotated[
        str,
        Choice("what the switch's ports are: VLANs of eth0 (swconfig), or devices (DSA)", _PORTS),
    ] = "vlan"
    port_rx_cycles: Annotated[
        int, cycles("from eth0 to the switch's port: tag, protocol or queue of the CPU itself")
    ]
    bridge_rx_cycles: Annotated[
        int, cycles("from a port of the bridge up to it: br_handle_frame, br_pass_frame_up")
    ]
    bridge_tx_cycles: Annotated[
        int, cycles("from the bridge to one of its ports: br_dev_xmit, br_forward")
    ]
    forward_cycles: Annotated[
        int, cycles("ip_rcv to ip_finish_output: connection tracking, rules, NAT, route")
    ]
    list_saved_cycles: Annotated[
        int, cycles("of these, what a packet behind another in a list does without")
    ]
    offload_cycles: Annotated[
        int, cycles("nf_flow_offload_ip_hook, in place of these: lookup, NAT, neighbour")
    ]
    xmit_cycles: Annotated[
        int, cycles("from the switch's port to the doorbell: tag, queueing discipline, driver")
    ]
    clean_line_cycles: Annotated[
        int, cycles("writing one cache line of a frame to memory before the device reads it")
    ]
    memory_lines: Annotated[
        int, count("cache lines of code and data that a packet finds in memory alone", 0, 400)
    ]
