"""An IOMMU that forgets later, or lets devices use memory by its own addresses."""

from collections.abc import Iterator

from simnet.scenario.core.effective import Effective
from simnet.scenario.core.subject import Proposal
from simnet.scenario.parts.iommu.schema import translates


def proposals(effective: Effective) -> Iterator[Proposal]:
    """Of a host whose buffers are mapped, what makes that cheaper."""
    host = effective.host
    if not translates(host):
        return
    if host.kernel.iommu_strict == "1":
        yield Proposal(
            "lazy-iommu",
            "the IOMMU forgets unmapped buffers many at a time, up to 10 ms later",
            (("iommu.strict", "0"),),
        )
    yield Proposal(
        "iommu-passthrough",
        "devices use memory by its own addresses: nothing is mapped, nothing is protected",
        (("iommu.passthrough", "1"),),
    )
