"""A host with virtio is a guest: what is below it is assumed, and said."""

import json
from pathlib import Path
from typing import cast

import pytest

import simnet
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import Imported, imported
from simnet.scenario.core.load import load
from simnet.scenario.parts.nic.drivers.virtio_net import VirtioNet
from tests.importing.trees import folder, port, sysfs

QUEUES = 2
PLACE = "sos_commands/networking"
DRIVER = f"{PLACE}/ethtool_-i_ens3"
GUEST = {
    **sysfs(cores=[[0, 1], [2, 3]], packages=[[0, 1, 2, 3]]),
    **port("ens3", queues=QUEUES),
    "proc/cpuinfo": "processor : 0\nvendor_id : GenuineIntel\nmodel name : Intel Xeon (Icelake)\n",
    "proc/version": "Linux version 6.6.32 (builder) #1 SMP\n",
    DRIVER: "driver: virtio_net\nbus-info: 0000:00:03.0\n",
    f"{PLACE}/ethtool_-g_ens3": (
        "Ring parameters for ens3:\nPre-set maximums:\nRX:\t\t512\nTX:\t\t512\n"
        "Current hardware settings:\nRX:\t\t512\nTX:\t\t512\n"
    ),
}


def read(
    place: Path, files: dict[str, str] | None = None, workload: str | None = "stream"
) -> Imported:
    """What an import makes of the guest, with some files instead of its own."""
    made = folder(place / "read", {**GUEST, **(files or {})})
    return imported(read_source(str(made)), workload)


def test_a_guest_has_a_host_with_a_cpu_for_each_thread(tmp_path: Path) -> None:
    found = read(tmp_path)
    found.write(tmp_path / "made")
    effective = load(tmp_path / "made" / "scenario.toml")
    guest = effective.host.guest
    assert guest is not None
    assert guest.vcpupin == (0, 1, 2, 3)
    assert guest.emulatorpin == (4, 5)
    assert guest.uplink_cpus == (6,)
    (nic,) = (cast("VirtioNet", one.nic) for one in effective.host.ports)
    assert nic.driver == "virtio_net"
    assert (nic.rx_queues, nic.rx_buffers_posted, nic.tx_ring) == (QUEUES, 512, 512)
    assert any("the host below is assumed to have KVM" in note for note in found.notes)
    states = {one["name"]: one["state"] for one in found.values() if "cpu.toml" in one["file"]}
    assert states["cores_per_socket"] == "assumed"


def test_a_guest_pays_for_its_host(tmp_path: Path) -> None:
    read(tmp_path).write(tmp_path / "made")
    scenario = tmp_path / "made" / "scenario.toml"
    result = simnet.run(scenario, duration="5 ms", warm_up="5 ms")
    assert result.throughput_bps > 1e9
    assert sum(one["busy"] for one in result.vhost) > 0
    slow = simnet.run(
        scenario, settings={"kvm.rx_frame": "10000 cycles"}, duration="5 ms", warm_up="5 ms"
    )
    assert slow.throughput_bps < result.throughput_bps


@pytest.mark.parametrize(
    "files",
    [
        {DRIVER: "driver: ice\nbus-info: 0000:00:03.0\n"},
        {"proc/cpuinfo": "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n"},
        sysfs(cores=[[0], [1], [3]], packages=[[0, 1, 3]], offline=[2]),
    ],
)
def test_others_are_no_guests(tmp_path: Path, files: dict[str, str]) -> None:
    found = read(tmp_path, files)
    assert "kvm" not in found.scenario
    assert "peer-nic.toml" not in found.drafts


def test_what_guests_cannot_have_is_simulated_without_the_host_below(tmp_path: Path) -> None:
    found = read(tmp_path, workload="memcached")
    assert "kvm" not in found.scenario
    (note,) = (one for one in found.notes if "simulated as a port of a real host" in one)
    assert note.startswith("ens3: ")
    assert json.dumps(found.summary())
