"""Knobs of places: the CPUs of interrupts and of processes.

Sources: irqbalance(1), taskset(1), numactl(8).
"""

from typing import Final

from simnet.scenario.core.knob import CpuList, CpuMask, Knob, NodeNumber
from simnet.scenario.core.specs import Flag

PLACEMENT: Final = (
    Knob(
        "/proc/irq/{irq}/smp_affinity",
        "CPUs that may take the interrupt",
        CpuMask("CPU mask"),
        "irq",
        "smp_affinity",
        "echo {value} > /proc/irq/{irq}/smp_affinity",
    ),
    Knob(
        "/proc/irq/{irq}/smp_affinity_list",
        "the same as a list of CPUs",
        CpuList("list of CPUs"),
        "irq",
        "smp_affinity",
        "echo {value} > /proc/irq/{irq}/smp_affinity_list",
        since="3.0",
    ),
    Knob(
        "irqbalance",
        "daemon that places interrupts",
        Flag("on or off"),
        "irqbalance",
        "irqbalance",
        "service irqbalance {start_stop}  # SLES 10: irq_balancer",
        own=True,
        note="off leaves every interrupt where the daemon put it",
    ),
    Knob(
        "taskset --cpu-list",
        "CPUs that the processes may use",
        CpuList("list of CPUs"),
        "flows",
        "cpus",
        "start each process under: taskset --cpu-list {value}",
        together=True,
    ),
    Knob(
        "numactl --cpubind",
        "node whose CPUs the processes may use",
        NodeNumber("node number, nic or any"),
        "flows",
        "cpubind_node",
        "start each process under: numactl --cpubind={value}",
        own=True,
        together=True,
    ),
    Knob(
        "numactl --preferred",
        "node from which the processes' memory comes first",
        NodeNumber("node number, nic or any"),
        "flows",
        "preferred_node",
        "start each process under: numactl --preferred={value}",
        own=True,
        together=True,
    ),
)
