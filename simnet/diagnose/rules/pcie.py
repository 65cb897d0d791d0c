"""The way from the card to memory: PCIe and IOMMU."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import logged
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.diagnose.rules.hot import IOMMU_WORK
from simnet.printable import typed

# devices of data paths: those of a root port or a bridge say nothing of a card
_DATA: Final = re.compile(r"(?i)ethernet|network|infiniband|nvm|non-volatile|fibre|raid|sas")
_BRIDGE: Final = re.compile(r"(?i)bridge")
_SLOW_SHARE: Final = 0.3
# what a narrower slot of the same kind has
_HALF: Final = 0.5
# percent of a second
_STALLED: Final = 5
_SUPPORTS: Final = re.compile(
    r"PCIe link \w{5} is x?(\d{1,2}(?:\.\d)?)(?:GT/s)?, device supports x?(\d{1,2}(?:\.\d)?)"
)
_BANDWIDTH: Final = re.compile(
    r"([\d.]{1,9}) Gb/s available PCIe bandwidth, (limited by [^(\n]{1,80}?) ?"
    r"\(capable of ([\d.]{1,9}) Gb/s"
)
# percent of CPU time
_FELT: Final = 5
# where the files that grub-mkconfig reads are many
_DEBIAN_FILE: Final = "/etc/default/grub.d/iommu.cfg"
_DEBIAN: Final = (
    f"echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=pt\"' > {_DEBIAN_FILE} && update-grub"
)
_WHATIF: Final = "iommu.passthrough=1"


def _device(evidence: Evidence, slot: str) -> str:
    return evidence.said("pci", "device", slot)


def _carries(what: str) -> bool:
    return (not what or bool(_DATA.search(what))) and not _BRIDGE.search(what)


def _downgraded(evidence: Evidence) -> Iterator[Found]:
    for slot in evidence.subjects("pci"):
        if not _carries(_device(evidence, slot)):
            continue
        for what in ("width", "speed"):
            can = evidence.last("pci", f"LnkCap {what}", slot)
            has = evidence.last("pci", f"LnkSta {what}", slot)
            if can is None or has is None or not has.value:
                continue
            if has.value < can.value:
                said = f"LnkSta {what} {has.text} of LnkCap {can.text}"
                share = has.value / can.value
                sure = "likely" if what == "width" or share < _HALF else "possible"
                yield Hit(slot, (has, can), said, _weight(share), sure)
            else:
                yield Clear(has, f"PCIe {what} {has.text} is all of it")


def _weight(share: float) -> float:
    """Return how much it matters that a link has only this share of what it could have."""
    return 40 + 25 * (1 - share)


def _limited(evidence: Evidence) -> Iterator[Found]:
    lines = evidence.logged(
        r"(?P<subject>[0-9a-f:.]{7,12})(?: [\w.-]{1,15})?(?: \([^)\n]{1,40}\))?:"
        r" [\d.]+ Gb/s available PCIe bandwidth, limited by"
    )
    for fact in lines:
        found = _BANDWIDTH.search(fact.text)
        has, can = (float(found[1]), float(found[3])) if found else (0.0, 0.0)
        said = f"{found[1]} of {found[3]} Gb/s: {found[2]}" if found else fact.text[:110]
        share = has / can if can else 1.0
        sure = "likely" if share < _HALF else "possible"
        yield Hit(fact.subject, (fact,), said, _weight(share), sure)


def _by_drivers(evidence: Evidence) -> Iterator[Found]:
    """Say what drivers before Linux 4.17 compare themselves: mlx4, and Intel's."""
    lines = evidence.logged(
        r"(?P<subject>[0-9a-f:.]{7,12})(?: [\w.-]{1,15})?: PCIe link (?:speed|width) is"
        r" (?!unknown)\S+, device supports"
    )
    for fact in lines:
        found = _SUPPORTS.search(fact.text)
        has, can = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
        if 0 < has < can:
            said = found[0] if found else ""
            yield Hit(fact.subject, (fact,), said, _weight(has / can), "likely")
    told = (
        r"(?P<subject>[0-9a-f:.]{7,12})(?: [\w.-]{1,15})?: PCI-Express bandwidth available for this"
        r" (?:card|device) (?:is not|may be in)\s?sufficient"
    )
    yield from logged(told, weight=46, sure="possible")(evidence)


def _limits(evidence: Evidence) -> Iterator[Found]:
    yield from _limited(evidence)
    yield from _by_drivers(evidence)


