"""Makes the idle states that the CPUs of a machine use.

`intel_idle` has those of Intel's processors, `acpi_idle` (module `processor`) those of AMD's; no
parameter limits those of others. Where every state that halts is switched off, the kernel polls:
there is nothing to leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.host.idle import IdleStates
from simnet.scenario.parts.idle_states.schema import ALL_STATES, HALT, POLL
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.scenario.core.effective import Host
    from simnet.scenario.parts.host.schema import Cpu
    from simnet.scenario.parts.idle_states.schema import IdleKernel
    from simnet.scenario.system.ground import Ground


def join(_ground: Ground, machine: Machine, host: Host) -> None:
    """Give a machine's CPUs the idle states of its host."""
    for cpu in machine.cpus:
        if states := make_idle_states(host.seen[1], host.kernel):
            cpu.idle_states = states


def make_idle_states(cpu: Cpu, kernel: IdleKernel) -> IdleStates | None:
    """How a CPU sleeps; None where waking takes no time, or nothing is known of it."""

    def used(exit_ps: int) -> bool:
        """Whether `cpupower` leaves it on: what drivers say of a state is whole microseconds."""
        return -(-exit_ps // PS_PER_US) * PS_PER_US < kernel.idle_limit_ps

    if kernel.idle_loop == POLL or not cpu.idle_exit_ps or not used(cpu.idle_exit_ps):
        return None
    states = ALL_STATES
    if cpu.vendor == "intel":
        states = kernel.intel_max_cstate
    elif cpu.vendor == "amd":
        states = kernel.amd_max_cstate
    all_of_them = states == ALL_STATES and kernel.idle_loop != HALT
    deep = all_of_them and used(cpu.deep_idle_exit_ps)
    return IdleStates(
        cpu.idle_enter_ps,
        cpu.idle_exit_ps,
        cpu.deep_idle_exit_ps if deep else 0,
        cpu.deep_idle_residency_ps,
    )
