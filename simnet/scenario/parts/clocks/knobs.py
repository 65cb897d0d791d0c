"""What an administrator forbids clocks, and what is known but not simulated: governors.

Source: Documentation/admin-guide/pm/intel_pstate.rst (`no_turbo`) and cpufreq.rst (`boost`) of
Linux 6.12; cpupower-frequency-set(1).
"""

from typing import Final

from simnet.scenario.core.knob import Knob, ignored
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Choice
from simnet.scenario.parts.clocks.schema import BOOST, NO_TURBO, ClockKernel

_DEVICES: Final = "/sys/devices/system/cpu"
_GOVERNORS: Final = ("performance", "powersave", "schedutil", "ondemand", "conservative")
_SLOWER: Final = "busy CPUs have their nominal clock, and take less power"


def _file(place: str, target: str, since: str) -> Knob:
    spec = value_spec(ClockKernel, target)
    file = f"{_DEVICES}/{place}"
    return Knob(
        file,
        spec.doc,
        spec,
        "kernel",
        target,
        f"echo {{value}} > {file}",
        since=since,
        note=_SLOWER,
    )


KNOBS: Final = (
    _file("intel_pstate/no_turbo", NO_TURBO, "3.10"),
    _file("cpufreq/boost", BOOST, "3.7"),
    ignored(
        "cpupower frequency-set -g",
        "who chooses clocks: how fast they rise after a pause is not simulated",
        Choice("governor", _GOVERNORS),
        "cpupower frequency-set -g {value}",
    ),
)