def _aspm(evidence: Evidence) -> Iterator[Found]:
    for state in evidence.of("pci", "ASPM"):
        what = _device(evidence, state.subject)
        if "L1" not in state.text or not _carries(what):
            continue
        slot = state.subject if re.fullmatch(r"[0-9a-f:.]+", state.subject) else "03:00.0"
        whole = slot if slot.count(":") > 1 else f"0000:{slot}"
        facts, said = [state], f"LnkCtl: ASPM {state.text} Enabled"
        if leave := evidence.last("pci", "L1 exit", state.subject):
            facts.append(leave)
            said += f", L1 takes up to {leave.text} to leave"
        rates = [fact for fact in evidence.of("test", "rate") if fact.value]
        slowest = min(rates, key=lambda fact: fact.value, default=None)
        best = max((fact.value for fact in rates), default=0.0)
        weight, sure = 30.0, "possible"
        if slowest and "igabit" in what:
            best = max(best, 940.0)
        if slowest and slowest.value < _SLOW_SHARE * best:
            facts.append(slowest)
            said += f"; a test carried {slowest.value:,.0f} of {best:,.0f} Mbit/s"
            weight, sure = 70.0, "likely"
        path = f"/sys/bus/pci/devices/{whole}/link/l1_aspm"
        action = Action(f"echo 0 > {typed(path)}", f"echo 1 > {typed(path)}")
        yield Hit(state.subject, tuple(facts), said, weight, sure, (action,))


def _strict(evidence: Evidence) -> Iterator[Found]:
    """The kernel's own word on its mode counts more than what it was told."""
    option = None
    for fact in evidence.of("cmdline", r"(intel_|amd_)?iommu(\.strict)?"):
        words = fact.text.split(",")
        if "strict" in words or (fact.name == "iommu.strict" and fact.text == "1"):
            option = fact
    policy = evidence.last("iommu", "policy")
    domain = evidence.last("iommu", "domain")
    if domain is not None and domain.text == "Passthrough":
        yield Clear(domain, "the IOMMU passes transfers through")
        return
    if policy is not None and policy.text == "lazy":
        yield Clear(policy, "the IOMMU forgets transfers later, many at once (lazy)")
        return
    if option is None and policy is None:
        return
    facts = [fact for fact in (option, policy) if fact is not None]
    said = f"{option.name}={option.text} on the kernel's command line" if option else ""
    if policy is not None:
        said += ", and the log says so" if option else "the log says strict mode"
    busy = sorted(evidence.of("hot", IOMMU_WORK), key=lambda fact: -fact.value)
    spent = sum(fact.value for fact in busy)
    weight = 48.0
    if spent >= _FELT:
        facts += busy[:2]
        said += f"; {busy[0].name} and the like take {spent:.0f} % of CPU time"
        weight = 66.0
    yield Hit("", tuple(facts), said, weight, "likely", _lazily(evidence, option))


def _lazily(evidence: Evidence, option: Fact | None) -> tuple[Action, ...]:
    """Return what changes the command line where the kernel's name tells the distribution."""
    kernel = evidence.said("kernel", "release")
    if re.search(r"-(?:generic|lowlatency|amd64)$", kernel):
        return (Action(_DEBIAN, f"rm {_DEBIAN_FILE} && update-grub", _WHATIF),)
    if not re.search(r"\.(?:el|fc|amzn)\d", kernel):
        return ()
    old = f" --{{}}args={typed(f'{option.name}={option.text}')}" if option else ""
    kernels = "grubby --update-kernel=ALL"
    do = f"{kernels}{old.format('remove-')} --args=iommu=pt"
    return (Action(do, f"{kernels} --remove-args=iommu=pt{old.format('')}", _WHATIF),)


