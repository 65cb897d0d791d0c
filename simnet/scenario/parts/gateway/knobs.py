"""What administrators set of a home router beside what each host has.

Source: Documentation/networking/scaling.rst, nf_flowtable.rst of Linux 5.15; OpenWrt's firewall4.
"""

from typing import Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.gateway.schema import GatewayTable

_BRIDGE: Final = "/sys/class/net/br-lan/queues/rx-0/rps_cpus"
_MASK: Final = value_spec(GatewayTable, "bridge_rps_cpus")
_OFFLOAD: Final = value_spec(GatewayTable, "flow_offload")
KNOBS: Final = (
    Knob(
        _BRIDGE,
        _MASK.doc,
        _MASK,
        "gateway",
        "bridge_rps_cpus",
        f"echo {{value}} > {_BRIDGE}",
        feature="rps",
    ),
    Knob(
        "uci firewall.@defaults[0].flow_offloading",
        _OFFLOAD.doc,
        _OFFLOAD,
        "gateway",
        "flow_offload",
        "uci set firewall.@defaults[0].flow_offloading={value}; uci commit firewall;"
        " service firewall restart",
        since="4.16",
        keep="",
    ),
)
