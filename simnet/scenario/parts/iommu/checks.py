"""What mapping costs where buffers are mapped, where that is not known, and what nothing reads."""

from collections.abc import Iterator
from typing import Any, Final

from simnet.host.release import release
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.tree import DEFAULT, Path, Table, Tree, dotted
from simnet.scenario.parts.iommu.knobs import FIRST
from simnet.scenario.parts.iommu.schema import COSTS, SWITCHES, IommuKernel, maps, translates
from simnet.scenario.parts.nic.schema import Nic

_MAP: Final = (
    "Malka et al., rIOMMU, ASPLOS 2015: 590 cycles for the page table and 90 for an address of a"
    " CPU's own; above: kernels with retpolines and dma-iommu"
)
_UNMAP: Final = (
    "Malka et al., rIOMMU, ASPLOS 2015: 930 cycles for entry and address, 1200 with a flush queue"
)
_INTEL: Final = (
    "Malka et al., rIOMMU, ASPLOS 2015: 2130 cycles of a Xeon of 3.1 GHz; a unit of ARM answers"
    " 1.4 million times a second"
)
_AMD: Final = "as Intel's, which is the only one that was measured"
# value, low, high, source; in cycles and ps
_ASSUMED: Final = {
    "iommu_map_cycles": (700, 400, 2500, {"intel": _MAP, "amd": _MAP}),
    "iommu_unmap_cycles": (1000, 500, 2500, {"intel": _UNMAP, "amd": _UNMAP}),
    "iommu_answer_ps": (700_000, 300_000, 3_000_000, {"intel": _INTEL, "amd": _AMD}),
}
_WITHOUT: Final = ("xdp",)
_REMAPPED: Final = "remapped_permille"


def check_iommu(tree: Tree, place: Path, table: Table) -> None:
    """Give a kernel that maps buffers its costs; refuse one whose way of doing so is another."""
    host = tree.get(place)
    kernel = host["kernel"]
    if not maps(host["cpu"]["vendor"], kernel.__getitem__):
        return
    switch = SWITCHES[host["cpu"]["vendor"]]
    if release(kernel["version"]) < release(FIRST):
        message = f"the IOMMU of Linux {kernel['version']} is not modelled: expected Linux {FIRST}"
        raise table.error((*place, "kernel", switch), f"kernel.{switch}", message)
    if host.get("guest"):
        message = f"{host['name']} is a guest: what an IOMMU of its own costs is not modelled"
        raise table.error((*place, "kernel", switch), f"kernel.{switch}", message)
    if tree.get(("workload",))["test"] in _WITHOUT:
        message = "programs of XDP map their frames in other ways, which are not modelled"
        raise table.error((*place, "kernel", switch), f"kernel.{switch}", message)
    for name in COSTS:
        value, low, high, sources = _ASSUMED[name]
        known = {"source": sources[host["cpu"]["vendor"]], "low": low, "high": high}
        _assume(tree, (*place, "kernel", name), spec_of(IommuKernel, name), value, **known)
    for number, port in enumerate(host["ports"]):
        section = Nic.variants()[port["nic"]["driver"]]
        remaps = section.remaps(kernel["version"])
        known = {"source": remaps.source}
        if remaps.most is not None:
            known |= {"low": 0, "high": remaps.most}
        path: Path = (*place, "ports", number, "nic", _REMAPPED)
        _assume(tree, path, spec_of(section, _REMAPPED), remaps.permille, **known)


def _assume(tree: Tree, path: Path, spec: Any, value: int, **known: Any) -> None:
    """Put a value with its range where nobody has set one."""
    if tree.provenance[dotted(path)].source == DEFAULT:
        text = {"unit": spec.unit, "text": spec.text(value)}
        tree.put(path, Parameter(value=value, state="assumed", **text, **known))


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
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