def _stalls(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("stat", r"outbound_pci_stalled_(wr|rd)"):
        fact = series.last
        if _STALLED <= fact.value <= 100:  # noqa: PLR2004 - percent
            yield Hit(fact.subject, (fact,), f"{fact.name} {fact.shown} %", 58, "likely")
        else:
            yield Clear(fact, f"{fact.name} {fact.shown} %")


RULES: Final = (
    Rule(
        "pcie-downgraded",
        "PCIe",
        "PCIe carries less than it could to {subject}",
        "LnkCap and LnkSta of lspci -vv",
        "always; likely where lanes are missing, possible where only the speed is lower",
        "The card was trained with fewer lanes or at a lower speed: slot, riser or dirty contacts.",
        "Put the card into a wider slot, reseat it; see the bound against the rate of the port.",
        "PCI Express Base Specification, 4.2.4; Linux drivers/pci/pci.c, pcie_print_link_status",
        _downgraded,
        outside=True,
    ),
    Rule(
        "pcie-limited",
        "PCIe",
        "{subject} is in a slot that is slower than the card",
        "the kernel's log",
        "always: the kernel has compared both; likely where less than half is left",
        "The kernel says that the path to the card is narrower than what the card could use.",
        "Put the card into another slot.",
        "Linux drivers/pci/pci.c, __pcie_print_link_status",
        _limits,
        outside=True,
    ),
    Rule(
        "pcie-errors",
        "PCIe",
        "PCIe repeats or loses transfers of {subject}",
        "the kernel's log (AER)",
        "5 lines: single ones are corrected and cost nothing",
        "Transfers arrive damaged and are repeated; uncorrected ones reset the card.",
        "Reseat the card, try another slot; switch off ASPM.",
        "Linux Documentation/PCI/pcieaer-howto.rst",
        logged(
            r"(?P<subject>[0-9a-f:.]{7,12}): PCIe Bus Error: severity=",
            at_least=5,
            weight=50,
            sure="likely",
        ),
        outside=True,
    ),
    Rule(
        "pcie-stalls",
        "PCIe",
        "The card waits for memory at {subject}",
        "outbound_pci_stalled of ethtool -S of mlx5",
        "5 %: these counters are percentages of the time",
        "The card cannot write what it received, as PCIe gives no credit:"
        " IOMMU, remote node, slot.",
        "Look at link width, IOMMU mode and the node of memory.",
        "Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
        _stalls,
    ),
    Rule(
        "aspm-l1",
        "PCIe",
        "PCIe sleeps between transfers of {subject} (ASPM L1)",
        "LnkCtl of lspci -vv",
        "possible; likely where a test carries less than a third of the line",
        "The link goes to L1 when idle; if leaving takes longer than the card's buffer lasts,"
        " it loses or delays what comes meanwhile.",
        "Switch L1 off for this device (or boot with pcie_aspm.policy=performance).",
        "PCI Express Base Specification, 5.4; Linux drivers/pci/pcie/aspm.c,"
        " pcie_aspm_check_latency",
        _aspm,
    ),
    Rule(
        "io-page-fault",
        "IOMMU",
        "The IOMMU refuses transfers of {subject}",
        "the kernel's log",
        "always: no transfer of a driver that works is refused",
        "The card reads or writes where nothing is mapped: a defect of driver, firmware or card.",
        "Update driver and firmware and report it; re-making the rings (ethtool -L, link down and"
        " up) may help until it comes again.",
        "Linux drivers/iommu/amd/iommu.c, amd_iommu_report_page_fault; drivers/iommu/intel/dmar.c",
        logged(
            r"(?:(?P<subject>[\w.-]+ [0-9a-f:.]+): )?(?:AMD-Vi: Event logged \[IO_PAGE_FAULT"
            r"|DMAR: \[DMA (?:Read|Write)[^\]]*\].*fault"
            r"|arm-smmu\S*:? .*(?:[Uu]nhandled context fault))",
            weight=85,
        ),
        outside=True,
        hides=("ring-full", "unread-queues"),
    ),
    Rule(
        "iommu-strict",
        "IOMMU",
        "Each transfer waits for the IOMMU (strict)",
        "the kernel's command line, its log at boot",
        "likely: a flush for each buffer that is unmapped, microseconds each",
        "In strict mode each unmapping waits for the IOMMU to forget it: throughput falls while the"
        " CPU is not busy. RDMA and NFS, which map large lists, suffer most.",
        "Boot with iommu=pt, or lazy (iommu.strict=0), if you trust the devices.",
        "Linux Documentation/admin-guide/kernel-parameters.txt, iommu.strict",
        _strict,
        hides=("hot-iommu",),
    ),
    Rule(
        "swiotlb-full",
        "IOMMU",
        "Transfers find no bounce buffer at {subject}",
        "the kernel's log",
        "always: the transfer has failed",
        "The device cannot reach all memory, or memory is encrypted, and the"
        " buffer between is full.",
        "Boot with a larger swiotlb=, or enable the IOMMU.",
        "Linux kernel/dma/swiotlb.c",
        logged(r"(?P<subject>[\w.-]+ [0-9a-f:.]+): swiotlb buffer is full", weight=70),
    ),
)
