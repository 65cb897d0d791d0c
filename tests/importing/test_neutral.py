"""Hosts whose driver has no rules here: they keep their own queues, and nothing is borrowed."""

from pathlib import Path
from typing import Any, Final

import pytest

import simnet
from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.importing.writing.folder_out import Imported
from simnet.scenario.core.load import load
from tests.importing.trees import folder

_CPUS: Final = """\
Architecture:        x86_64
On-line CPU(s) list: 0-{last}
Thread(s) per core:  1
Core(s) per socket:  {cpus}
Socket(s):           1
NUMA node(s):        1
Vendor ID:           GenuineIntel
Model name:          Intel(R) Core(TM) i5-8400 CPU @ 2.80GHz
NUMA node0 CPU(s):   0-{last}
"""
_CHANNELS: Final = """\
Channel parameters for {0}:
Pre-set maximums:
RX:		0
TX:		0
Combined:	8
Current hardware settings:
RX:		0
TX:		0
Combined:	{1}
"""
_RINGS: Final = """\
Ring parameters for {0}:
Pre-set maximums:
RX:	{1}
TX:	{1}
Current hardware settings:
RX:	{2}
TX:	{2}
"""
_USECS: Final = "Coalesce parameters for {0}:\nAdaptive RX: off  TX: off\nrx-usecs: {1}\n"
_SPEED: Final = "Settings for {0}:\n\tSpeed: {1}Mb/s\n"


def _interrupts(*names: str) -> str:
    """Interrupts of these names, each served by CPU 0 but the second, by CPU 1."""
    rows = [
        f"{126 + n}: {'0 9' if n == 1 else '9 0'} PCI-MSI {name}" for n, name in enumerate(names)
    ]
    return "\n".join(("     CPU0 CPU1", *(f" {row}" for row in rows), ""))


def _of(port: str, driver: str, cpus: int = 4, **outputs: str) -> dict[str, str]:
    files = {f"ethtool-{name}-{port}.txt": text for name, text in outputs.items()}
    return {
        "lscpu.txt": _CPUS.format(cpus=cpus, last=cpus - 1),
        "uname.txt": "Linux box 5.15.0-91-generic #101 SMP x86_64\n",
        f"ethtool-i-{port}.txt": f"driver: {driver}\nbus-info: 0000:03:00.0\n",
        **files,
    }


SKY2: Final = {
    **_of("enp3s0", "sky2", 12, g=_RINGS.format("enp3s0", 256, 256)),
    "ethtool-enp3s0.txt": _SPEED.format("enp3s0", 1000),
    "interrupts.txt": _interrupts("enp3s0"),
}
HOSTS: Final[dict[str, tuple[dict[str, str], dict[str, Any]]]] = {
    "sky2": (SKY2, {"queues": 1, "ring": 256, "mbps": 1000, "irqs": [126]}),
    "atlantic": (
        {
            **_of("enp1s0", "atlantic", c=_USECS.format("enp1s0", 256)),
            "interrupts.txt": _interrupts(*["enp1s0"] * 4),
        },
        {"queues": 4, "ring": 512, "mbps": 10000, "irqs": [126, 127, 128, 129]},
    ),
    "nvethernet": (
        _of("eth1", "nvethernet", g=_RINGS.format("eth1", 16384, 4096)),
        {"queues": 4, "ring": 4096, "mbps": 10000, "irqs": [64, 65, 66, 67]},
    ),
    "vmxnet3": (
        {
            **_of("ens192", "vmxnet3"),
            "interrupts.txt": _interrupts(*(f"ens192-rxtx-{n}" for n in range(3))),
        },
        {"queues": 3, "ring": 512, "mbps": 10000, "irqs": [126, 127, 128]},
    ),
    "gve": (
        _of("ens5", "gve", l=_CHANNELS.format("ens5", 4), g=_RINGS.format("ens5", 8192, 1024)),
        {"queues": 4, "ring": 1024, "mbps": 10000, "irqs": [64, 65, 66, 67]},
    ),
}


def made(folder: Path, files: dict[str, str], workload: str | None = None) -> Imported:
    """What an import makes of these files, written into `out` beside them."""
    (folder / "in").mkdir()
    for name, text in files.items():
        (folder / "in" / name).write_text(text, "utf-8")
    found = import_host(folder / "in", workload=workload)
    found.write(folder / "out")
    return found


