"""What a container needs, and which of its settings nothing reads."""

from collections.abc import Iterator
from typing import Final

from simnet.net.veth.rules import NAPI_SINCE, uses_napi
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.places import Places
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.container.schema import HOST, Container

_OF_RING: Final = ("veth_receive_cycles", "ring_lines")
_OF_TABLES: Final = ("table_cycles", "rule_cycles")
_OF_TRACKING: Final = (
    *("conntrack_make_cycles", "conntrack_find_cycles", "per_connection", "services"),
)
_OF_PROXY: Final = ("kube_proxy", "service_cycles")


def check_container(tree: Tree, table: Table) -> None:
    """Refuse a container without a load that comes to it, and CPUs that are not there."""
    if "container" not in tree.values:
        return
    path: Path = ("workload", "test")
    test = tree.get(path)
    if test != "udp_stream":
        message = f"{test} in a container is not modelled: expected udp_stream, or no [container]"
        raise table.error(path, "workload.test", message, ("container", "network"))
    cpus = Places(tree).cpu_count(("host",))
    for cpu in tree.get(("container", "rps_cpus")):
        if cpu >= cpus:
            message = f"CPU {cpu}, but the machine has 0 to {cpus - 1}"
            raise table.error(("container", "rps_cpus"), "container.rps_cpus", message)


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    given = effective.container
    if given is None:
        return
    if given.network == HOST:
        for field in Container.model_fields:
            if field != "network":
                yield f"container.{field}", "the container has the host's network"
        return
    yield from _of_receive_offload(given, effective.host.kernel.version)
    yield from _of_netfilter(given)
    if given.network == "bridge":
        yield "container.route_cycles", "the host does not route what it bridges"
    if given.network == "route":
        yield "container.bridge_cycles", "there is no bridge on the way"


def _of_netfilter(given: Container) -> Iterator[tuple[str, str]]:
    proxied = given.conntrack and given.services
    if not proxied:
        for field in _OF_PROXY:
            yield f"container.{field}", "no services"
    if not given.filter_rules and not proxied:
        for field in _OF_TABLES:
            yield f"container.{field}", "no table is passed"
    if not given.conntrack:
        for field in _OF_TRACKING:
            yield f"container.{field}", "connections are not tracked"


def _of_receive_offload(given: Container, version: str) -> Iterator[tuple[str, str]]:
    if uses_napi(version, gro=given.gro, tso=given.tso):
        return
    for field in _OF_RING:
        yield f"container.{field}", "packets take the backlog of a CPU, not the ring"
    if not uses_napi(version, gro=True, tso=False):
        why = f"veth has receive offload since Linux {NAPI_SINCE}"
    elif given.gro:
        why = "what a host passes on goes by it only if tso of the host's end is off"
    else:
        why = "it decides together with gro of the container's end, which is off"
    yield f"container.{'gro' if given.gro or not given.tso else 'tso'}", why
