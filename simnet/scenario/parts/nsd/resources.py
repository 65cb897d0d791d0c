"""Resources of a parallel file system's servers: ports, buses, switch, CPUs, SAS, disks.

In the order of the path. A port carries payload: its capacity is what is left of the line with
headers and gaps at this MTU. Each direction is a resource of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.system.resource import NETWORK, Resource, busy, carried

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.net.fluid.flow import FlowLink
    from simnet.storage.nsd.cluster import NsdCluster
    from simnet.storage.nsd.server import NsdServer

_WAYS = {"tx": "send", "rx": "receive"}


def nsd_resources(
    cluster: NsdCluster, flows: dict[int, tuple[str, ...]] | None = None
) -> tuple[Resource, ...]:
    """All of it, from the clients' ports to the disks.

    Args:
        cluster: whose.
        flows: names of the flows of each client; None for all.
    """
    return tuple(_all(cluster, flows))


def _all(cluster: NsdCluster, flows: dict[int, tuple[str, ...]] | None) -> Iterator[Resource]:
    fabric = cluster.fabric
    for way, links in zip(("tx", "rx"), fabric.client_links, strict=True):
        for client, link in enumerate(links):
            passing = None if flows is None else flows.get(client, ())
            yield _port(f"client{client} {_WAYS[way]}", "client port", link, passing)
            yield _bus(f"client{client} PCIe {_WAYS[way]}", cluster, link.bytes, client=True)
    ports = [link for part in fabric.server_links for links in part for link in links]
    line = cluster.model.fabric.server_port.goodput_bytes_s
    total = line * len(ports) // 2 + sum(link.bytes_s for link in fabric.client_links[0])
    carried_bytes = sum(link.bytes for links in fabric.client_links for link in links)
    yield carried("switch", "switch", carried_bytes, 8 * total, group=NETWORK)
    for way, servers in zip(("rx", "tx"), fabric.server_links, strict=True):
        for server, links in enumerate(servers):
            for number, link in enumerate(links):
                name = f"server{server} port{number} {_WAYS[way]}"
                yield _port(name, "server port", link, None)
            for adapter in range(cluster.model.fabric.server_adapters):
                each = cluster.model.fabric.adapter_ports
                moved = sum(link.bytes for link in links[adapter * each : (adapter + 1) * each])
                name = f"server{server} PCIe{adapter} {_WAYS[way]}"
                yield _bus(name, cluster, moved, client=False)
    for number, server in enumerate(cluster.servers):
        yield from _server(f"server{number}", server, cluster)


def _port(name: str, kind: str, link: FlowLink, flows: tuple[str, ...] | None) -> Resource:
    return carried(name, kind, link.bytes, 8 * link.bytes_s, flows=flows, group=NETWORK)


def _bus(name: str, cluster: NsdCluster, moved: int, *, client: bool) -> Resource:
    model = cluster.model.fabric
    port = model.client_port if client else model.server_port
    return carried(name, "PCIe", moved, 8 * port.bus_bytes_s)


def _server(name: str, server: NsdServer, cluster: NsdCluster) -> Iterator[Resource]:
    raid = server.raid
    yield busy(f"{name} cpu", "server cpu", server.cpus.busy_ps, servers=server.cpus.cpus)
    threads = cluster.model.server.worker_threads
    yield busy(f"{name} NSD threads", "NSD threads", server.threads_ps(), servers=threads)
    adapter = raid.adapter
    yield carried(f"{name} SAS adapters", "SAS", adapter.bytes, 8 * adapter.bytes_s)
    for number, lane in enumerate(raid.lanes):
        yield carried(f"{name} enclosure{number}", "SAS", lane.bytes, 8 * lane.bytes_s)
    count = cluster.model.raid.array_disks
    for array in range(cluster.model.raid.arrays):
        disks = raid.disks[array * count : (array + 1) * count]
        worked = sum(disk.worked_ps() for disk in disks)
        yield busy(f"{name} array{array} disks", "disks", worked, servers=count)
