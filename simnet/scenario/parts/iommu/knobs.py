"""What an administrator tells the kernel of the IOMMU, all at boot.

Source: Documentation/admin-guide/kernel-parameters.txt of Linux 6.12 (`intel_iommu`, `amd_iommu`,
`iommu.passthrough`, `iommu.strict`; on x86 `iommu=pt` is the same as the third). Before 5.14 a
host with Intel's units was told `intel_iommu=strict`, one with AMD's `amd_iommu=fullflush`, for
what `iommu.strict=1` says today.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.iommu.schema import IommuKernel

FIRST: Final = "4.14"
"""From here on flush queues are as today."""
_TRUST: Final = "a device, or who can put one in, may then read and write all memory"
_LAZY: Final = "0: a device may use a buffer for up to 10 ms after it was given back"
_FIRMWARE: Final = "the unit has to be switched on in the firmware, too"


def _knob(name: str, target: str, note: str, **more: Any) -> Knob:
    spec = value_spec(IommuKernel, target)
    command = f"set {name}={{value}} on the kernel command line, and boot"
    return Knob(
        name, spec.doc, spec, "kernel", target, command, note=note, keep="", by_hand=True,
        since=FIRST, **more,
    )  # fmt: skip


KNOBS: Final = (
    _knob("intel_iommu", "intel_iommu", _FIRMWARE),
    _knob("amd_iommu", "amd_iommu", _FIRMWARE),
    _knob("iommu.passthrough", "iommu_passthrough", _TRUST),
    _knob("iommu.strict", "iommu_strict", _LAZY),
)
