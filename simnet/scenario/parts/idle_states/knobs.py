"""How deep CPUs may sleep: at run time by exit latency, at boot by number.

Sources: cpupower-idle-set(1); Documentation/admin-guide/pm/intel_idle.rst and kernel-parameters.txt
of Linux 6.12 (`intel_idle.max_cstate`, `processor.max_cstate`, `idle`: of x86 alone).
"""

from typing import Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.idle_states.schema import DRIVERS, IdleKernel

_POWER: Final = "CPUs that sleep less take power, and turbo clock from busy ones: not modelled"


def _at_boot(maker: str, module: str) -> Knob:
    target = f"{maker}_max_cstate"
    spec = value_spec(IdleKernel, target)
    name = f"{module}.max_cstate"
    command = f"set {name}={{value}} on the kernel command line, and boot"
    return Knob(
        name, spec.doc, spec, "kernel", target, command, note=_POWER, since="2.6.38", keep="",
        by_hand=True,
    )  # fmt: skip


_SPEC: Final = value_spec(IdleKernel, "idle_limit_ps")
LIMIT: Final = Knob(
    "cpupower idle-set -D",
    _SPEC.doc,
    _SPEC,
    "kernel",
    "idle_limit_ps",
    "cpupower idle-set -D {value}",
    unit="us",
    note=_POWER,
    since="3.13",
)
_LOOP: Final = value_spec(IdleKernel, "idle_loop")
IDLE: Final = Knob(
    "idle",
    _LOOP.doc,
    _LOOP,
    "kernel",
    "idle_loop",
    "set idle={value} on the kernel command line, and boot",
    unset="take idle= off the kernel command line, and boot",
    note=f"{_POWER}; a thread that polls slows its sibling, which is not simulated, either",
    since="2.6.38",
    keep="",
    by_hand=True,
)
KNOBS: Final = (LIMIT, IDLE, *(_at_boot(maker, module) for maker, module in DRIVERS.items()))
