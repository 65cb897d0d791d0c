"""Texts that make each rule fire, and texts nearby that do not."""

from typing import Final, NamedTuple


class Pair(NamedTuple):
    """What a rule finds something in, and what it does not."""

    fires: str
    quiet: str


def stat(*lines: str, rx: int = 1_000_000, tx: int = 1_000_000) -> str:
    """Return what `ethtool -S eth0` prints."""
    rows = (f"     {line}" for line in (f"rx_packets: {rx}", f"tx_packets: {tx}", *lines))
    return "\n".join(("$ ethtool -S eth0", "NIC statistics:", *rows))


def counter(name: str, much: int = 20_000, little: int = 3) -> Pair:
    """Return a counter that is large, and the same that is small."""
    return Pair(stat(f"{name}: {much}"), stat(f"{name}: {little}", rx=10**9, tx=10**9))


def log(line: str, quiet: str = "eth0: link becomes ready", times: int = 1) -> Pair:
    """Return lines of a kernel's log."""
    return Pair(f"[   12.345678] {line}\n" * times, f"[   12.345678] {quiet}\n")


def nstat(*pairs: str) -> str:
    """Return what nstat prints."""
    return "".join(f"{pair}    0.0\n" for pair in pairs)


def share(name: str, of: str, much: int = 20_000, little: int = 2) -> Pair:
    """Return a counter of a protocol that is large or small against another."""
    return Pair(
        nstat(f"{name} {much}", f"{of} 1000000"), nstat(f"{name} {little}", f"{of} 1000000")
    )


VETH = """7: veth3f1a2b@if6: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    RX:  bytes packets errors dropped  missed   mcast
    1234567 12345      0       0       0       0
    TX:  bytes packets errors dropped carrier collsns
    80123456 1000000      0 {}       0       0
"""


WIFI = """Connected to 02:11:22:33:44:55 (on wlp2s0)
\tSSID: here
\tsignal: {} dBm
\trx bitrate: 19.5 MBit/s MCS 2
"""
FIELDS = """$ ethtool -n eth4 rx-flow-hash udp4
UDP over IPV4 flows use these fields for computing Hash flow key:
IP SA
IP DA
{}
"""
POOLS = """# pool packets-arrived sockets-enqueued threads-woken threads-timedout
0 1000000 {} 700000 0
"""
NFSIOSTAT = """nas:/export mounted on /data:

read:              ops/s            kB/s           kB/op         retrans    avg RTT (ms)    avg exe (ms)  avg queue (ms)          errors
                1180.200       75532.800          64.000        0 (0.0%)          {}          38.450           {}        0 (0.0%)
"""  # noqa: E501 - as nfsiostat prints


def softnet(dropped: int = 0, squeezed: int = 0, limited: int = 0) -> str:
    """Return two lines of softnet_stat, a million packets each."""
    row = "000f4240 {:08x} {:08x}" + " 00000000" * 6 + " 00000000 {:08x} 00000000 {:08x}\n"
    return row.format(dropped, squeezed, limited, 0) + row.format(0, 0, 0, 1)


def interrupts(*rows: tuple[int, int, str]) -> str:
    """Return /proc/interrupts of two CPUs."""
    lines = (
        f"{50 + n}: {one} {two} PCI-MSI {n}-edge {name}" for n, (one, two, name) in enumerate(rows)
    )
    return "\n".join(("           CPU0       CPU1", *lines))


def dpdk(missed: int = 0, nombuf: int = 0) -> Pair:
    """Return what testpmd shows of a port that loses packets, and of one that does not."""
    rows = (
        "  ######## NIC statistics for port 0  ########\n  RX-packets: 1484123412 RX-missed: {}"
        "   RX-bytes:  89047404720\n  RX-errors: 0\n  RX-nombuf:  {}\n"
    )
    return Pair(rows.format(missed, nombuf), rows.format(3, 3))


def perf(name: str, much: float, little: float) -> Pair:
    """Return what perf top prints, of a function that takes much or little time."""
    row = "    {:5.2f}%  [kernel]            [k] {}\n    1.00%  sshd     [.] main\n"
    return Pair(row.format(much, name), row.format(little, name))


def mpstat(*rows: str) -> str:
    """Return what mpstat -P ALL prints: CPU, usr, soft, steal, iowait, idle."""
    head = "12:00:01     CPU    %usr   %soft  %steal %iowait   %idle"
    return "\n".join((head, *(f"12:00:02     {row}" for row in rows)))


def lspci(*lines: str) -> str:
    """Return what lspci -vv prints of a port."""
    head = "03:00.0 Ethernet controller: Intel Corporation I210 Gigabit Network Connection"
    return "\n".join((head, *(f"\t\t{line}" for line in lines)))


def rdma(name: str, much: int = 20_000) -> Pair:
    """Return what `rdma statistic` prints of an adapter that counts much or little."""
    row = "link mlx5_0/1 rx_write_requests 1000000 rx_read_requests 5 {} {}\n"
    return Pair(row.format(name, much), row.format(name, 3))


def pressure(what: str, who: str) -> Pair:
    """Return a line of /proc/pressure, of a host that waits and of one that does not."""
    row = "/proc/pressure/{}:{} avg10={} avg60=1.00 avg300=0.00 total=5\n"
    return Pair(row.format(what, who, "82.10"), row.format(what, who, "1.10"))


