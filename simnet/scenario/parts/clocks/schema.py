"""Whether a kernel lets clocks rise above the nominal one."""

from typing import Annotated, Final

from simnet.scenario.core.specs import Choice
from simnet.scenario.parts.host.schema import Kernel

_BITS: Final = ("0", "1")
NO_TURBO: Final = "no_turbo"
BOOST: Final = "boost"
OFF: Final = {"intel": (NO_TURBO, "1"), "amd": (BOOST, "0")}
"""The attribute by which a maker's driver forbids clocks above the nominal one, and its value."""


class ClockKernel(Kernel):
    """What a kernel was told of clocks: they rise as far as they can, unless it says otherwise."""

    no_turbo: Annotated[
        str, Choice("intel_pstate: 1: no clock above the nominal one (turbo)", _BITS)
    ] = "0"
    boost: Annotated[
        str, Choice("acpi-cpufreq, amd-pstate: 0: no clock above the nominal one", _BITS)
    ] = "1"
