"""The IOMMU: whether buffers are mapped for devices, and how they are forgotten again."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "iommu",
    order=122,
    adds={"kernel": late("iommu.schema:IommuKernel")},
    knobs=late("iommu.knobs:KNOBS"),
    check_host=late("iommu.checks:check_iommu"),
    join=late("iommu.build:join"),
    equip=late("iommu.columns:equip"),
    columns=late("iommu.columns:COLUMNS"),
    idle=late("iommu.checks:idle"),
    proposals=late("iommu.proposals:proposals"),
)
