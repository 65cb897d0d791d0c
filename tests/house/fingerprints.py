"""Configurations whose every counter is kept: each scenario, and odd but legal ones.

After a change of a simulated rule, see that each fingerprint which changed should have, and write
the file anew::

    python -m tests.house.fingerprints
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from simnet.scenario.core.load import load
from simnet.scenario.scenarios import scenario_names
from simnet.scenario.system.build import build

FILE: Final = Path(__file__).with_name("fingerprints.json")
_MS: Final = 10**9


@dataclass(frozen=True)
class Configuration:
    """A scenario with settings, and how long it is simulated."""

    scenario: str
    settings: dict[str, str] = field(default_factory=dict)
    tunings: tuple[str, ...] = ()
    ms: int = 2

    def fingerprint(self) -> str:
        """Return the digest of all counters at the end."""
        effective = load(self.scenario, settings=self.settings, tunings=self.tunings)
        system = build(effective, seed=1)
        system.run(self.ms * _MS)
        return system.fingerprint()


_FEW: Final = {"relay.connections": "50"}
_ONE_CORE: Final = {"cpu.cores_per_socket": "1", "peer:cpu.cores_per_socket": "1"}
_BOTH_MTUS: Final = ("nic.mtu", "peer:nic.mtu")

# what a scenario's own fingerprint is made with, where that is more than two milliseconds of it
_OWN: Final[dict[str, dict[str, Any]]] = {
    "relay-untuned": {"settings": _FEW},
    "relay-tuned": {"settings": _FEW},
    "tcp-rr-one-queue": {"settings": {"connections": "20"}, "tunings": ("rps-ff",)},
    "web-25g": {"settings": {"connections": "40"}, "ms": 12},
    "media-udp": {"ms": 8},
    "busy-web": {"ms": 400},
    "container-udp": {"ms": 4},
    "home-router": {"ms": 4},
    "xdp-connectx5": {"tunings": ("six-streams",), "ms": 1},
    "xdp-firewall": {"ms": 4},
    "vlan-half-cpu": {"ms": 20},
    "vscsi-parallel": {"ms": 200},
    "netperf-rr": {"ms": 12},
    "ess-sas": {"ms": 60_000},
    "wan-transfer": {"ms": 40},
}

_ODD: Final = {
    "busy-web, a listener each, cookies for all": Configuration(
        "busy-web", {"net.ipv4.tcp_syncookies": "2"}, ("listener-each",), ms=400
    ),
    "dns-udp, sockets by CPU, batches": Configuration(
        "dns-udp",
        {"/sys/class/net/eth0/queues/tx-*/xps_cpus": "f"},
        ("sockets-by-cpu", "batches-of-16"),
    ),
    "container-udp, a ring and RPS": Configuration(
        "container-udp", tunings=("veth-napi", "veth-rps"), ms=4
    ),
    "router-nat, flow table": Configuration("router-nat", tunings=("software-offload",)),
    "router-connectx5, firewalld": Configuration("router-connectx5", tunings=("drop-firewalld",)),
    "home-router, RPS of both": Configuration(
        "home-router",
        {
            "/sys/class/net/eth0/queues/rx-0/rps_cpus": "2",
            "/sys/class/net/br-lan/queues/rx-0/rps_cpus": "1",
        },
        ("software-offload",),
        ms=4,
    ),
    "home-router, BCM4908": Configuration(
        "home-router", {"gateway.streams": "3"}, ("bcm4908",), ms=4
    ),
    "xdp-connectx5, redirected": Configuration("xdp-connectx5", tunings=("to-other-port",)),
    "xdp-firewall, redirected": Configuration(
        "xdp-firewall",
        {"xdp.action": "redirect", "ethtool -L eth1 combined": "4", "xdp.rate": "3000000"},
    ),
    "wan-transfer, losses in bursts": Configuration(
        "wan-transfer",
        {"netem.delay": "1 ms", "netem.gemodel_p": "0.1 %", "netem.gemodel_r": "20 %"},
        ms=40,
    ),
    "wan-transfer, jitter, copies and a way back of its own": Configuration(
        "wan-transfer",
        {
            "netem.rate": "0 bit/s",
            "netem.delay": "1 ms",
            "netem.jitter": "10 us",
            "netem.duplicate": "1 %",
            "netem.reorder": "0.1 %",
            "netem_to_system.delay": "2 ms",
        },
        ms=40,
    ),
    "wan-transfer, marks by CoDel": Configuration(
        "wan-transfer",
        {
            "netem.rate": "10 Gbit/s",
            "netem.delay": "100 us",
            "bottleneck.queue": "codel",
            "bottleneck.codel_ce_threshold": "100 us",
        },
        ("both-buffers", "dctcp-both-ends"),
        ms=20,
    ),
    "wan-transfer, RED": Configuration(
        "wan-transfer",
        {
            "netem.rate": "10 Gbit/s",
            "netem.delay": "100 us",
            "bottleneck.queue": "red",
            "bottleneck.red_limit": "400 kB",
        },
        ("both-buffers",),
        ms=20,
    ),
    "wan-transfer, BBR and losses": Configuration(
        "wan-transfer",
        {"netem.rate": "2 Gbit/s", "netem.delay": "500 us", "netem.loss": "0.5 %"},
        ("both-buffers", "bbr-sender"),
        ms=20,
    ),
    "wan-transfer, BBR by fq": Configuration(
        "wan-transfer",
        {"netem.rate": "2 Gbit/s", "netem.delay": "500 us", "net.core.default_qdisc": "fq"},
        ("both-buffers", "bbr-sender"),
        ms=20,
    ),
    "web-25g, four queues, RPS and RFS": Configuration(
        "web-25g",
        {"connections": "40", "think": "0 ns", "ethtool -L eth0 combined": "4"},
        ("rps-all", "rfs-all", "fixed-50us"),
        ms=12,
    ),
    "web-25g, aRFS and a rule": Configuration(
        "web-25g",
        {
            "connections": "40",
            "taskset --cpu-list": "16-31",
            "ethtool -N eth0": "flow-type tcp4 src-ip 10.0.0.2 dst-ip 10.0.0.1"
            " src-port 12865 dst-port 32770 action 5",
        },
        ("arfs",),
        ms=12,
    ),
    "stream-100g, all optimisations and short flows": Configuration(
        "stream-100g", tunings=("tso-gro", "jumbo", "arfs", "16-short-flows")
    ),
    "vm-virtio, four pairs of queues": Configuration("vm-virtio", tunings=("four-pairs",), ms=3),
    "vm-virtio, requests, threads that share CPUs and poll": Configuration(
        "vm-virtio",
        {
            "test": "tcp_rr",
            "virsh emulatorpin": "1",
            "peer:virsh emulatorpin": "2",
            "peer:qemu netdev poll-us": "50",
        },
    ),
    "netperf-rr, sent datagrams": Configuration("netperf-rr", {"test": "udp_send"}, ms=12),
    "netperf-rr, polled datagrams": Configuration(
        "netperf-rr", tunings=("as-datagrams", "fixed-100us", "poll-50us"), ms=12
    ),
    "ten processes and the lock of bfq": Configuration(
        "nvme-980pro", {"fio.reads.numjobs": "10"}, ("scheduler-bfq",), ms=20
    ),
    "ess-sas, thirty jobs on four nodes": Configuration(
        "ess-sas", {"nodes": "4", "test": "30-test", "length": "0.02"}, ms=40_000
    ),
    "ess-sas, gpfsperf at 56 Gbit/s": Configuration(
        "ess-sas",
        {"type": "gpfsperf", "test": "mixrw-seq", "message": "1 MiB", "nodes": "4"},
        ("56gbe",),
        ms=2_000,
    ),
    "ess-sas, small blocks and a disk that is rebuilt": Configuration(
        "ess-sas", {"nodes": "2", "length": "0.02", "failed_disks": "1"}, ("blocks-1m",), ms=10_000
    ),
    "mq-deadline behind a short queue": Configuration(
        "nvme-local", tunings=("short-queue", "deadlines")
    ),
    "bfq with two weights": Configuration(
        "nvme-local",
        {
            "/sys/block/nvme0n1/queue/scheduler": "bfq",
            "fio.mixed.prio": "7",
            "fio.mixed.prioclass": "2",
            "fio.reader.numjobs": "1",
        },
    ),
    "kyber, and units that are polled for": Configuration(
        "nvme-local",
        {"fio.mixed.hipri": "on", "modprobe nvme poll_queues": "4"},
        ("latency-targets", "rq-affinity-2"),
    ),
    "one CPU at each end": Configuration("sw1621-t520", _ONE_CORE),
    "one CPU that relays": Configuration(
        "relay-untuned", {"machine.sockets_per_node": "1", "cpu.cores_per_socket": "1"} | _FEW
    ),
    "one receive buffer": Configuration(
        "x460-out-of-box", {f"ethtool -G eth{port} rx": "1" for port in range(8)}
    ),
    "one receive buffer, held off": Configuration(
        "sw1621-t520", {"nic.rx_buffers_posted": "1", "peer:nic.rx_buffers_posted": "1"}
    ),
    "the smallest transmit ring": Configuration(
        "x460-out-of-box", {"test": "netperf", "nic.tx_ring": "16"}
    ),
    "the smallest MTU": Configuration("x460-out-of-box", dict.fromkeys(_BOTH_MTUS, "68 B")),
    "the smallest MTU at one end": Configuration("relay-tuned", {"nic.mtu": "68 B"} | _FEW),
    "the largest MTU": Configuration("x460-out-of-box", dict.fromkeys(_BOTH_MTUS, "64 KiB")),
    "the smallest MTU of InfiniBand": Configuration(
        "ipoib-sunway", dict.fromkeys(_BOTH_MTUS, "68 B"), ms=1
    ),
    "the largest MTU of datagrams": Configuration(
        "ipoib-sunway", {"/sys/class/net/ib0/mode": "datagram", "ifconfig ib0 mtu": "4092"}
    ),
    "ports without a connection": Configuration("x460-out-of-box", {"nodes": "1"}),
    "more connections than CPUs": Configuration(
        "sw1621-t520", {"connections": "40", "peers_simulated": "machines"}
    ),
    "more queues than CPUs": Configuration(
        "relay-tuned", {"nic.rx_queues": "32", "nic.tx_queues": "32"} | _FEW
    ),
    "fewer queues than the settings name": Configuration(
        "relay-tuned", {"nic.rx_queues": "1", "nic.tx_queues": "1"} | _FEW
    ),
    "a mask with words for absent CPUs": Configuration(
        "relay-tuned",
        {"/sys/class/net/eth0/queues/rx-*/rps_cpus": "00000000,00000000,00000080"} | _FEW,
    ),
    "CPUs that are offline": Configuration(
        "x460-out-of-box", {"machine.possible_cpus": "4096", "nodes": "2", "irqbalance": "off"}
    ),
    "a table of flows with one entry": Configuration(
        "relay-tuned",
        {"net.core.rps_sock_flow_entries": "1", "/sys/class/net/eth0/queues/rx-*/rps_flow_cnt": "1"}
        | _FEW,
    ),
    "a hash of one bit": Configuration(
        "relay-tuned", {"kernel.rxhash_bits": "1", "kernel.rps_index_shift": "1"} | _FEW
    ),
    "one packet a poll": Configuration("x460-out-of-box", {"nic.napi_weight": "1"}),
    "several connections by a bond": Configuration("x460-bonding-pair", {"connections": "3"}),
    "memory as far as the own": Configuration(
        "x460-out-of-box", {"cpu.memory.remote_latency": "108 ns", "cpu.memory.hop": "0 ns"}
    ),
}

CONFIGURATIONS: Final[dict[str, Configuration]] = {
    **{name: Configuration(name, **_OWN.get(name, {})) for name in scenario_names()},
    **_ODD,
}


def kept() -> dict[str, str]:
    """Return the fingerprints in the file."""
    found: dict[str, str] = json.loads(FILE.read_text("utf-8"))
    return found


if __name__ == "__main__":
    now = {name: made.fingerprint() for name, made in CONFIGURATIONS.items()}
    FILE.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
