"""Network interfaces."""

from simnet.scenario.core.subject import ModelFiles, Subject, late
from simnet.scenario.parts.nic.schema import Nic

SUBJECT = Subject(
    "nic",
    order=20,
    adds={"kernel": late("nic.kernel:NicKernel")},
    models=(ModelFiles("nic", "nics", Nic, order=30),),
    unread=("tx_wake_threshold", "tagged_status"),
    drivers=late("nic.drivers:drivers"),
    knobs=late("nic.knobs:ETHTOOL"),
    equip=late("nic.columns:equip"),
    columns=late("nic.columns:COLUMNS"),
    idle=late("nic.checks:idle"),
    check_host=late("nic.checks:check_nics"),
    lifts=late("nic.lift:LIFTS"),
    proposals=late("nic.proposals:proposals"),
)
