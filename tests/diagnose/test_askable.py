"""What a diagnosis offers to ask is what the import of the same files can be asked."""

from pathlib import Path

from simnet.diagnose.askable import askable
from simnet.diagnose.described import Described
from simnet.diagnose.diagnosis import Diagnosis, diagnose
from simnet.report.diagnosis import diagnosis

INTERRUPTS = """$ cat /proc/interrupts
           CPU0       CPU1
 42:  391102334          1     MPIC  12 Level     {first}
 44:  187234221          0     MPIC  10 Level     {second}
"""


def offered(found: Diagnosis) -> list[str]:
    return [one.whatif for finding in found.findings for one in finding.hit.actions if one.whatif]


def asked(tmp_path: Path, text: str) -> tuple[Diagnosis, str]:
    file = tmp_path / "post.txt"
    file.write_text(text, "utf-8")
    with Described([str(file)]) as described:
        found = askable(diagnose([str(file)]), described)
    return found, "\n".join(diagnosis(found, [str(file)]).splitlines())


def test_an_interrupt_of_a_port_that_no_file_names_is_not_asked_for(tmp_path: Path) -> None:
    found, text = asked(tmp_path, INTERRUPTS.format(first="mvneta", second="mvneta"))
    assert found.findings[0].rule.name == "irq-one-cpu"
    # the command is right, whatever can be simulated
    assert found.findings[0].hit.actions[0].do == "echo 1 > /proc/irq/44/smp_affinity_list"
    assert offered(found) == []
    assert "No prediction: the host has no interrupt 44" in text
    assert "simnet whatif" not in text


def test_that_of_a_port_which_is_there_is_asked_for(tmp_path: Path) -> None:
    card = "$ ethtool -i eth0\ndriver: igb\n"
    interrupts = INTERRUPTS.format(first="eth0-TxRx-0", second="eth0-TxRx-1")
    found, text = asked(tmp_path, card + interrupts)
    assert offered(found) == ["/proc/irq/44/smp_affinity_list=1"]
    assert "simnet whatif host/scenario.toml /proc/irq/44/smp_affinity_list=1" in text


def test_nothing_is_asked_for_under_a_load_that_is_not_simulated(tmp_path: Path) -> None:
    card = "$ ethtool -i eth0\ndriver: igb\n$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n"
    card += "$ iptables -t nat -S\n-P POSTROUTING ACCEPT\n-A POSTROUTING -o eth1 -j MASQUERADE\n"
    interrupts = INTERRUPTS.format(first="eth0-TxRx-0", second="eth0-TxRx-1")
    found, text = asked(tmp_path, card + interrupts)
    assert offered(found) == []
    assert "No prediction: a router is not simulated with its load" in text


STRICT = """$ uname -r
{release}
$ ethtool -i eth0
driver: ice
$ lscpu
Architecture: x86_64
CPU(s): 8
Vendor ID: GenuineIntel
Model name: Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz
$ dmesg
[    0.000000] Linux version {release} (builder) #1 SMP
[    0.000000] Command line: BOOT_IMAGE=/vmlinuz-{release} ro intel_iommu=on iommu.strict=1
[    1.128371] iommu: Default domain type: Translated
[    1.128371] iommu: DMA domain TLB invalidation policy: strict mode (set via kernel command line)
[    1.172637] pci 0000:17:00.0: Adding to iommu group 5
"""


def test_an_iommu_that_is_waited_for_can_be_asked_about(tmp_path: Path) -> None:
    for release, typed in (
        ("6.1.0-13-amd64", "> /etc/default/grub.d/iommu.cfg && update-grub"),
        ("5.14.0-362.el9.x86_64", "grubby --update-kernel=ALL --remove-args=iommu.strict=1"),
    ):
        found, text = asked(tmp_path, STRICT.format(release=release))
        assert found.findings[0].rule.name == "iommu-strict"
        assert typed in found.findings[0].hit.actions[0].do
        assert offered(found) == ["iommu.passthrough=1"]
        assert "iommu.passthrough=1" in text


def test_an_iommu_of_a_kernel_before_flush_queues_is_not_asked_about(tmp_path: Path) -> None:
    found, _ = asked(tmp_path, STRICT.format(release="3.10.0-1160.el7.x86_64"))
    assert found.findings[0].rule.name == "iommu-strict"
    assert offered(found) == []


NAT = """$ nft list ruleset
table ip nat {{
	chain postrouting {{
		type nat hook postrouting priority srcnat; policy accept;
		oifname "eth1" masquerade
	}}
	chain forward {{
		{rule}
	}}
}}
$ uname -r
{kernel}
$ sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 1
$ ethtool -i eth0
driver: ice
$ ethtool -i eth1
driver: ice
$ sar -n DEV 1 1
Average:        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s
Average:         eth0 381000.00 340000.00 310000.00  24300.00
Average:         eth1 340010.00 381010.00  24301.00 309900.00
$ mpstat -P ALL 1 1
Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
Average:     all    0.00    0.00    0.12    0.00    0.00   98.63    0.00    0.00    0.00    1.25
Average:       0    0.00    0.00    0.00    0.00    0.00   99.50    0.00    0.00    0.00    0.50
Average:       1    0.00    0.00    0.50    0.00    0.00   98.00    0.00    0.00    0.00    1.50
"""


def test_a_router_with_nat_is_offered_a_flow_table_where_none_is_yet(tmp_path: Path) -> None:
    found, text = asked(tmp_path, NAT.format(rule="accept", kernel="6.1.0-28-amd64"))
    assert found.findings[0].rule.name == "softirq-everywhere"
    assert "nft flowtable=on" in offered(found)
    assert "devices = { eth1, eth0 };" in text
    assert "nft delete table inet simnet" in text
    _, text = asked(tmp_path, NAT.format(rule="# flow add @ft", kernel="6.1.0-28-amd64"))
    assert "nft delete table inet simnet" in text
    for rule, kernel in (("flow add @ft", "6.1.0-28-amd64"), ("accept", "3.10.0-957.el7.x86_64")):
        found, text = asked(tmp_path, NAT.format(rule=rule, kernel=kernel))
        assert found.findings[0].rule.name == "softirq-everywhere"
        assert "flowtable" not in text


def test_on_openwrt_the_flow_table_is_its_own_setting(tmp_path: Path) -> None:
    text = NAT.format(rule="accept", kernel="5.15.137") + "DISTRIB_ID='OpenWrt'\n"
    found, shown = asked(tmp_path, text)
    assert found.findings[0].rule.name == "softirq-everywhere"
    assert "uci set firewall.@defaults[0].flow_offloading=1" in shown
    assert "nft" not in shown
    found, shown = asked(tmp_path, text + "firewall.@defaults[0].flow_offloading='1'\n")
    assert "uci set" not in shown