@pytest.mark.parametrize("driver", HOSTS)
def test_a_host_runs_with_its_own_queues(driver: str, tmp_path: Path) -> None:
    files, expected = HOSTS[driver]
    found = made(tmp_path, files)
    scenario = tmp_path / "out" / "scenario.toml"
    (port,) = load(scenario).host.ports
    nic: Any = port.nic
    assert (nic.driver, nic.stands_in_for) == ("neutral", driver)
    irqs = [port.irq_of(queue) for queue in range(nic.rx_queues)]
    assert irqs == expected["irqs"]
    assert (nic.rx_queues, nic.rx_buffers_posted) == (expected["queues"], expected["ring"])
    assert nic.link_rate_bps == expected["mbps"] * 10**6
    run = simnet.run(scenario, warm_up="5 ms", duration="5 ms")
    assert run.throughput_bps > 0
    assert {line.irq for line in run.interrupts} <= set(irqs)
    note = f"driver {driver}: queues, rings and speed as read, moderation unknown"
    assert any(line.endswith(note) for line in found.notes)


@pytest.mark.parametrize(
    ("driver", "kernel", "taken"),
    [
        ("tg3", "2.6.18-398.el5", "tg3"),
        ("tg3", "2.6.32-754.el6.x86_64", "neutral"),
        ("tg3", "5.15.0-91-generic", "neutral"),
        ("e1000", "2.6.18-398.el5", "e1000"),
        ("e1000", "6.1.0-18-amd64", "neutral"),
        ("e1000e", "6.1.0-18-amd64", "e1000e"),
    ],
)
def test_rules_of_earlier_kernels_are_not_used_for_later_ones(
    tmp_path: Path, driver: str, kernel: str, taken: str
) -> None:
    """A tg3 of today has several queues, which the driver of Linux 2.6.18 has not."""
    queues = "Combined:\t0".join(_CHANNELS.format("eth0", 4).rsplit("Combined:\t4", 1))
    queues = "RX:\t\t4\nTX:\t\t1".join(queues.rsplit("RX:\t\t0\nTX:\t\t0", 1))
    several = {"ethtool-l-eth0.txt": queues} if taken == "neutral" else {}
    files = _of("eth0", driver) | several | {"uname.txt": f"Linux box {kernel} #1 SMP x86_64\n"}
    made(tmp_path, files)
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    nic: Any = port.nic
    assert nic.driver == taken
    assert nic.link_rate_bps == 10**9
    if taken == "neutral":
        assert nic.rx_queues >= 4
        assert nic.stands_in_for.startswith(f"{driver} of Linux {kernel[:3]}")


def test_moderation_is_nobody_s_rule(tmp_path: Path) -> None:
    files, _ = HOSTS["atlantic"]
    found = made(tmp_path, files)
    unused = {one["name"]: one["why"] for one in found.unused()}
    assert (
        unused["ethtool -C enp1s0 rx-usecs"] == "moderation of the driver atlantic is not modelled"
    )
    assert not any("ethtool -C" in name for name in found.tuning.settings)


def test_the_time_between_interrupts_is_not_known(tmp_path: Path) -> None:
    made(tmp_path, SKY2)
    scenario = tmp_path / "out" / "scenario.toml"
    throttle = load(scenario).provenance["host.ports[0].nic.throttle_ps"]
    assert throttle.state == "assumed"
    assert (throttle.low, throttle.high) == (0, 250 * 10**6)


def test_a_what_if_that_turns_moderation_cannot_tell(tmp_path: Path) -> None:
    made(tmp_path, SKY2)
    scenario = str(tmp_path / "out" / "scenario.toml")
    tunings = ["ethtool -C enp3s0 rx-usecs=20", "ethtool -C enp3s0 rx-usecs=20,nic.mtu=1400 B"]
    found = simnet.whatif(scenario, tunings, seeds=1, members=0, duration="2 ms", warm_up="1 ms")
    why = "ethtool -C enp3s0 rx-usecs: moderation of the driver sky2 is not modelled"
    assert {(one.verdict, one.reason) for one in found.tunings} == {("cannot tell", why)}


