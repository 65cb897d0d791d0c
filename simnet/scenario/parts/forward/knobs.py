"""What administrators set of a host that forwards.

Source: Documentation/networking/ip-sysctl.txt, nf_conntrack-sysctl.txt, nf_flowtable.txt of Linux
4.18.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.forward.schema import Forward


def _knob(name: str, target: str, command: str, **more: Any) -> Knob:
    spec = value_spec(Forward, target)
    return Knob(name, spec.doc, spec, "forward", target, command, **more)


KNOBS: Final = (
    _knob("net.ipv4.ip_forward", "ip_forward", "sysctl -w net.ipv4.ip_forward={value}"),
    _knob(
        "net.netfilter.nf_conntrack_max",
        "nf_conntrack_max",
        "sysctl -w net.netfilter.nf_conntrack_max={value}",
        note="an entry takes 320 bytes",
    ),
    _knob(
        "net.netfilter.nf_conntrack_buckets",
        "nf_conntrack_buckets",
        "sysctl -w net.netfilter.nf_conntrack_buckets={value}",
        since="4.7",
    ),
    _knob(
        "nft flowtable",
        "flow_offload",
        "nft add rule inet simnet forward flow add @ft",
        since="4.16",
        together=True,
    ),
)
