"""From models of storage, file system and switch to the cluster that they describe."""

from simnet.scenario.parts.network.schema import Switch
from simnet.scenario.parts.nsd.schema import Filesystem, Storage
from simnet.scenario.parts.scale.schema import Lpars
from simnet.storage.disk.model import DiskModel
from simnet.storage.nsd.model import ClusterModel, FabricModel, NsdServerModel, PortModel, RaidModel

# bonding's balance-alb assigns clients anew every 10 s (bond_alb.h: BOND_TLB_REBALANCE_INTERVAL)
_REBALANCE_PS = 10 * 10**12


def cluster_model(
    storage: Storage,
    filesystem: Filesystem,
    switch: Switch,
    lpars: Lpars,
    disks: tuple[DiskModel, DiskModel],
    *,
    clients: int,
    block_bytes: int,
) -> ClusterModel:
    """Put a cluster together.

    Args:
        storage: model of the servers.
        filesystem: model of what lies on them.
        switch: model of what is between them and the clients.
        lpars: model of the clients; of their two ports one is in use.
        disks: of the arrays, and of the logs.
        clients: how many.
        block_bytes: block size of the file system.
    """
    client_port = PortModel(switch.link_rate_bps, lpars.mtu_bytes, lpars.adapter_bus_bps)
    server_port = PortModel(
        rate_bps=min(storage.link_rate_bps, switch.link_rate_bps),
        mtu_bytes=storage.mtu_bytes,
        pcie_bps=storage.adapter_bus_bps,
    )
    fabric = FabricModel(
        clients=clients,
        servers=storage.servers,
        client_port=client_port,
        server_port=server_port,
        server_adapters=storage.adapters,
        adapter_ports=storage.adapter_ports,
        lag_mode=storage.mode,
        xmit_hash_policy=storage.xmit_hash_policy,
        rebalance_ps=_REBALANCE_PS,
        switch_latency_ps=switch.latency_ps,
        cable_delay_ps=switch.cable_delay_ps,
        pause=switch.pause,
        xoff_bytes=switch.pause_xoff_bytes,
        window_bytes=lpars.tcp_window_bytes,
        client_stack_ps=lpars.stack_ps,
        server_stack_ps=storage.stack_ps,
        connection_bytes_s=storage.connection_bps // 8,
        message_bytes=storage.message_bytes,
    )
    return ClusterModel(
        block_bytes=block_bytes,
        allocation=filesystem.allocation,
        nsds=filesystem.vdisks,
        fabric=fabric,
        server=_server(storage, filesystem),
        raid=_raid(storage, filesystem),
        disk=disks[0],
        log_disk=disks[1],
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
