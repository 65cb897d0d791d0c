"""From models of storage, file system and switch to the cluster that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from simnet.scenario.disks import disk_model
from simnet.scenario.library import find_model, read_model
from simnet.scenario.schema import Switch
from simnet.scenario.schema_ess import Filesystem, Storage
from simnet.scenario.section import Section
from simnet.scenario.tree import Tree
from simnet.storage.nsd_model import (
    ClusterModel,
    FabricModel,
    NsdServerModel,
    PortModel,
    RaidModel,
)

if TYPE_CHECKING:
    from simnet.scenario.schema import ModelKind

__all__ = ["ClientEnds", "cluster_model", "ess"]

_Section = TypeVar("_Section", bound=Section)

# bonding's balance-alb assigns clients anew every 10 s (bond_alb.h: BOND_TLB_REBALANCE_INTERVAL)
_REBALANCE_PS = 10 * 10**12
# of a client: 5 us of moderation (intr_time) and the stack; links that are looked at twice a
# second; buffers of 1 MiB
_STACK_PS = 15 * 10**6
_FAILOVER_PS = 5 * 10**11
_WINDOW_BYTES = 1 << 20


@dataclass(frozen=True)
class ClientEnds:
    """What the clients are to the network.

    Attributes:
        count: how many.
        port: of each; another is in reserve.
        stack_ps: a segment's way between wire and socket, interrupt moderation included.
        failover_ps: after which the port in reserve takes over.
        window_bytes: of each connection.
    """

    count: int
    port: PortModel
    stack_ps: int
    failover_ps: int
    window_bytes: int


def cluster_model(
    storage: Storage,
    filesystem: Filesystem,
    switch: Switch,
    clients: ClientEnds,
    block_bytes: int,
) -> ClusterModel:
    """Put a cluster together.

    Args:
        storage: model of the servers.
        filesystem: model of what lies on them.
        switch: model of what is between them and the clients.
        clients: their ends of the connections.
        block_bytes: block size of the file system.
    """
    server_port = PortModel(
        rate_bps=min(storage.link_rate_bps, switch.link_rate_bps),
        mtu_bytes=storage.mtu_bytes,
        pcie_bps=storage.adapter_bus_bps,
    )
    fabric = FabricModel(
        clients=clients.count,
        servers=storage.servers,
        client_port=clients.port,
        server_port=server_port,
        server_adapters=storage.adapters,
        adapter_ports=storage.adapter_ports,
        lag_mode=storage.mode,
        xmit_hash_policy=storage.xmit_hash_policy,
        miimon_ps=storage.miimon_ps,
        rebalance_ps=_REBALANCE_PS,
        failover_ps=clients.failover_ps,
        switch_latency_ps=switch.latency_ps,
        cable_delay_ps=switch.cable_delay_ps,
        pause=switch.pause,
        xoff_bytes=switch.pause_xoff_bytes,
        window_bytes=clients.window_bytes,
        client_stack_ps=clients.stack_ps,
        server_stack_ps=storage.stack_ps,
        connection_bytes_s=storage.connection_bps // 8,
        message_bytes=storage.message_bytes,
        retransmit_ps=storage.retransmit_ps,
    )
    return ClusterModel(
        block_bytes=block_bytes,
        allocation=filesystem.allocation,
        nsds=filesystem.vdisks,
        fabric=fabric,
        server=_server(storage, filesystem),
        raid=_raid(storage, filesystem),
        disk=disk_model(storage.disk),
        log_disk=disk_model(storage.log_disk),
    )


def _server(storage: Storage, filesystem: Filesystem) -> NsdServerModel:
    pool = filesystem.pagepool_bytes * filesystem.nsd_raid_buffer_pool_size_pct // 100
    return NsdServerModel(
        worker_threads=filesystem.nsd_max_worker_threads,
        small_ratio=filesystem.nsd_raid_small_thread_ratio,
        small_bytes=filesystem.nsd_raid_small_buffer_size_bytes,
        inline_write_bytes=filesystem.nsd_inline_write_max_bytes,
        buffer_bytes=pool,
        tracks=filesystem.nsd_raid_tracks,
        cpus=storage.cpus,
        request_ps=storage.request_ps,
        net_ps_kib=storage.net_kib_ps,
        checksum_ps_kib=storage.checksum_kib_ps,
        parity_ps_kib=storage.parity_kib_ps,
        fast_write_bytes=filesystem.nsd_raid_fast_write_fs_data_limit_bytes,
        log_limit_bytes=filesystem.nsd_raid_flusher_fw_log_limit_bytes,
        log_high_bytes=filesystem.nsd_raid_flusher_fw_log_high_watermark_bytes,
        log_disks=storage.log_disks,
        flusher_threads=filesystem.nsd_raid_flusher_threads_high_watermark,
    )


def _raid(storage: Storage, filesystem: Filesystem) -> RaidModel:
    return RaidModel(
        data_strips=filesystem.data_strips,
        parity_strips=filesystem.parity_strips,
        arrays=storage.arrays,
        array_disks=storage.array_disks,
        enclosures=storage.enclosures,
        first_permille=filesystem.first_permille,
        extent_permille=filesystem.extent_permille,
        scheduler=filesystem.nsd_raid_block_device_scheduler,
        nr_requests=filesystem.nsd_raid_block_device_nr_requests,
        queue_depth=filesystem.nsd_raid_block_device_queue_depth,
        max_sectors_bytes=filesystem.nsd_raid_block_device_max_sectors_bytes,
        lane_paths=storage.enclosure_paths,
        path_bytes_s=storage.path_rate_bps // 8,
        adapter_bytes_s=storage.sas_adapters_bps // 8,
    )


def ess(
    block_bytes: int,
    clients: int,
    *,
    storage: str = "ess-gl4",
    filesystem: str = "gnr-8-2p",
    switch: str = "mellanox-sx1710",
    rate_bps: int = 40 * 10**9,
) -> ClusterModel:
    """The cluster of the document with so many clients, all ports of one rate.

    For notebooks and tests; a scenario says what differs.

    Raises:
        InputError: no such model, or it breaks the schema.
    """
    servers = _read(Storage, "storage", storage)
    network = _read(Switch, "switch", switch)
    port = PortModel(rate_bps, servers.mtu_bytes, servers.adapter_bus_bps)
    return cluster_model(
        servers.model_copy(update={"link_rate_bps": rate_bps}),
        _read(Filesystem, "filesystem", filesystem),
        network.model_copy(update={"link_rate_bps": rate_bps}),
        ClientEnds(clients, port, _STACK_PS, _FAILOVER_PS, _WINDOW_BYTES),
        block_bytes,
    )


def _read(section: type[_Section], kind: ModelKind, name: str) -> _Section:
    form, _ = read_model(kind, find_model(kind, name))
    tree = Tree()
    tree.graft((), section, form)
    return section(**tree.values)
