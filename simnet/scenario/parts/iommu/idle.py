"""Which words on the IOMMU nothing reads: of another maker's, or of one that maps nothing."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.iommu.schema import COSTS, SWITCHES, translates


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    hosts = {"host": effective.host}
    hosts |= {f"peers[{number}]": peer for number, peer in enumerate(effective.peers)}
    for place, host in hosts.items():
        vendor = host.cpu.vendor
        switch = SWITCHES.get(vendor, "")
        for maker, name in SWITCHES.items():
            if maker != vendor:
                yield f"{place}.kernel.{name}", f"{host.name} has no processor of this maker"
        if not translates(host):
            off = f"{switch} is off on {host.name}" if switch else f"{host.name} has none of x86"
            unread = ["iommu_strict", *COSTS]
            if getattr(host.kernel, switch, "off") == "off":
                unread.append("iommu_passthrough")
            else:
                off = f"iommu.passthrough is 1 on {host.name}"
            for name in unread:
                yield f"{place}.kernel.{name}", f"no buffer is mapped: {off}"
