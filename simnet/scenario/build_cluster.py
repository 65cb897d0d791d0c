"""Build what serves a file system's clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.build_ess import ClientEnds, cluster_model
from simnet.scenario.resource import busy, carried
from simnet.storage.nsd_cluster import NsdCluster
from simnet.storage.nsd_model import PortModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.kernel.simulator import Simulator
    from simnet.scenario.effective import Effective
    from simnet.scenario.resource import Resource

__all__ = ["cluster_resources", "make_cluster"]


def make_cluster(sim: Simulator, effective: Effective, *, clients: int, seed: int) -> NsdCluster:
    """Make servers, disks and network of a file system.

    Args:
        sim: the simulation.
        effective: the configuration; it has `lpars`, `scale`, `storage`, `filesystem`, `switch`.
        clients: how many use it.
        seed: of its random streams.
    """
    lpars, scale, switch = effective.lpars, effective.scale, effective.lan
    storage, filesystem = effective.storage, effective.filesystem
    if not (lpars and scale and storage and filesystem):
        raise LookupError("storage")
    ends = ClientEnds(
        count=clients,
        port=PortModel(switch.link_rate_bps, lpars.mtu_bytes, lpars.adapter_bus_bps),
        stack_ps=lpars.stack_ps,
        failover_ps=lpars.failover_ps,
        window_bytes=lpars.tcp_window_bytes,
    )
    model = cluster_model(storage, filesystem, switch, ends, scale.block_bytes)
    return NsdCluster(sim, "storage", model, seed)


def cluster_resources(cluster: NsdCluster) -> Iterator[Resource]:
    """Yield ports, buses, processors and disks of a cluster, all disks of a server as one."""
    fabric = cluster.fabric
    links = [link for way in fabric.client_links for link in way]
    links += [
        link
        for way in (*fabric.server_links, *fabric.bus_links)
        for server in way
        for link in server
    ]
    for link in links:
        yield carried(link.name, "port", link.bytes, 8 * link.bytes_s, group="ports")
    for number, server in enumerate(cluster.servers):
        cpus = server.cpus
        yield busy(f"server{number}.cpus", "cpu", cpus.busy_ps, servers=cluster.model.server.cpus)
        disks = server.raid.disks
        used = sum(disk.busy_ps for disk in disks)
        yield busy(f"server{number}.disks", "disk", used, servers=len(disks))
