"""The knobs of packet steering: RPS, RFS and XPS.

Source: ``Documentation/networking/scaling.txt`` of Linux 3.0.
"""

from __future__ import annotations

from typing import Final

from simnet.net.steering.version import rounded_entries
from simnet.scenario.core.knob import CpuMask, Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import count
from simnet.scenario.parts.steering.kernel import SteeringKernel


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
