"""Build the switches and links between InfiniBand ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.net.infiniband.fabric import Fabric, fat_tree, switch_graph

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.net.nic.port import Nic
    from simnet.scenario.parts.infiniband.schema import Fabric as FabricModel

__all__ = ["connect_by_fabric", "make_fabric"]


def make_fabric(sim: Simulator, model: FabricModel, *, seed: int, per_frame: bool) -> Fabric:
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


def connect_by_fabric(fabric: Fabric, model: FabricModel, nic: Nic, far: Nic) -> None:
    """Link the two ports: the peer is on another leaf switch, if there is one."""
    other = model.hosts_per_leaf if model.leaf_switches > 1 else 1
    nic.path_out = fabric.connect("host0", f"host{other}", far)
    far.path_out = fabric.connect(f"host{other}", "host0", nic)
