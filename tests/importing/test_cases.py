"""Problem reports as they were pasted: each imports, and `read` stands at what its files say."""

from pathlib import Path
from typing import Final

import pytest

from simnet.importing.import_host import import_host
from simnet.scenario.core.load import load

CASES: Final = Path(__file__).parents[2] / "validation" / "cases"
# each value was compared with its file by hand
READ: Final[dict[str, dict[str, str]]] = {
    "03-igb-i211-aspm-nat": {"io_bandwidth": "0.250 GB/s"},
    "04-ice-e810-epyc9825-256-queues": {
        "vendor": "amd",
        "threads_per_core": "2",
        "cores_per_socket": "144",
        "package_cpus": "['0-287']",
        "rx_queues": "256",
        "ethtool -L eth0 combined": "256",
    },
    "06-i40e-xdp-irq-above-queue-count": {"cores_per_socket": "36"},
    "07-mlx5-xdp-pass-tcp": {},
    "08-nfs-rdma-iommu-strict": {
        "clock": "1600 MHz",
        "base_clock": "1600 MHz",
        "threads_per_core": "1",
        "cores_per_socket": "6",
        "intel_iommu": "on",
        "core_cpus": "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11']",
    },
    "10-i40e-x722-rss-ipsec-nat-t": {"rx_queues": "12"},
    "12-ena-allowance": {},
    "13-openwrt-fritzbox-7530-vdsl-rps": {"/sys/class/net/dsl0/queues/rx-*/rps_cpus": "1"},
    "15-esxi-vmxnet3-46-vcpu-cpu0": {
        "rx_queues": "2",
        "/proc/irq/56/smp_affinity": "1",
        "/proc/irq/57/smp_affinity": "1",
    },
    "16-fio-nvme-numa-opposite": {},
    "17-pfring-e810-3-queues-two-thirds-lost": {
        "rx_queues": "3",
        "tx_queues": "3",
        "rx_ring": "4096",
        "rx_buffers_posted": "4096",
        "tx_ring": "4096",
    },
    "18-haproxy-quic-rmem": {"net.core.rmem_max": "212992", "net.core.rmem_default": "212992"},
    "20-bnx2-centos54-coalescing": {},
    "21-ubuntu-10.04-two-interfaces-one-address": {"mtu": "1500 B"},
    "23-igb-netdev-budget-vs-usecs": {
        "rx_ring": "4096",
        "rx_buffers_posted": "2048",
        "tx_ring": "2048",
        "net.core.netdev_budget": "65535",
        "net.core.netdev_budget_usecs": "2000",
        "net.core.netdev_max_backlog": "10000",
        "net.core.somaxconn": "8192",
        "net.ipv4.tcp_congestion_control": "bbr",
    },
    "25-jetson-nvethernet-10g-rps": {
        "rx_ring": "4096",
        "rx_buffers_posted": "4096",
        "tx_ring": "4096",
        "/sys/class/net/eth1/queues/rx-*/rps_cpus": "000",
    },
    "27-atlantic-vectors-share-cpu": {
        "clock": "1800 MHz",
        "base_clock": "1800 MHz",
        "threads_per_core": "1",
        "cores_per_socket": "4",
        "package_cpus": "['0-3']",
        "core_cpus": "['0', '1', '2', '3']",
        "/proc/irq/128/smp_affinity": "8",
        "/proc/irq/129/smp_affinity": "1",
        "/proc/irq/130/smp_affinity": "8",
        "/proc/irq/131/smp_affinity": "2",
    },
    "29-mtk-bpi-r4-rss-latency": {"rx_queues": "4", "ethtool -X eth0 equal": "1"},
    "30-rx-frames-without-timer": {},
}


def test_each_case_has_its_values() -> None:
    assert set(READ) == {path.name for path in CASES.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", READ)
def test_a_report_imports_and_says_read_only_of_what_it_says(name: str, tmp_path: Path) -> None:
    found = import_host(CASES / name)
    assert {v["name"]: v["value"] for v in found.values() if v["state"] == "read"} == READ[name]
    found.write(tmp_path / "out")
    load(str(tmp_path / "out" / "scenario.toml"))
    listed = {one["file"] for one in found.files()}
    assert listed == {path.name for path in (CASES / name).iterdir()}
