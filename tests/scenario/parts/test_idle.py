"""Settings without effect in a scenario: they say so, and the simulation is the same."""

import pytest

import simnet
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

_JOBS = {"length": "0.02"}
_PERF = {"type": "gpfsperf", "message": "1 MiB", "gpfsperf.threads": "2", "nodes": "1"}
_READ = _PERF | {"test": "read-seq"}
_RX = "/sys/class/net/eth0/queues/rx-0"
_BOND = "modprobe bonding"
_FEW = {"relay.connections": "50"}
_QUEUES = "/sys/class/net/{}/queues/rx-*/rps_flow_cnt"
_NO_FLOWS = _FEW | {_QUEUES.format(port): "0" for port in ("eth0", "eth1")}
_NO_SOCKETS = _FEW | {"net.core.rps_sock_flow_entries": "0"}
_FILE_LIMIT = "mmchconfig seqDiscardThreshhold"

IDLE = [
    ("media-udp", {}, "udp.batch", "8", "nobody answers"),
    ("ess-sas", _JOBS, "storage.xmit_hash_policy", "layer2", "in balance-alb, no hash"),
    ("ess-sas", _JOBS, "switch.load_balance", "src-mac", "hashes all addresses"),
    ("ess-sas", _JOBS, "switch.buffer_per_port", "2 MiB", "no frame is dropped"),
    ("ess-sas", _JOBS | {"switch.pause": "off"}, "switch.pause_xoff", "1 MiB", "no pause"),
    ("ess-sas", _JOBS, "storage.miimon", "50 ms", "no link fails"),
    ("ess-sas", _JOBS, "storage.retransmit", "1 s", "no link fails"),
    ("ess-sas", _JOBS, "lpars.failover", "1 s", "no link fails"),
    ("ess-sas", _JOBS, "mmchconfig maxblocksize", "16M", "those here are of 16M"),
    (
        "ess-sas",
        _JOBS,
        "mmchconfig nsdRAIDReconstructAggressiveness -N SERVERS",
        "2",
        "no disk fails",
    ),
    ("ess-sas", _JOBS, "gpfsperf.readratio", "50", "SAS jobs run, not gpfsperf"),
    ("ess-sas", _READ, "sas.inputs", "3", "gpfsperf runs, not SAS jobs"),
    ("ess-sas", _READ, "length", "0.5", "gpfsperf runs, not SAS jobs"),
    ("ess-sas", _READ, "gpfsperf.readratio", "50", "read-seq does not mix"),
    ("ess-sas", _READ | {"gpfsperf.file": "1 GiB"}, _FILE_LIMIT, "2G", "no file is larger"),
    ("x460-bonding", {}, f"{_BOND} xmit_hash_policy", "layer3+4", "balance-rr does not hash"),
    ("x460-bonding", {}, f"{_BOND} primary", "eth0", "balance-rr prefers no slave"),
    ("x460-bonding", {}, f"{_BOND} updelay", "200", "no link goes or comes"),
    ("x460-bonding", {}, f"{_BOND} downdelay", "200", "no link goes or comes"),
    (
        "x460-bonding",
        {f"{_BOND} mode": "balance-tlb"},
        "port-channel load-balance",
        "src-ip",
        "no bond is a channel",
    ),
    ("x460-out-of-box", {}, f"{_BOND} mode", "802.3ad", "bond0 has no slave"),
    ("tcp-rr-one-queue", {}, "message", "2 KiB", "requests and responses"),
    ("tcp-rr-one-queue", {}, "recv_size", "2 KiB", "requests and responses"),
    ("x460-out-of-box", {}, "request", "2 KiB", "test is netserver"),
    ("x460-out-of-box", {}, "answers", "on", "test is netserver"),
    ("relay-tuned", _NO_FLOWS, "net.core.rps_sock_flow_entries", "4096", "rps_flow_cnt is 0"),
    ("relay-tuned", _NO_SOCKETS, f"{_RX}/rps_flow_cnt", "2048", "rps_sock_flow_entries is 0"),
]


def _run(scenario: str, settings: dict[str, str]) -> tuple[str, tuple[str, ...]]:
    effective = load(scenario, settings=settings)
    system = build(effective, seed=1)
    system.run(10**12 if scenario == "ess-sas" else 2 * 10**9)
    return system.fingerprint(), effective.remarks


@pytest.mark.parametrize(("scenario", "settings", "name", "value", "why"), IDLE)
def test_a_setting_that_nothing_reads_says_so_and_changes_nothing(
    scenario: str, settings: dict[str, str], name: str, value: str, why: str
) -> None:
    before, _ = _run(scenario, settings)
    after, remarks = _run(scenario, settings | {name: value})
    assert after == before
    begin = f"{name}: has no effect in this scenario, because "
    found = [line for line in remarks if line.startswith(begin)]
    assert len(found) == 1
    assert why in found[0]


@pytest.mark.parametrize(
    ("scenario", "settings", "name", "value"),
    [
        ("ess-sas", {"storage.mode": "802.3ad"}, "storage.xmit_hash_policy", "layer2"),
        ("ess-sas", {}, "switch.pause_xoff", "1 MiB"),
        ("ess-sas", _READ | {"test": "mixrw-seq"}, "gpfsperf.readratio", "50"),
        ("ess-sas", _READ, _FILE_LIMIT, "2G"),
        ("x460-bonding", {f"{_BOND} mode": "802.3ad"}, f"{_BOND} xmit_hash_policy", "layer3+4"),
        ("x460-bonding", {f"{_BOND} mode": "active-backup"}, f"{_BOND} primary", "eth0"),
        ("x460-bonding", {}, "port-channel load-balance", "src-ip"),
        ("x460-out-of-box", {"short_flows": "1"}, "request", "2 KiB"),
        ("x460-bonding", {"unplug eth0": "1 s"}, f"{_BOND} updelay", "200"),
        ("relay-tuned", {f"{_RX}/rps_flow_cnt": "4096"}, "net.core.rps_sock_flow_entries", "4096"),
    ],
)
def test_a_setting_that_is_read_is_silent(
    scenario: str, settings: dict[str, str], name: str, value: str
) -> None:
    remarks = load(scenario, settings=settings | {name: value}).remarks
    assert not [line for line in remarks if "no effect in this scenario" in line]


def test_whatif_warns_of_a_tuning_that_does_nothing() -> None:
    found = simnet.whatif(
        "ess-sas",
        "storage.xmit_hash_policy=layer2",
        settings={"length": "0.01"},
        seeds=2,
        members=0,
        jobs=1,
    )
    assert any("no effect in this scenario" in line for line in found.tunings[0].warnings)
