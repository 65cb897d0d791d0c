"""What the kernel is and was told: uname, the command line, lscpu, and words of a description."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_UNAME: Final = re.compile(r"\b(\d\.\d{1,2}\.\d{1,3}[-\w.+~]*)")
_IS_UNAME: Final = re.compile(
    r"^(?:Linux |\s*[Kk]ernel(?: version)?[: ]|\d\.\d{1,2}\.\d{1,3}-[-\w.+~]{1,60}\s*$)"
)
_OPTION: Final = re.compile(
    r"(?:^|\s)(?P<name>intel_iommu|amd_iommu|iommu(?:\.\w+)?|intel_idle\.max_cstate"
    r"|processor\.max_cstate|idle|pcie_aspm(?:\.policy)?|cpuidle\.off|nohz_full|isolcpus|nosmt"
    r"|mitigations|swiotlb|pci)=(?P<value>[\w,.:-]+)"
)
_BOOTED: Final = re.compile(r"BOOT_IMAGE=\S{0,80}?/vmlinu[zx]-(\d\.\d{1,2}\.\d{1,3}[-\w.+~]*)")
_BOOT: Final = re.compile(r"BOOT_IMAGE=|[Cc]ommand line:|\broot=|(?:iommu|cstate|aspm|idle)\S*=")
_LSCPU: Final = re.compile(
    r"\s{0,8}(CPU\(s\)|Thread\(s\) per core|Core\(s\) per socket|Socket\(s\)|NUMA node\(s\)"
    r"|NUMA node\d+ CPU\(s\)|Model name|Hypervisor vendor|CPU max MHz|CPU MHz):\s+(\S.*)"
)
# of the kernel's log at boot: how transfers are mapped, and when the IOMMU forgets them
_IOMMU: Final = re.compile(
    r"iommu: (?P<what>Default domain type|DMA domain TLB invalidation policy): "
    r"(?P<how>\w+)"
    r"|AMD-Vi: (?P<amd>Lazy IO/TLB flushing enabled|IO/TLB flush on unmap enabled)"
    r"|(?:DMAR|Intel-IOMMU): (?P<intel>Disable batched IOTLB flush)"
)
# what begins the texts of sysstat's tools
_BANNER: Final = re.compile(r"Linux \d\S* \([^)]{1,80}\).*\((\d{1,5}) CPUs?\)\s*$")
_WORDS: Final = re.compile(r"\b(XDP_REDIRECT|bpf_redirect(?:_map)?|devmap|cpumap)\b")

OUTPUTS: Final = {"iommu": "lines of a log"}
SIGN: Final = re.compile(
    r"(?m)IOTLB flush|IO/TLB|"
    r"^Linux |^\s*[Kk]ernel|^\d\.\d{1,2}\.\d{1,3}-\S{1,60}\s*$|"
    r"BOOT_IMAGE|iommu|cstate|\bidle=|aspm|\bCPU\(s\)"
    r"|Hypervisor vendor|^Model name"
    r"|XDP_RED|devmap|bpf_redirect"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield what the lines say of kernel, options and CPUs."""
    for at, line in enumerate(page.lines, 1):
        if _IS_UNAME.match(line) and (release := _UNAME.search(line)):
            yield Fact("kernel", "", "release", 0, page.name, at, release[1])
        if booted := _BOOTED.search(line):
            yield Fact("kernel", "", "release", 0, page.name, at, booted[1])
        if _BOOT.search(line):
            for option in _OPTION.finditer(line):
                yield Fact("cmdline", "", option["name"], 0, page.name, at, option["value"])
        if "MMU" in line.upper() and (told := _IOMMU.search(line)):
            yield _mapping(page, at, told)
        if banner := _BANNER.match(line):
            yield Fact("cpus", "", "CPU(s)", number(banner[1]), page.name, at, banner[1])
        if found := _LSCPU.match(line):
            yield Fact("cpus", "", found[1], number(found[2]), page.name, at, found[2].strip())
        for word in dict.fromkeys(_WORDS.findall(line)):
            yield Fact("word", "", word, 0, page.name, at, word)


def _mapping(page: Page, at: int, told: re.Match[str]) -> Fact:
    """Return how transfers are mapped (`domain`), or whether their end is waited for (`policy`)."""
    if told["what"] == "Default domain type":
        return Fact("iommu", "", "domain", 0, page.name, at, told["how"])
    lazy = (told["how"] or "").lower() == "lazy" or (told["amd"] or "").startswith("Lazy")
    return Fact("iommu", "", "policy", 0, page.name, at, "lazy" if lazy else "strict")