def test_rps_helps_a_card_with_one_queue(tmp_path: Path) -> None:
    made(tmp_path, SKY2, workload="rr")
    scenario = tmp_path / "out" / "scenario.toml"
    rates = [
        simnet.run(
            scenario,
            settings={"connections": "120", "/sys/class/net/enp3s0/queues/rx-0/rps_cpus": cpus},
            duration="20 ms",
            warm_up="20 ms",
        ).throughput_bps
        for cpus in ("0", "ffe")
    ]
    assert rates[1] > 1.5 * rates[0]


def test_the_peer_of_a_card_with_one_queue_has_several(tmp_path: Path) -> None:
    found = made(tmp_path, SKY2)
    (port,) = load(tmp_path / "out" / "scenario.toml").peers[0].ports
    nic: Any = port.nic
    assert (nic.driver, nic.rx_queues, nic.tx_queues) == ("neutral", 8, 8)
    assert [port.queue_affinity[queue] for queue in range(3)] == [(0,), (1,), (2,)]
    of_peer = [one for one in found.values() if "peer" in one["file"]]
    assert {one["state"] for one in of_peer} == {"assumed"}


def test_queues_that_do_not_come_in_pairs_can_be_added_one_way(tmp_path: Path) -> None:
    listed = _CHANNELS.format("p1", 0).replace("RX:\t\t0\nTX:\t\t0", "RX: 6\nTX: 6")
    listed = listed.replace("Combined:\t8", "Combined: 0")
    listed = "RX: 4\nTX: 2".join(listed.rsplit("RX: 6\nTX: 6", 1))
    made(tmp_path, _of("p1", "qede", l=listed))
    scenario = tmp_path / "out" / "scenario.toml"
    for settings, queues in (({}, (4, 2)), ({"ethtool -L p1 rx": "6"}, (6, 2))):
        nic: Any = load(scenario, settings=settings).host.ports[0].nic
        assert (nic.rx_queues, nic.tx_queues) == queues


def test_more_queues_than_files_tell_of_are_refused(tmp_path: Path) -> None:
    made(tmp_path, SKY2)
    with pytest.raises(InputError, match="enp3s0 has 1 queues"):
        load(tmp_path / "out" / "scenario.toml", settings={"ethtool -L enp3s0 combined": "2"})


@pytest.mark.parametrize(
    ("driver", "queues", "said", "why"),
    [
        ("sky2", "1", "one queue is", "cards of the driver sky2 have one"),
        ("gve", "4", "4 queues are", "no file says it: one a CPU, at most 8"),
    ],
)
def test_queues_that_no_file_tells_of_are_assumed_and_said(
    driver: str, queues: str, said: str, why: str, tmp_path: Path
) -> None:
    found = made(tmp_path, _of("eth0", driver))
    rows = [one for one in found.values() if one["name"] == "rx_queues"]
    (row,) = [one for one in rows if one["file"] == "models/nic-eth0.toml"]
    assert (row["value"], row["state"], row["source"]) == (queues, "assumed", why)
    assert f"eth0: {said} assumed: {why}: ethtool -l eth0" in found.notes


def test_offloads_are_those_of_the_card(tmp_path: Path) -> None:
    off = "\n".join(
        f"{name}: off"
        for name in (
            *("rx-checksumming", "tx-checksumming"),
            *("tcp-segmentation-offload", "generic-receive-offload"),
        )
    )
    made(tmp_path, _of("eth0", "sky2", k=f"Features for eth0:\n{off}\n"))
    nic: Any = load(tmp_path / "out" / "scenario.toml").host.ports[0].nic
    assert (nic.tso, nic.gro, nic.checksum_by_cpu) == (False, False, True)


@pytest.mark.parametrize(
    ("counter", "driver"),
    [
        ("pps_allowance_exceeded", "ena"),
        ("vf_rx_packets", "hv_netvsc"),
        ("rx_out_of_buffer", "mlx5_core"),
        ("rx_missed_errors", None),
    ],
)
def test_counters_of_one_driver_alone_name_it_and_it_is_assumed(
    tmp_path: Path, counter: str, driver: str | None
) -> None:
    text = f"$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 9\n     {counter}: 0\n"
    found = import_host(folder(tmp_path / "host", {"p.txt": text}))
    assert found.summary()["nics"][0]["driver"] == driver
    said = [one for one in found.notes if "the driver" in one and "is assumed" in one]
    assert len(said) == (driver is not None)
