"""What of drives can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.parts.disks.lift import quicker
from simnet.scenario.system.lifting import Lifting, hosts


def _drives(effective: Effective) -> Effective:
    def of(host: Host) -> Host:
        drives = tuple(one.model_copy(update={"disk": quicker(one.disk)}) for one in host.drives)
        return host.model_copy(update={"drives": drives})

    return hosts(effective, of)


LIFTS: Final = (
    Lifting("drives", _drives, "rates + 25 %, times - 20 %", kinds=("drive", "drives"), order=145),
)
