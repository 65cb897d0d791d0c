"""What administrators set of a container's network.

Source: docker-run(1), kube-proxy's reference, ethtool(8), scaling.rst. The host's end of the pair
is called veth here, the container's end eth0.
"""

from typing import Any, Final

from simnet.net.veth.rules import NAPI_SINCE
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.container.schema import Container

_IN: Final = "ip netns exec container"
_RPS: Final = "/sys/class/net/eth0/queues/rx-0/rps_cpus"


def _knob(name: str, target: str, command: str, **more: Any) -> Knob:
    spec = value_spec(Container, target)
    return Knob(name, spec.doc, spec, "container", target, command, **more)


KNOBS: Final = (
    _knob(
        "container network",
        "network",
        "start the container with this network: {value}",
        note="host: docker run --network host, or hostNetwork: true of a pod",
        by_hand=True,
    ),
    _knob(
        f"{_IN} ethtool -K eth0 gro",
        "gro",
        f"{_IN} ethtool -K eth0 gro {{value}}",
        since=NAPI_SINCE,
    ),
    _knob(
        "kube-proxy --proxy-mode",
        "kube_proxy",
        "set mode: {value} in the configuration of kube-proxy, and restart it",
        note="nftables needs Kubernetes 1.29 and Linux 5.13",
        since="5.13",
        by_hand=True,
    ),
    _knob("ethtool --features veth tso", "tso", "ethtool --features veth tso {value}"),
    _knob(f"{_IN} {_RPS}", "rps_cpus", f"{_IN} sh -c 'echo {{value}} > {_RPS}'", feature="rps"),
)
