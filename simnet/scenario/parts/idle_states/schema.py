"""Which of a CPU's idle states a kernel uses."""

from typing import Annotated, Final

from simnet.scenario.core.specs import Choice, time
from simnet.scenario.parts.host.schema import Kernel

DRIVERS: Final = {"intel": "intel_idle", "amd": "processor"}
"""The module that has the idle states of a maker's processors, by the name of its parameter."""
ALL_STATES: Final = "9"
"""CPUIDLE_STATE_MAX less the state that polls: no limit."""
_MAX: Final = "{}.max_cstate at boot: 1 for C1 alone, 9 for all idle states"
_STATES: Final = ("1", ALL_STATES)
POLL: Final = "poll"
HALT: Final = "halt"
_LOOPS: Final = ("0", POLL, HALT)


class IdleKernel(Kernel):
    """What a kernel was told of idle states; all of them are used unless it says otherwise."""

    idle_limit_ps: Annotated[
        int, time("cpupower idle-set -D: no idle state that takes as long to leave", "0 us", "10 s")
    ] = 10 * 10**12
    idle_loop: Annotated[
        str,
        Choice(
            "idle= at boot: poll: idle CPUs never halt; halt: they do no more than that", _LOOPS
        ),
    ] = "0"
    intel_max_cstate: Annotated[str, Choice(_MAX.format("intel_idle"), _STATES)] = ALL_STATES
    amd_max_cstate: Annotated[str, Choice(_MAX.format("processor"), _STATES)] = ALL_STATES
