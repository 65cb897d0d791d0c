"""The knobs of packet steering: RPS, RFS and XPS.

Source: ``Documentation/networking/scaling.txt`` of Linux 3.0.
"""

from typing import Annotated, Final

from simnet.net.steering.version import rounded_entries
from simnet.scenario.core.knob import CpuMask, Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Feature, count
from simnet.scenario.parts.host.schema import Kernel


class SteeringKernel(Kernel):
    """What a kernel has of packet steering."""

    rxhash_bits: Annotated[
        int,
        count(
            "bits of the hash that steers packets (skb->rxhash); 0: by the version, if it has it",
            0,
            32,
        ),
    ] = 0
    rps_index_shift: Annotated[
        int, count("a steered packet's place in its map is hash x length shifted by this", 1, 32)
    ] = 32
    softnet_lines: Annotated[
        int, count("cache lines of a CPU's backlog that queueing a packet there writes", 0, 64)
    ] = 2
    rps: Annotated[bool, Feature("has receive packet and flow steering", since="2.6.35")] = False
    xps: Annotated[bool, Feature("has transmit packet steering", since="2.6.38")] = False
    rps_sock_flow_entries: Annotated[
        int,
        count(
            "entries of the table of sockets' CPUs, rounded up to a power of two; 0: none", 0, 2**22
        ),
    ] = 0


def _rounded(entries: int) -> str:
    size = rounded_entries(entries)
    return "" if size == entries else f"{entries} becomes {size}, the next power of two"


_QUEUES: Final = "/sys/class/net/{port}/queues"
STEERING: Final = (
    Knob(
        f"{_QUEUES}/rx-{{queue}}/rps_cpus",
        "CPUs that a receive queue's packets are spread over; 0: none",
        CpuMask("CPU mask", none_allowed=True),
        "rx-queue",
        "rps_cpus",
        f"echo {{value}} > {_QUEUES}/rx-{{queue}}/rps_cpus",
        default=(),
        feature="rps",
    ),
    Knob(
        f"{_QUEUES}/rx-{{queue}}/rps_flow_cnt",
        "entries of a receive queue's flow table, rounded up to a power of two; 0: none",
        count("", 0, 2**22),
        "rx-queue",
        "rps_flow_cnt",
        f"echo {{value}} > {_QUEUES}/rx-{{queue}}/rps_flow_cnt",
        default=0,
        feature="rps",
        remark=_rounded,
    ),
    Knob(
        "net.core.rps_sock_flow_entries",
        "entries of the machine's table of sockets' CPUs, rounded up to a power of two; 0: none",
        value_spec(SteeringKernel, "rps_sock_flow_entries"),
        "kernel",
        "rps_sock_flow_entries",
        "sysctl -w net.core.rps_sock_flow_entries={value}",
        feature="rps",
        remark=_rounded,
    ),
    Knob(
        f"{_QUEUES}/tx-{{queue}}/xps_cpus",
        "CPUs that send by a transmit queue; 0: no map",
        CpuMask("CPU mask", none_allowed=True),
        "tx-queue",
        "xps_cpus",
        f"echo {{value}} > {_QUEUES}/tx-{{queue}}/xps_cpus",
        default=(),
        feature="xps",
    ),
)