def reason(name: str) -> Pair:
    """Return what a tracer tells of dropped packets, most of them for a reason, and hardly any."""
    head = "skb:kfree_skb\n"
    return Pair(
        f"{head}@[{name}]: 900\n@[PKT_TOO_BIG]: 5\n", f"{head}@[{name}]: 5\n@[PKT_TOO_BIG]: 900\n"
    )


def connection(name: str, much: float, little: float) -> Pair:
    """Return a connection of `ss -ti` that was held back for much or little of its time."""
    row = f"{SS}ESTAB 0 0 10.0.0.1:5001 10.0.0.2:41234\n\t cwnd:10 busy:9000ms {name}:9ms({{}}%)\n"
    return Pair(row.format(much), row.format(little))


COALESCE: Final = "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\n"
CHANNELS: Final = (
    "Channel parameters for eth0:\nPre-set maximums:\nCombined: 8\n"
    "Current hardware settings:\nCombined: {}\n"
)
LSCPU: Final = (
    "CPU(s): 2\nNUMA node0 CPU(s): 0\nNUMA node1 CPU(s): 1\n"
    "/sys/class/net/eth0/device/numa_node:{}\n"
)
ADDRESSES: Final = (
    "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq\n    inet 10.0.0.1/24 scope global eth0\n"
    "3: eth1: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq\n    inet {}/24 scope global eth1\n"
)
NETSTAT_I: Final = (
    "Iface   MTU RX-OK RX-ERR RX-DRP RX-OVR TX-OK TX-ERR TX-DRP TX-OVR Flg\n"
    "eth0   1500 800000 {} {} 0 90000 0 0 0 BMRU\neth1   1500 0 0 0 0 0 0 0 0 {}\n"
)
QDISC: Final = (
    "qdisc {} 8001: dev eth0 root\n Sent 5 bytes {} pkt (dropped {}, overlimits {} requeues {})\n"
)
SOFTIRQS: Final = "                    CPU0       CPU1\n      NET_RX:   {:>9} {:>10}\n"
FQ: Final = (
    "qdisc fq 8003: dev eth0 root refcnt 2 limit 10000p flow_limit 100p buckets 1024\n"
    " Sent 5 bytes 1000000 pkt (dropped 20000, overlimits 0 requeues 0)\n"
    "  gc 3212 highprio 0 throttled 12 flows_plimit {}\n"
)
POLICE: Final = (
    "  action order 1:  police 0x1 rate 1Mbit burst 10Kb\n"
    " Sent 5 bytes 1000000 pkt (dropped {}, overlimits 0 requeues 0)\n"
)
BOND: Final = (
    "2: eth0: <BROADCAST,SLAVE,UP> mtu 1500 qdisc mq master bond0 state UP\n"
    "3: eth1: <BROADCAST,SLAVE,UP> mtu {} qdisc mq master bond0 state UP\n"
)
EDEV: Final = (
    "12:00:01 AM IFACE rxerr/s txerr/s coll/s rxdrop/s\n12:10:01 AM eth0 {} 0.00 0.00 {}\n"
)
IFUTIL: Final = (
    "12:00:01 AM     IFACE   rxpck/s   txpck/s   %ifutil\n12:00:02 AM      eth0      1.00 "
    " 90000.00     {}\n"
)
SLAVES: Final = (
    "Slave Interface: eth0\nMII Status: up\nAggregator ID: 1\n"
    "Slave Interface: eth1\nMII Status: {}\nAggregator ID: {}\n"
)
HASHED: Final = (
    "$ cat /proc/net/bonding/bond0\nBonding Mode: load balancing (xor)\n"
    "Transmit Hash Policy: layer2 (0)\nSlave Interface: eth0\nSlave Interface: eth1\n$ ip -s link\n"
    "2: eth0: <UP> mtu 1500\n    TX: bytes packets\n    {} 9000\n"
    "3: eth1: <UP> mtu 1500\n    TX: bytes packets\n    {} 900\n"
)
SWITCH: Final = (
    "GigabitEthernet0/1 is up, line protocol is up (connected)\n  Total output drops: {}\n"
    "  9000000 packets input, 5 bytes\n  {} input errors, 0 CRC\n  9000000 packets output, 5"
    " bytes\n"
)
MTR: Final = (
    "HOST: h Loss% Snt Last\n 1.|-- 10.0.0.1 0.0% 200 0.3\n 2.|-- 10.1.0.1 30.0% 200 0.4\n"
    " 3.|-- 10.2.0.1 {} 200 0.9\n"
)
SS: Final = "State  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
IOSTAT: Final = "Device r/s w/s await aqu-sz %util\n"
UNREAD: Final = (
    "Name: eth0\nRX Queues: 4\n$ ethtool -S eth0\nNIC statistics:\n"
    " rx_packets: 1000000\n rx_dropped: {}\n"
)

