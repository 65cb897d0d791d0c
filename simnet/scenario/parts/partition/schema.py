"""What a hypervisor model consists of, and what it gives a partition and others beside it.

Sources: IBM, "Advanced POWER Virtualization on IBM System p5" (SG24-7940): dispatch window,
entitlement, capped and uncapped partitions, weights; Power Architecture Platform Requirements,
"Logical LAN Option": the hypervisor calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, ratio, time

if TYPE_CHECKING:
    from simnet.scenario.parts.host.schema import Cpu, Machine

_THREADS: Final = 2


class LogicalLan(Section):
    """The virtual LAN: what its calls cost the partition that makes them, entry and exit apart."""

    send_cycles: Annotated[int, cycles("H_SEND_LOGICAL_LAN: finding the receiver and its buffer")]
    copy_line_cycles: Annotated[
        int, cycles("H_SEND_LOGICAL_LAN: copying one cache line into the receiver's buffer")
    ]
    add_buffer_cycles: Annotated[int, cycles("H_ADD_LOGICAL_LAN_BUFFER: queueing one buffer")]
    map_cycles: Annotated[int, cycles("H_PUT_TCE: mapping or unmapping one page for the device")]
    signal_cycles: Annotated[int, cycles("H_VIO_SIGNAL: enabling or disabling the interrupt")]


class Hypervisor(Section):
    """A hypervisor that dispatches virtual processors and joins partitions by a virtual LAN."""

    dispatch_window_ps: Annotated[
        int, time("time in which each partition gets its entitlement once", "1 ms", "1 s")
    ]
    min_entitlement_permille: Annotated[
        int, ratio("least entitlement of a virtual processor, in processors", "0.01", "1")
    ]
    entitlement_step_permille: Annotated[
        int, ratio("granularity of an entitlement, in processors", "0.001", "1")
    ]
    phase_ps: Annotated[
        int,
        time("by how much a partition's windows lag behind those of the one before", "0 ms", "1 s"),
    ]
    dispatch_ps: Annotated[
        int, time("from the decision to run a virtual processor until it runs", "0 us", "1 ms")
    ]
    excess_slice_ps: Annotated[
        int, time("what an uncapped virtual processor gets of spare time at once", "10 us", "10 ms")
    ]
    interrupt_latency_ps: Annotated[
        int, time("from a virtual device's signal to the virtual interrupt", "0 us", "1 ms")
    ]
    hcall_cycles: Annotated[int, cycles("entering and leaving the hypervisor once")]
    interrupt_hcalls: Annotated[
        int, count("calls that taking an external interrupt needs: H_XIRR and H_EOI", 0, 10)
    ]
    lan: LogicalLan


class Partition(Section):
    """A logical partition: its share of the pool of physical processors."""

    proc_units_permille: Annotated[
        int, ratio("entitlement: physical processors in each dispatch window", "0.01", "64")
    ]
    procs: Annotated[int, count("virtual processors", 1, 64)] = 1
    sharing_mode: Annotated[
        str,
        Choice("whether it may use spare time of the pool (uncap) or not (cap)", ("cap", "uncap")),
    ] = "cap"
    uncap_weight: Annotated[int, count("weight of its share of spare time", 0, 255)] = 128
    smt: Annotated[bool, Flag("each virtual processor is two logical CPUs")] = True
    phase_ps: Annotated[
        int, time("by how much its dispatch windows lag, on top of the hypervisor's", "0 ms", "1 s")
    ] = 0

    @property
    def logical_cpus(self) -> int:
        """How many CPUs its operating system sees."""
        return self.procs * self._threads

    @property
    def _threads(self) -> int:
        return _THREADS if self.smt else 1

    def seen(self, machine: Machine, cpu: Cpu) -> tuple[Machine, Cpu]:
        """Return machine and processor as it sees them: virtual ones are cores of one socket."""
        one = {"sockets_per_node": 1, "buses_per_node": 1}
        cores = {"cores_per_socket": self.procs, "threads_per_core": self._threads}
        return machine.model_copy(update=one), cpu.model_copy(update=cores)


class Pool(Section):
    """The shared pool of physical processors, and other partitions that always compute.

    They are alike: each has one virtual processor.
    """

    processors: Annotated[
        int, count("physical processors of the pool; 0: all of the server", 0, 64)
    ] = 0
    others: Annotated[int, count("other partitions that always compute", 0, 64)] = 0
    others_proc_units_permille: Annotated[
        int, ratio("entitlement of each of them", "0.01", "1")
    ] = 500
    others_sharing_mode: Annotated[str, Choice("whether they use spare time", ("cap", "uncap"))] = (
        "cap"
    )
    others_uncap_weight: Annotated[int, count("weight of each of them", 0, 255)] = 128
    others_phase_ps: Annotated[
        int, time("by how much their dispatch windows lag behind the machine's", "0 ms", "1 s")
    ] = 0
