"""What KVM and vhost-net cost a host, and where the threads of a guest run.

Sources: Linux, virt/kvm/kvm_main.c and drivers/vhost/net.c; libvirt, virsh(1): vcpupin,
emulatorpin; QEMU, qemu(1): -netdev tap,poll-us=n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from simnet.scenario.core.knob import CpuList
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count, cycles, time

if TYPE_CHECKING:
    from simnet.scenario.parts.host.schema import Cpu, Machine


class Kvm(Section):
    """KVM and vhost-net of a host; cycles are those of its CPUs."""

    halt_poll_ns_ps: Annotated[
        int, time("longest poll of a virtual CPU that has halted; 0: none", "0 ns", "100 ms")
    ]
    halt_cycles: Annotated[int, cycles("exit of a virtual CPU that halts, and its entry later")]
    kick_cycles: Annotated[int, cycles("exit of a virtual CPU that kicks a queue (ioeventfd)")]
    interrupt_cycles: Annotated[int, cycles("exits of a virtual CPU that takes an interrupt")]
    interrupt_latency_ps: Annotated[
        int, time("from the signal for an interrupt to the interrupt", "0 us", "1 ms")
    ]
    signal_cycles: Annotated[int, cycles("signal for an interrupt (eventfd, irqfd)")]
    tx_frame_cycles: Annotated[
        int, cycles("frame from the guest: descriptors, sk_buff, its bytes apart")
    ]
    rx_frame_cycles: Annotated[
        int, cycles("frame to the guest: sk_buff, its buffers and bytes apart")
    ]
    buffer_cycles: Annotated[int, cycles("buffer of the guest that a frame takes")]
    bridge_cycles: Annotated[int, cycles("frame from tap to tap: receive path, bridge, queue")]
    tap_queue: Annotated[int, count("frames in a tap's queue (txqueuelen)", 1, 100000)]


class Guest(Section):
    """A guest: the host's CPUs that its threads are pinned to."""

    vcpupin: Annotated[
        tuple[int, ...], CpuList("CPUs of the host, one for each virtual CPU in order")
    ]
    emulatorpin: Annotated[
        tuple[int, ...], CpuList("CPUs of the host for vhost workers, one after the other")
    ]
    uplink_cpus: Annotated[
        tuple[int, ...],
        CpuList("CPUs of the host, each for the interrupt of a queue of its own port"),
    ] = ()
    poll_us_ps: Annotated[int, time("a vhost worker polls that long", "0 us", "1 s")] = 0

    @property
    def vcpus(self) -> int:
        """How many CPUs its operating system sees."""
        return len(self.vcpupin)

    def seen(self, machine: Machine, cpu: Cpu) -> tuple[Machine, Cpu]:
        """Return machine and processor as the guest sees them: one node of single threads.

        Idle states are the host's.
        """
        one = {"nodes": 1, "sockets_per_node": 1, "buses_per_node": 1, "links": ()}
        listed = {"node_cpus": (), "package_cpus": (), "core_cpus": ()}
        seen = {"cores_per_socket": self.vcpus, "threads_per_core": 1, "idle_exit_ps": 0}
        return machine.model_copy(update=one | listed), cpu.model_copy(update=seen)