PINGS: Final = (
    "--- 1.1.1.1 ping statistics ---\nrtt min/avg/max/mdev = 11.2/12.4/14.1/0.8 ms\n"
    "--- 1.1.1.1 ping statistics ---\nrtt min/avg/max/mdev = 11.9/{}/999.1/0.8 ms\n"
)
RECEIVED: Final = "[  5]   0.00-10.05  sec   112 MBytes  {} Mbits/sec    receiver\n"
TAP: Final = VETH.replace("veth3f1a2b@if6", "tap1f2e3d4c-5b")
DRIVES: Final = (
    "Device r/s w/s await %util\nsda 61 71 68.8 60.0\nsdb 60 70 66.1 60.0\nsdc 62 72 {} 60.0\n"
    "sdd 59 69 65.4 60.0\n"
)
TOP: Final = (
    "    PID USER   PR\n12341 root      20   0       0      0      0 R  {}   0.0  81:12.12 {}\n"
)
TUNNEL: Final = "CPU %soft %idle\n0 {} 1.00\n1 2.00 98.00\n{}"
FAR: Final = (
    "[ 5] 0.00-3.00 sec 54 MBytes 157 Mbits/sec 0 sender\n"
    + "".join(
        f"[ 5] {n}.00-{n + 1}.00 sec 18 MBytes 157 Mbits/sec 0 3.01 MBytes\n" for n in range(3)
    )
    + "rtt min/avg/max/mdev = {0}/{0}/{0}/0.1 ms\n"
)
RULES: Final[dict[str, Pair]] = {
    "upcalls-lost": Pair(
        "system@ovs-system:\n  lookups: hit:8123412 missed:912341 lost:41234\n",
        "system@ovs-system:\n  lookups: hit:8123412 missed:912341 lost:4\n",
    ),
    "udp-memory": share("UdpMemErrors", "UdpInDatagrams"),
    "slow-way": Pair(
        f"{RECEIVED.format('94.2')}\tSpeed: 1000Mb/s\n",
        f"{RECEIVED.format('91.2')}\tSpeed: 1000Mb/s\n",
    ),
    "tap-dropped": Pair(TAP.format(90_000), TAP.format(3)),
    "standing-queue": Pair(PINGS.format(911.2), PINGS.format(19.3)),
    "xdp-generic": Pair(
        "4: eth0: <UP> mtu 1500 xdpgeneric/id:91 qdisc fq_codel\n",
        "4: eth0: <UP> mtu 1500 xdp/id:91 qdisc fq_codel\n",
    ),
    "bad-offload": log("eno1: caps=(0x00000100000859a9, 0x0) len=2962 gso_size=1448 gso_type=1"),
    "disk-apart": Pair(DRIVES.format("412.12"), DRIVES.format("71.20")),
    "disk-scheduler": Pair(
        "/sys/block/nvme0n1/queue/scheduler:none [bfq] mq-deadline\n",
        "/sys/block/nvme0n1/queue/scheduler:[none] bfq mq-deadline\n",
    ),
    "tunnel-one-queue": Pair(
        TUNNEL.format("98.00", "\n5: gre1@NONE: <UP>\n    link/gre 192.0.2.1 peer 198.51.100.7\n"),
        TUNNEL.format("98.00", "\n5: gre0@NONE: <NOARP>\n    link/gre 0.0.0.0 brd 0.0.0.0\n"),
    ),
    "encrypted-one-queue": Pair(
        TUNNEL.format("98.00", "\n\tproto esp spi 0xc1827364 reqid 1 mode tunnel\n"),
        TUNNEL.format("9.00", "\n\tproto esp spi 0xc1827364 reqid 1 mode tunnel\n"),
    ),
    "window-limited": Pair(FAR.format("152.0"), FAR.format("70.0")),
    "fio-cpu": Pair(
        "t: (groupid=0, jobs=1): err= 0\n  cpu          : usr=28.13%, sys=71.82%, ctx=18\n",
        "t: (groupid=0, jobs=1): err= 0\n  cpu          : usr=8.13%, sys=21.82%, ctx=18\n",
    ),
    "rdma-slow": Pair(
        "CA 'mlx5_0'\n\tCA type: MT4123\n\tPort 1:\n\t\tRate: 100\n\t\tLink layer: InfiniBand\n",
        "CA 'mlx5_0'\n\tCA type: MT4123\n\tPort 1:\n\t\tRate: 200\n\t\tLink layer: InfiniBand\n",
    ),
    "bond-in-turn": Pair(
        'DEVICE=bond0\nBONDING_OPTS="mode=balance-rr miimon=100"\n',
        'DEVICE=bond0\nBONDING_OPTS="mode=802.3ad miimon=100"\n',
    ),
    "softirq-everywhere": Pair(
        "CPU %soft %idle\n0 98.00 1.00\n1 97.00 2.00\n",
        "CPU %soft %idle\n0 98.00 1.00\n1 7.00 92.00\n",
    ),
    "card-hot": log(
        "ixgbe 0000:01:00.0 eno49: Network adapter has been stopped because it has over heated."
    ),
    "emulated-card": Pair(
        "Hypervisor vendor:     KVM\n$ ethtool -i eth0\ndriver: e1000\n",
        "Hypervisor vendor:     KVM\n$ ethtool -i eth0\ndriver: virtio_net\n",
    ),
    "card-lost": log(
        "igc 0000:03:00.0 enp3s0: PCIe link lost, device now detached",
        "pciehp 0000:00:1c.0: Unable to change power state from D3cold to D0, device inaccessible",
    ),
    "card-drops": counter("rx_csr_drops", little=30),
    "line-full": Pair(IFUTIL.format("99.20"), IFUTIL.format("9.20")),
    "no-link": Pair("Settings for eth0:\n\tLink detected: no\n", "\tLink detected: yes\n"),
    "optic": Pair(
        "\tLaser rx power low alarm : On\n\tLaser bias current high alarm : Off\n",
        "\tReceiver signal average optical power : 0.5012 mW / -3.00 dBm\n"
        "\tLaser rx power low alarm : Off\n",
    ),
    "module-event": log(
        "mlx5_core 0000:3b:00.0: Port module event[error]: module 0, Cable error, High Temperature",
        "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable plugged",
    ),
    "drive-hot": Pair(
        "Smart Log for NVME device:nvme0n1\ncritical_warning : 0x2\n",
        "Smart Log for NVME device:nvme0n1\ncritical_warning : 0\nWarning Temperature Time : 0\n",
    ),
    "drive-worn": Pair(
        "Smart Log for NVME device:nvme0n1\npercentage_used : 104%\n",
        "Smart Log for NVME device:nvme0n1\npercentage_used : 4%\n",
    ),
    "rdma-loss": rdma("out_of_sequence"),
    "rdma-not-ready": rdma("rnr_nak_retry_err"),
    "rdma-congestion": rdma("rp_cnp_handled", 90_000),
    "rdma-cable": Pair("SymbolErrorCounter:......65535\n", "SymbolErrorCounter:......1\n"),
    "rdma-down": Pair(
        "CA 'mlx4_0'\n\t\tState: Down\n", "CA 'mlx4_0'\n\t\tState: Active\n\t\tRate: 40\n"
    ),
    "bond-port-down": Pair(SLAVES.format("down", 1), SLAVES.format("up", 1)),
    "bond-uneven": Pair(HASHED.format(9_000_000, 90_000), HASHED.format(9_000_000, 8_000_000)),
    "bond-apart": Pair(SLAVES.format("up", 2), SLAVES.format("up", 1)),
    "switch-drops": Pair(SWITCH.format(90_000, 0), SWITCH.format(3, 0)),
    "switch-errors": Pair(SWITCH.format(0, 900), SWITCH.format(0, 3)),
    "cpu-pressure": pressure("cpu", "some"),
    "memory-pressure": pressure("memory", "full"),
    "io-pressure": pressure("io", "full"),
    "remote-pages": Pair(
        "numa_hit 9000000 9000000\nnuma_miss 0 8000000\n",
        "numa_hit 9000000 9000000\nnuma_miss 0 80000\n",
    ),
    "dropped-socket": reason("SOCKET_RCVBUFF"),
    "dropped-queue": reason("QDISC_DROP"),
    "dropped-filter": reason("NETFILTER_DROP"),
    "dropped-unwanted": reason("NO_SOCKET"),
    "dropped-checksum": reason("UDP_CSUM"),
    "lossy-route": Pair(MTR.format("7.0%"), MTR.format("0.0%")),
    "path-mtu": Pair(
        "ping: local error: message too long, mtu=1420\n",
        "3 packets transmitted, 3 received, 0% packet loss, time 2003ms\n",
    ),
    "receiver-limited": connection("rwnd_limited", 97.1, 1.2),
    "sender-limited": connection("sndbuf_limited", 81.0, 3.0),
    "clock-source": Pair(
        "/sys/devices/system/clocksource/clocksource0/current_clocksource:hpet\n",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource:tsc\n",
    ),
    "suspect-gro": log(
        "TCP: eth0: Driver has suspect GRO implementation, TCP performance may be compromised."
    ),
    "test-cpu": Pair(
        "CPU Utilization: local/sender 99.1% (1.2%u/97.9%s), remote/receiver 45.1% (1%u/44%s)\n",
        "CPU Utilization: local/sender 39.1% (1.2%u/37.9%s), remote/receiver 45.1% (1%u/44%s)\n",
    ),
    "nfs-retransmits": Pair(
        "calls      retrans    authrefrsh\n1000000    90000      1000000\n",
        "calls      retrans    authrefrsh\n1000000    9          1000000\n",
    ),
    "weak-signal": Pair(WIFI.format(-82), WIFI.format(-51)),
    "nfs-server-slow": Pair(
        NFSIOSTAT.format("38.210", "0.110"), NFSIOSTAT.format("0.410", "0.010")
    ),
    "nfs-slots": Pair(NFSIOSTAT.format("0.910", "11.300"), NFSIOSTAT.format("0.910", "0.100")),
    "crc-errors": counter("rx_crc_errors"),
    "symbol-errors": counter("rx_symbol_err_phy"),
    "fec-uncorrectable": counter("fec_uncorrectable_blocks"),
    "late-collisions": counter("tx_late_collisions"),
    "half-duplex": Pair(
        "Settings for eth0:\n\tDuplex: Half\n", "Settings for eth0:\n\tDuplex: Full\n"
    ),
    "slow-link": Pair(
        "Settings for eth0:\n\tSupported link modes: 1000baseT/Full\n\tSpeed: 100Mb/s\n",
        "Settings for eth0:\n\tSupported link modes: 1000baseT/Full\n\tSpeed: 1000Mb/s\n",
    ),
    "link-flaps": log("igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Down", times=4),
    "pause-received": counter("rx_pause_ctrl_phy"),
    "pause-sent": counter("tx_flow_control_xoff"),
    "oversize": counter("rx_length_errors"),
    "carrier-errors": counter("tx_carrier_errors"),
    "port-errors": Pair(NETSTAT_I.format(9000, 0, "BMRU"), NETSTAT_I.format(0, 0, "BMRU")),
    "pcie-downgraded": Pair(
        lspci("LnkCap: Speed 8GT/s, Width x8", "LnkSta: Speed 8GT/s (ok), Width x4 (downgraded)"),
        lspci("LnkCap: Speed 8GT/s, Width x8", "LnkSta: Speed 8GT/s (ok), Width x8 (ok)"),
    ),
    "pcie-limited": log(
        "mlx5_core 0000:3b:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s x4",
        "mlx5_core 0000:3b:00.0: 126.016 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x16 link)",
    ),
    "pcie-errors": log("ixgbe 0000:03:00.0: PCIe Bus Error: severity=Corrected", times=6),
    "pcie-stalls": Pair(stat("outbound_pci_stalled_wr: 40"), stat("outbound_pci_stalled_wr: 0")),
    "aspm-l1": Pair(
        lspci("LnkCtl: ASPM L1 Enabled; RCB 64 bytes"), lspci("LnkCtl: ASPM Disabled; RCB 64 bytes")
    ),
    "io-page-fault": log("ice 0000:c7:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x2b]"),
    "iommu-strict": Pair("intel_iommu=on iommu=strict", "intel_iommu=on iommu=pt"),
    "swiotlb-full": log("ixgbe 0000:03:00.0: swiotlb buffer is full (sz: 4096 bytes)"),
    "tx-timeout": log("NETDEV WATCHDOG: eth0 (bnx2): transmit queue 0 timed out"),
    "card-reset": log("e1000e 0000:00:19.0 eth0: Reset adapter unexpectedly", times=3),
    "firmware-discards": counter("rx_fw_discards"),
    "card-checksum": counter("rx_csum_offload_errors"),
    "bnx2-lost-interrupt": Pair(
        "Linux a 2.6.18-164.el5 #1 SMP\ndriver: bnx2\n",
        "Linux a 2.6.18-194.3.1.el5 #1 SMP\ndriver: bnx2\n",
    ),
    "page-cache": Pair(
        stat("rx_cache_reuse: 100000", "rx_cache_full: 900000"),
        stat("rx_cache_reuse: 900000", "rx_cache_full: 100000"),
    ),
    "xdp-redirect-ring": Pair(
        "CPU(s): 16\nthe program returns XDP_REDIRECT\n" + CHANNELS.format(4),
        "CPU(s): 8\nthe program returns XDP_REDIRECT\n" + CHANNELS.format(8),
    ),
    "rss-one-ring": Pair(
        "RX flow hash indirection table for eth0 with 4 RX ring(s):\n    0:  0 0 0 0 0 0 0 0\n",
        "RX flow hash indirection table for eth0 with 4 RX ring(s):\n    0:  0 1 2 3 0 1 2 3\n",
    ),
    "rss-one-queue": Pair(
        stat("rx_queue_0_packets: 990000", *(f"rx_queue_{n}_packets: 9" for n in (1, 2, 3))),
        stat(*(f"rx_queue_{n}_packets: 250000" for n in range(4))),
    ),
    "cloud-bandwidth-in": counter("bw_in_allowance_exceeded"),
    "cloud-bandwidth-out": counter("bw_out_allowance_exceeded"),
    "cloud-packets": counter("pps_allowance_exceeded"),
    "cloud-connections": counter("conntrack_allowance_exceeded"),
    "cloud-link-local": counter("linklocal_allowance_exceeded"),
    "unread-queues": Pair(UNREAD.format(750_000), UNREAD.format(600_000)),
    "ring-full": counter("rx_missed_errors"),
    "phy-discards": counter("rx_discards_phy"),
    "no-memory": counter("alloc_rx_page_failed"),
    "tx-ring-full": counter("tx_busy"),
    "tx-dropped": counter("tx_dropped"),
    "veth-dropped": Pair(VETH.format(20_000), VETH.format(3)),
    "vmxnet3-ring": Pair(
        stat("Rx Queue#: 0", "  pkts rx OOB: 20000"), stat("Rx Queue#: 0", "  pkts rx OOB: 0")
    ),
    "xdp-full": counter("rx_xdp_tx_full"),
    "unwanted": Pair(
        NETSTAT_I.format(0, 9000, "BMRU").replace("eth0", "br0"), NETSTAT_I.format(0, 9000, "BMRU")
    ),
    "link-dropped": Pair(NETSTAT_I.format(0, 9000, "BMRU"), NETSTAT_I.format(0, 3, "BMRU")),
    "irq-one-cpu": Pair(
        interrupts((900_000, 0, "eth0-TxRx-0"), (900_000, 0, "eth0-TxRx-1")),
        interrupts((900_000, 0, "eth0-TxRx-0"), (0, 900_000, "eth0-TxRx-1")),
    ),
    "receives-alone": Pair(SOFTIRQS.format(900_000, 9), SOFTIRQS.format(900_000, 800_000)),
    "frames-without-timer": Pair(
        f"{COALESCE}rx-usecs: 0\nrx-frames: 8\n", f"{COALESCE}rx-usecs: 20\nrx-frames: 8\n"
    ),
    "long-timer": Pair(f"{COALESCE}rx-usecs: 1000\n", f"{COALESCE}rx-usecs: 50\n"),
    "one-queue": Pair(CHANNELS.format(1), CHANNELS.format(8)),
    "remote-interrupts": Pair(
        LSCPU.format(1) + interrupts((900_000, 0, "eth0-rx-0")),
        LSCPU.format(0) + interrupts((900_000, 0, "eth0-rx-0")),
    ),
    "irq-nobody-cared": log("irq 16: nobody cared (try booting with the irqpoll option)"),
    "backlog-full": Pair(softnet(dropped=500), softnet()),
    "squeezed": Pair(softnet(squeezed=50_000), softnet(squeezed=20)),
    "flow-limit": Pair(softnet(limited=50_000), softnet()),
    "softirq-full": Pair(
        mpstat("0 1.0 98.0 0.0 0.0 0.0", "1 0.0 1.0 0.0 0.0 99.0"),
        mpstat("0 1.0 20.0 0.0 0.0 79.0", "1 0.0 1.0 0.0 0.0 99.0"),
    ),
    "rps-one-cpu": Pair(
        "/sys/class/net/eth0/queues/rx-0/rps_cpus:1\n",
        "/sys/class/net/eth0/queues/rx-0/rps_cpus:f\n",
    ),
    "rps-off": Pair(
        "/sys/class/net/eth0/queues/rx-0/rps_cpus:00\n",
        "/sys/class/net/eth0/queues/rx-0/rps_cpus:ff\n",
    ),
    "budget-without-effect": Pair(
        "net.core.netdev_budget = 65535\nnet.core.netdev_budget_usecs = 2000\n",
        "net.core.netdev_budget = 300\nnet.core.netdev_budget_usecs = 2000\n",
    ),
    "rfs-half": Pair(
        "net.core.rps_sock_flow_entries = 32768\n/sys/class/net/eth0/queues/rx-0/rps_flow_cnt:0\n",
        "net.core.rps_sock_flow_entries = 32768\n/sys/class/net/eth0/queues/rx-0/rps_flow_cnt:99\n",
    ),
    "qdisc-drops": Pair(
        QDISC.format("mq", 10**6, 20_000, 0, 0), QDISC.format("mq", 10**6, 3, 0, 0)
    ),
    "shaped": Pair(QDISC.format("htb", 1000, 0, 900, 0), QDISC.format("htb", 1000, 0, 9, 0)),
    "fq-flow-limit": Pair(FQ.format(20_000), FQ.format(3)),
    "policed": Pair(POLICE.format(20_000), POLICE.format(3)),
    "requeued": Pair(QDISC.format("mq", 9000, 0, 0, 3000), QDISC.format("mq", 9000, 0, 0, 3)),
    "netem": Pair(
        "qdisc netem 8001: dev eth0 root limit 1000 loss 3%\n",
        "qdisc fq 8001: dev eth0 root limit 1000\n",
    ),
    "retransmits": share("TcpRetransSegs", "TcpOutSegs"),
    "lossy-path": Pair(
        "100 packets transmitted, 93 received, 7% packet loss, time 9ms\n",
        "100 packets transmitted, 100 received, 0% packet loss, time 9ms\n",
    ),
    "listen-overflow": share("TcpExtListenOverflows", "TcpPassiveOpens"),
    "syn-flood": log("TCP: request_sock_TCP: Possible SYN flooding on port 80. Sending cookies."),
    "tcp-pruned": share("TcpExtPruneCalled", "TcpInSegs"),
    "tcp-backlog": share("TcpExtTCPBacklogDrop", "TcpInSegs"),
    "tcp-memory": log("TCP: out of memory -- consider tuning tcp_mem"),
    "orphans": log("TCP: too many orphaned sockets"),
    "zero-window": share("TcpExtTCPToZeroWindowAdv", "TcpInSegs"),
    "ports-used-up": Pair(
        "TCP:   61231 (estab 2012, closed 58123, orphaned 12, timewait 58100)\n",
        "TCP:   61231 (estab 2012, closed 58123, orphaned 12, timewait 1100)\n",
    ),
    "tcp-checksum": share("TcpInCsumErrors", "TcpInSegs"),
    "marked-path": share("TcpExtTCPDeliveredCE", "TcpOutSegs"),
    "tcp-timeouts": share("TcpExtTCPTimeouts", "TcpOutSegs"),
    "paws": share("TcpExtPAWSEstab", "TcpInSegs"),
    "tcp-switched-off": Pair("net.ipv4.tcp_window_scaling = 0", "net.ipv4.tcp_window_scaling = 1"),
    "tcp-buffer-small": Pair(
        "net.ipv4.tcp_rmem = 4096 87380 174760", "net.ipv4.tcp_rmem = 4096 131072 6291456"
    ),
    "conntrack-full": log("nf_conntrack: nf_conntrack: table full, dropping packet"),
    "conntrack-drops": Pair(
        "cpu=0 found=1 invalid=2 insert=0 insert_failed=0 drop=90000 early_drop=0\n",
        "cpu=0 found=1 invalid=2 insert=0 insert_failed=3 drop=0 early_drop=0\n",
    ),
    "neighbours-full": log("neighbour: arp_cache: neighbor table overflow!"),
    "reverse-path": share("TcpExtIPReversePathFilter", "IpInReceives"),
    "same-network": Pair(ADDRESSES.format("10.0.0.2"), ADDRESSES.format("10.0.1.2")),
    "no-carrier": Pair(NETSTAT_I.format(0, 0, "BMU"), NETSTAT_I.format(0, 0, "BMRU")),
    "reassembly": share("IpReasmFails", "IpReasmReqds"),
    "fragmenting": share("IpFragFails", "IpOutRequests"),
    "no-route": share("IpOutNoRoutes", "IpInReceives"),
    "ip-discards": share("IpInDiscards", "IpInReceives"),
    "mtu-differs": Pair(BOND.format(9000), BOND.format(1500)),
    "udp-buffer": share("UdpRcvbufErrors", "UdpInDatagrams"),
    "udp-errors": share("UdpInErrors", "UdpInDatagrams"),
    "udp-send-buffer": share("UdpSndbufErrors", "UdpOutDatagrams"),
    "udp-checksum": share("UdpInCsumErrors", "UdpInDatagrams"),
    "udp-default": Pair("net.core.rmem_max = 212992", "net.core.rmem_max = 16777216"),
    "socket-queue": Pair(
        f"{SS}UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n\t skmem:(r0,rb212992,t0,tb2,f0,w0,o0,bl0,d500)\n",
        f"{SS}UNCONN 0 0 0.0.0.0:53 0.0.0.0:*\n\t skmem:(r0,rb212992,t0,tb2,f0,w0,o0,bl0,d0)\n",
    ),
    "accept-queue": Pair(
        f"{SS}LISTEN 129 128 0.0.0.0:80 0.0.0.0:*\n", f"{SS}LISTEN 0 128 0.0.0.0:80 0.0.0.0:*\n"
    ),
    "steal": Pair(mpstat("all 20.0 1.0 30.0 0.0 49.0"), mpstat("all 20.0 1.0 0.1 0.0 79.0")),
    "usb-2": Pair(
        "    |__ Port 1: Dev 2, If 0, Class=Vendor, Driver=ax88179_178a, 480M\n",
        "    |__ Port 1: Dev 2, If 0, Class=Vendor, Driver=ax88179_178a, 5000M\n",
    ),
    "wifi-sleeps": Pair("iw dev wlan0 get power_save\nPower save: on\n", "Power save: off\n"),
    "reordered": Pair(nstat("TcpExtTCPSACKReorder 912312"), nstat("TcpExtTCPSACKReorder 12")),
    "xsk-full": Pair(
        "rx dropped 0, rx queue full 41231233, fill ring empty 12\n",
        "rx dropped 0, rx queue full 0, fill ring empty 12\n",
    ),
    "busy-polling-idle": Pair(
        "net.core.busy_poll = 50\n" + nstat("TcpExtBusyPollRxPackets 0"),
        "net.core.busy_poll = 50\n" + nstat("TcpExtBusyPollRxPackets 91231"),
    ),
    "fec-off": Pair(
        "Active FEC encoding: Off\nNIC statistics:\n     rx_crc_errors.nic: 812312\n",
        "Active FEC encoding: Off\nNIC statistics:\n     rx_crc_errors.nic: 0\n",
    ),
    "devlink-errors": Pair(
        "pci/0000:17:00.0:\n  reporter tx\n    state error error 412 recover 411 last_dump\n",
        "pci/0000:17:00.0:\n  reporter tx\n    state healthy error 0 recover 0\n",
    ),
    "hot-copies-for-all": perf("macvlan_broadcast", 28.21, 3.21),
    "hot-entry": perf("entry_SYSCALL_64", 18.21, 3.21),
    "mac-fifo": Pair(
        "NIC statistics:\n     rx_packets: 1000000\n     IEEE_rx_macerr: 20000\n",
        "NIC statistics:\n     rx_packets: 1000000\n     IEEE_rx_macerr: 2\n",
    ),
    "small-bucket": Pair(
        "qdisc tbf 8001: dev eth0 root refcnt 2 rate 100Mbit burst 1600b lat 50ms\n",
        "qdisc tbf 8001: dev eth0 root refcnt 2 rate 100Mbit burst 64Kb lat 50ms\n",
    ),
    "ready": log("ESXTOP %RDY 18", "ESXTOP %RDY 1.8"),
    "throttled": Pair("nr_periods 1000\nnr_throttled 400\n", "nr_periods 1000\nnr_throttled 4\n"),
    "one-cpu-full": Pair(
        mpstat("0 99.0 1.0 0.0 0.0 0.0", "1 1.0 0.0 0.0 0.0 99.0"),
        mpstat("0 40.0 1.0 0.0 0.0 59.0", "1 1.0 0.0 0.0 0.0 99.0"),
    ),
    "idle-states": Pair("[read]\niodepth=1\nrw=read\n", "[read]\niodepth=32\nrw=read\n"),
    "hot": log("CPU0: Core temperature above threshold, cpu clock throttled", times=4),
    "hash-of-addresses": Pair(
        FIELDS.format(""), FIELDS.format("L4 bytes 0 & 1 [TCP/UDP src port]\n")
    ),
    "low-voltage": log("hwmon hwmon1: Undervoltage detected!", times=3),
    "nfsd-threads": Pair(POOLS.format(300_000), POOLS.format(3)),
    "lockup": log("watchdog: BUG: soft lockup - CPU#3 stuck for 22s!"),
    "rt-throttled": log("sched: RT throttling activated"),
    "out-of-memory": log("Out of memory: Killed process 99 (server)"),
    "gro-off": Pair("generic-receive-offload: off", "generic-receive-offload: on"),
    "send-offload-off": Pair(
        "tcp-segmentation-offload: off", "tcp-segmentation-offload: off [fixed]"
    ),
    "lro-router": Pair(
        "net.ipv4.ip_forward = 1\nlarge-receive-offload: on\n",
        "net.ipv4.ip_forward = 0\nlarge-receive-offload: on\n",
    ),
    "one-vector": Pair(
        interrupts((9_000_000, 0, "eth0")), interrupts((4_000_000, 5_000_000, "eth0"))
    ),
    "one-busy-queue": Pair(
        interrupts(*((n, 0, f"eth0-TxRx-{q}") for q, n in enumerate((9_000_000, 90, 90, 90)))),
        interrupts(*((2_000_000, 0, f"eth0-TxRx-{q}") for q in range(4))),
    ),
    "netvsc-without-vf": Pair(
        stat("vf_rx_packets: 0", "rx_queue_0_packets: 9000000"),
        stat("vf_rx_packets: 8000000", "rx_queue_0_packets: 9000000"),
    ),
    "capture-drops": Pair(
        "2341234 packets received by filter\n1107111 packets dropped by kernel\n",
        "2341234 packets received by filter\n12 packets dropped by kernel\n",
    ),
    "dpdk-missed": dpdk(missed=31_234_123),
    "dpdk-no-mbuf": dpdk(nombuf=31_234_123),
    "worker-full": Pair(TOP.format(99.7, "vhost-12330"), TOP.format(9.7, "vhost-12330")),
    "hot-lock": perf("native_queued_spin_lock_slowpath", 38.21, 3.21),
    "hot-iommu": perf("intel_iommu_unmap", 18.21, 3.21),
    "hot-bounce": perf("swiotlb_bounce", 18.21, 0.21),
    "hot-netfilter": perf("ipt_do_table", 38.21, 3.21),
    "hot-capture": perf("tpacket_rcv", 8.21, 0.21),
    "hot-checksum": perf("do_csum", 8.21, 0.21),
    "hot-pages": perf("get_page_from_freelist", 28.21, 3.21),
    "hot-numa": perf("migrate_misplaced_folio", 9.21, 0.21),
    "delayed-acknowledgement": log("p99 of our service is 40ms", "p99 of our service is 400ms"),
    "hot-crypto": perf("aesni_gcm_enc_loop", 58.21, 3.21),
    "hot-routes": perf("fib_table_lookup", 28.21, 3.21),
    "deep-idle": Pair("C6:\nLatency: 133\n", "C1:\nLatency: 2\n"),
    "slow-governor": Pair('The governor "powersave" may decide', 'The governor "performance" may'),
    "clock-capped": Pair(
        "scaling_max_freq:1200000\ncpuinfo_max_freq:3500000\n",
        "scaling_max_freq:3500000\ncpuinfo_max_freq:3500000\n",
    ),
    "drop-rate": Pair(EDEV.format(0, 512.30), EDEV.format(0, 0.00)),
    "error-rate": Pair(EDEV.format(9.10, 0), EDEV.format(0.00, 0)),
    "udp-error-rate": Pair(
        "12:00:01 idgm/s odgm/s noport/s idgmerr/s\n12:10:01 9000.00 1.00 0.00 90.00\n",
        "12:00:01 idgm/s odgm/s noport/s idgmerr/s\n12:10:01 9000.00 1.00 0.00 0.00\n",
    ),
    "retransmit-rate": Pair(
        "12:00:01 atmptf/s estres/s retrans/s\n12:10:01 0.00 0.00 90.00\n",
        "12:00:01 atmptf/s estres/s retrans/s\n12:10:01 0.00 0.00 0.10\n",
    ),
    "disk-busy": Pair(f"{IOSTAT}sda 90 10 80.5 9.1 99.0\n", f"{IOSTAT}sda 90 10 0.5 0.1 12.0\n"),
    "waits-for-disk": Pair(mpstat("all 2 1 0 60.0 37.0"), mpstat("all 2 1 0 6.0 91.0")),
    "disk-errors": log("blk_update_request: I/O error, dev sda, sector 12345"),
    "nfs-not-responding": log("nfs: server filer1 not responding, still trying"),
    "iscsi-timeout": log(" connection1:0: ping timeout of 5 secs expired, recv timeout 5"),
    "hung-task": log("INFO: task nfsd:123 blocked for more than 120 seconds."),
}
