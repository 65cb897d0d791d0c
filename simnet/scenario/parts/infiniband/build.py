"""Build the switches and links between InfiniBand ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.net.infiniband.fabric import Fabric, fat_tree, switch_graph
from simnet.scenario.parts.infiniband.columns import counts_of
from simnet.scenario.system.resource import NETWORK, busy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simnet.kernel.simulator import Simulator
    from simnet.scenario.parts.infiniband.schema import Fabric as FabricModel
    from simnet.scenario.parts.network.join import Pair
    from simnet.scenario.parts.network.resources import NetworkPath
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.resource import Resource

_PERMILLE: Final = 1000


def connect(ground: Ground, pair: Pair) -> Callable[[NetworkPath], Iterator[Resource]]:
    """Link the two ports: the peer is on another leaf switch, if there is one."""
    model: FabricModel = ground.effective.fabric
    fabric = _make_fabric(ground.sim, model, seed=ground.seed, per_frame=ground.per_frame)
    other = model.hosts_per_leaf if model.leaf_switches > 1 else 1
    pair.near.path_out = fabric.connect("host0", f"host{other}", pair.far)
    pair.far.path_out = fabric.connect(f"host{other}", "host0", pair.near)
    order = counts_of([(str(pair.near.name), pair.near), (pair.far.path, pair.far)])
    if order:
        ground.observed["reordering"] = order

    def links(_: NetworkPath) -> Iterator[Resource]:
        """Each link that has carried something; other jobs' share of those between switches."""
        now, others = fabric.sim.now, model.background_permille
        for (first, second), link in fabric.links.items():
            if not link.packets:
                continue
            between = first.startswith("switch") and second.startswith("switch")
            used = link.bytes * link.byte_ps + between * now * others // _PERMILLE
            yield busy(f"link {link.name}", "link", used, flows=pair.flows, group=NETWORK)

    return links


def _make_fabric(sim: Simulator, model: FabricModel, *, seed: int, per_frame: bool) -> Fabric:
    """Switches and links between the hosts, the system under test being the first."""
    leaves, spines = model.leaf_switches, model.spine_switches
    graph = fat_tree(leaves=leaves, spines=spines, hosts_per_leaf=model.hosts_per_leaf)
    if model.links:
        hosts = [host // model.hosts_per_leaf for host in range(leaves * model.hosts_per_leaf)]
        graph = switch_graph(list(model.links), hosts)
    return Fabric(
        sim,
        "fabric",
        graph,
        rate_bps=model.link_rate_bps,
        propagation_ps=model.cable_delay_ps,
        latency_ps=model.switch_latency_ps,
        routing=model.routing,
        routes=model.routes,
        background_permille=model.background_permille,
        background_bytes=model.background_message_bytes,
        cut_through=model.cut_through,
        seed=seed,
        per_frame=per_frame,
    )
