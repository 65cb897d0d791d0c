"""What all models of network interfaces have, and the parts that several drivers share.

A driver's own section adds its fields, and says how the driver is checked, tuned and built; see
:mod:`simnet.scenario.parts.nic.drivers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, get_args

from pydantic import Field

from simnet.host.release import release
from simnet.scenario.core.parameter import Parameter
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Flag, count, rate, ratio, size, time
from simnet.scenario.core.tree import DEFAULT, dotted
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simnet.errors import InputError
    from simnet.host.machine import Machine
    from simnet.host.softirq.napi_instance import NapiInstance
    from simnet.net.link.gro import Gro
    from simnet.net.nic.net_device import NetDevice
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.tree import Path, Table, Tree
    from simnet.scenario.parts.host.schema import Kernel
    from simnet.scenario.parts.network.schema import Switch

# as many vectors as a port of today's cards has
MOST_QUEUES: Final = 256
# napi_defer_hard_irqs came with it; threaded NAPI
_DEFERRAL: Final = (5, 8)
_THREADED: Final = (5, 12)
FRAME_HEADER_BYTES: Final = 18
"""Of Ethernet and a VLAN."""
UDP_HEADERS_BYTES: Final = 20 + 8
"""Of IP and UDP."""
DATAGRAM_HEADERS_BYTES: Final = 14 + UDP_HEADERS_BYTES
"""Of Ethernet, IP and UDP."""
SHARED_INFO_BYTES: Final = 320
"""`skb_shared_info`, which lies behind the data of a buffer."""
# in 1/1000 of the frames
_EACH_FRAME: Final = 1000
# preamble, header, FCS and gap
_ETHERNET_OVERHEAD_BYTES: Final = 38


@dataclass(frozen=True)
class Remaps:
    """Received frames for which a driver unmaps a buffer and maps another, in 1/1000."""

    permille: int  # how many
    source: str  # why
    most: int | None = None  # how many it may be; None where it is known


@dataclass(frozen=True)
class Slot:
    """Where a port is built."""

    device: NetDevice  # what it has in common with the ports of other drivers
    machine: Machine  # the host
    kernel: Kernel  # of its host
    switch: Switch  # what it is cabled to
    seed: int  # of all random streams
    queue: int  # number of the queue, of a port with several
    # what knobs set of receive queues, of this one; what the NIC says where it has nothing
    own: Mapping[str, Any]
    irq_cpus: tuple[int, ...]  # CPUs that its interrupt may go to


@dataclass(frozen=True)
class Given:
    """A port's values while they are checked."""

    tree: Tree  # all values
    host: Path  # place of the port's host
    port: Path  # place of the port
    table: Table  # the settings

    def __getitem__(self, field: str) -> Any:
        """Return a value of the NIC."""
        return self.tree.get((*self.port, "nic", field))

    def is_set(self, field: str) -> bool:
        """Return whether a value of the NIC is more than its default."""
        path = dotted((*self.port, "nic", field))
        return self.tree.provenance[path].source != DEFAULT

    def typed(self, field: str) -> bool:
        """Return whether a setting gives a value of the NIC."""
        return dotted((*self.port, "nic", field)) in self.table.origins

    def put(self, field: str, value: int | str, source: str) -> None:
        """Set a value of the NIC that its driver has on this kernel."""
        path: Path = (*self.port, "nic", field)
        spec: Any = spec_of(Nic.variants()[self["driver"]], field)
        known = {"unit": spec.unit, "state": "datasheet", "text": spec.text(value)}
        self.tree.put(path, Parameter(value=value, source=source, **known))

    def error(self, field: str, message: str, *others: str) -> InputError:
        """Return an error at a value of the NIC, or at another that it does not fit."""
        paths: Iterator[Path] = ((*self.port, "nic", other) for other in others)
        return self.table.error((*self.port, "nic", field), "system", message, *paths)


USUAL_STATISTICS: Final = {
    name: name for name in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
}
"""What most drivers call what `ethtool -S` counts of a port as a whole."""


def of_queues(name: str, packets: str = "packets") -> dict[str, str]:
    """Return what a driver calls the same of each queue, of its pattern with way and what."""
    return {
        f"{way}_{of}": name.format(way, called)
        for way in ("rx", "tx")
        for of, called in (("packets", packets), ("bytes", "bytes"))
    }


QUEUE_STATISTICS: Final = of_queues("{}_queue_{{}}_{}")
"""What most of Intel's drivers call it."""


class Nic(Section):
    """A network interface with its driver's defaults.

    Attributes:
        network: what its link belongs to: `ethernet`, `infiniband`, `hypervisor` or `bridge`.
        unmoderated: why `ethtool -C` has nothing to set, where that is no matter of course.
        charges_datagrams: what a datagram's socket is charged with is known; see `charges`.
        ring_counter: what `ethtool -S` calls frames that found no posted buffer.
        shows_ring: `ethtool -S` has it; else only the kernel's own counters of the link.
        statistics: what it calls packets and bytes that came and went, by the names of
            `USUAL_STATISTICS`; empty where it has none, or nobody has looked them up.
        queue_statistics: likewise of each queue, with `{}` for its number.
        one_queue: its cards have one queue, so that a peer with one would be what a host waits for.
        queue_a_cpu: it has a queue for each CPU, and at most as many as the card's model.
        fixed_rings: `ethtool -G` has nothing to set.
        forwards: packets may be forwarded from one of its ports to another.
        disciplines: its rings may have queueing disciplines and byte queue limits.
    """

    by: ClassVar[str] = "driver"
    network: ClassVar[str] = "ethernet"
    unmoderated: ClassVar[str] = ""
    charges_datagrams: ClassVar[bool] = False
    ring_counter: ClassVar[str] = ""
    shows_ring: ClassVar[bool] = True
    statistics: ClassVar[dict[str, str]] = {}
    queue_statistics: ClassVar[dict[str, str]] = {}
    one_queue: ClassVar[bool] = False
    queue_a_cpu: ClassVar[bool] = False
    fixed_rings: ClassVar[bool] = False
    forwards: ClassVar[bool] = False
    disciplines: ClassVar[bool] = False

    driver: Annotated[str, Field(description="Linux driver")]
    link_rate_bps: Annotated[int, rate("line rate", "1 Mbit/s", "1 Tbit/s")]
    mtu_bytes: Annotated[int, size("largest IP packet", "68 B", "64 KiB")]
    remapped_permille: Annotated[
        int,
        ratio("received frames for which the driver maps another buffer in the IOMMU", "0", "1"),
    ] = 0
    napi_weight: Annotated[int, count("packets per poll", 1, 4096)]
    descriptor_bytes: Annotated[
        int, size("descriptors that one received frame takes in all rings", "8 B", "1 KiB")
    ]

    @classmethod
    def variants(cls) -> Mapping[str, type[Nic]]:
        """Return the section of each driver, by its name."""
        return _drivers()

    @classmethod
    def name(cls) -> str:
        """Return the driver's name."""
        return str(get_args(cls.model_fields["driver"].annotation)[0])

    @classmethod
    def settle(cls, given: Given) -> None:
        """Set what the driver has on the host's kernel and nobody has set."""

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse values that are legal one by one and that the driver refuses together.

        Raises:
            InputError: at the value that was set.
        """

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the knobs that this driver alone has, such as module parameters."""
        return ()

    @classmethod
    def without(cls, knob: str) -> str:
        """Return why the driver has not got a knob, where that is no matter of course."""
        return cls.unmoderated if " -C " in knob else ""

    @classmethod
    def charges(cls, values: Mapping[str, Any]) -> bool:  # noqa: ARG003 - of subclasses
        """Whether it is known what a datagram's socket is charged with.

        Args:
            values: of the NIC.
        """
        return cls.charges_datagrams

    @classmethod
    def remaps(cls, version: str) -> Remaps:  # noqa: ARG003 - of subclasses
        """Return which received frames cost a mapping, where an IOMMU translates.

        Args:
            version: of the kernel.
        """
        return Remaps(_EACH_FRAME, "the driver unmaps the buffer of each frame, and maps another")

    @classmethod
    def unknown(cls, knob: str, values: Mapping[str, Any]) -> str:  # noqa: ARG003 - of subclasses
        """Return why nobody knows what a knob does to a port, though its driver may have it.

        Args:
            knob: its name.
            values: of the NIC.

        Returns:
            One line; empty for a driver whose knobs are known.
        """
        return ""

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver, or one queue of them."""
        raise NotImplementedError

    @property
    def link_overhead_bytes(self) -> int:
        """What the link adds to an IP packet."""
        return _ETHERNET_OVERHEAD_BYTES

    @property
    def frame_buffer_bytes(self) -> int:
        """The buffer that a full frame is received in."""
        raise NotImplementedError

    def datagram_truesize(self, length: int, overhead: int) -> int:
        """What a socket is charged with for a datagram (`truesize`), where that is known.

        Args:
            length: of its payload, bytes.
            overhead: `sk_buff` and `skb_shared_info`, bytes.
        """
        raise NotImplementedError

    @property
    def segments(self) -> bool:
        """Whether the device cuts large segments."""
        return False

    @property
    def checksum_by_cpu(self) -> bool:
        """Whether the CPU computes and verifies TCP's checksums."""
        return False

    @property
    def page_bytes(self) -> int:
        """Pages of the receive buffers, where they are told apart from other work; 0 for no."""
        return 0

    @property
    def interrupt_gap_ps(self) -> int:
        """Least time between two interrupts, of a peer of which only the ends are simulated."""
        return 0


@cache
def _drivers() -> dict[str, type[Nic]]:
    from simnet.scenario.core.subject import subjects

    found: list[type[Nic]] = [driver for subject in subjects() for driver in subject.drivers()]
    return {driver.name(): driver for driver in sorted(found, key=lambda one: one.name())}


class Rings(Nic):
    """A device that takes frames from rings in the host's memory, and puts them there."""

    rx_ring: Annotated[int, count("receive descriptors", 16, 65536)]
    rx_buffers_posted: Annotated[int, count("receive buffers kept posted", 1, 65536)]
    tx_ring: Annotated[int, count("usable transmit descriptors", 16, 65536)]
    tx_wake_threshold: Annotated[int, count("free descriptors that wake the queue", 1, 65536)]
    copybreak_bytes: Annotated[
        int, size("frames up to this size are copied to a small buffer", "0 B", "64 KiB")
    ]
    rx_buffer_bytes: Annotated[int, size("receive buffer", "64 B", "1 MiB")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse more buffers than the ring holds; see `Nic.check`."""
        super().check(given)
        if given["rx_buffers_posted"] > given["rx_ring"]:
            message = f"at most {given['rx_ring']} buffers in a ring of {given['rx_ring']}"
            raise given.error("rx_buffers_posted", message, "rx_ring")

    @property
    def frame_buffer_bytes(self) -> int:
        """The buffer that a full frame is received in."""
        return self.rx_buffer_bytes

    def whole_buffers_bytes(self, length: int) -> int:
        """As many whole receive buffers as so many bytes take."""
        return -(-length // self.rx_buffer_bytes) * self.rx_buffer_bytes

    @classmethod
    def refuse_longer(cls, given: Given, most: int) -> None:
        """Refuse rings of more descriptors than the driver makes."""
        for field in ("rx_ring", "tx_ring"):
            if given[field] > most:
                message = f"a ring of {cls.name()} has at most {most} descriptors"
                raise given.error(field, message)


class Ethernet(Rings):
    """An Ethernet adapter."""

    # version of Linux from which on its driver has these rules; empty: from the first
    first: ClassVar[tuple[int, ...]] = ()
    # the last one whose driver was compared with them; empty: no later one is another driver.
    # An import of a later one takes the neutral card.
    last: ClassVar[tuple[int, ...]] = ()
    most_mtu_bytes: ClassVar[int] = 0  # that its driver takes; 0: what every Ethernet does

    tso: Annotated[bool, Flag("segmentation offload")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse versions whose rules are others, and packets that are too large."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        if cls.first and release(version) < cls.first:
            first = ".".join(map(str, cls.first))
            message = f"{cls.name()} of Linux {version} is not modelled: expected Linux {first}"
            raise given.error("driver", message)
        if cls.most_mtu_bytes and given["mtu_bytes"] > cls.most_mtu_bytes:
            raise given.error("mtu_bytes", f"{cls.name()} takes at most {cls.most_mtu_bytes} B")

    @property
    def segments(self) -> bool:
        """Whether the device cuts large segments."""
        return self.tso


class BusLatency(Nic):
    """What a frame waits for the bus between adapter and memory."""

    fetch_latency_ps: Annotated[
        int, time("doorbell to first bit on the wire: descriptor and data are read", "0 ns", "1 ms")
    ]
    dma_latency_ps: Annotated[
        int, time("end of frame on the wire to descriptor in memory", "0 ns", "1 ms")
    ]


class ReceiveOffload(Nic):
    """A driver that hands received frames to generic receive offload."""

    gro: Annotated[bool, Flag("receive offload: a poll merges segments")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse GRO on a kernel whose model says that it has none; see `Nic.check`."""
        super().check(given)
        kernel = given.tree.get((*given.host, "kernel"))
        stated = given.tree.provenance[dotted((*given.host, "kernel", "gro"))].source != DEFAULT
        if given["gro"] and stated and not kernel["gro"]:
            message = f"GRO is on, Linux {kernel['version']} has none: nic.gro=off"
            paths = ((*given.host, "kernel", "gro"), (*given.host, "kernel"))
            raise given.table.error((*given.port, "nic", "gro"), "system", message, *paths)

    def offload(self, slot: Slot) -> Gro:
        """Return the receive offload of one NAPI instance, by the rules of its kernel."""
        from simnet.net.link import gro

        return gro.Gro(gro.gro_rules(slot.kernel.version), enabled=self.gro)


class RxUsecs(Nic):
    """Receive interrupts that wait for a time.

    Attributes:
        most_usecs: the longest that `ethtool -C` takes, in us; that of `tg3_set_coalesce` here.
    """

    most_usecs: ClassVar[int] = 1023

    rx_usecs_ps: Annotated[int, time("receive gap that ends a batch", "0 us", "10 ms")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse times that the driver refuses; see `Nic.check`."""
        super().check(given)
        for field in ("rx_usecs_ps", "tx_usecs_ps"):
            if field in cls.model_fields and given[field] > cls.most_usecs * PS_PER_US:
                message = f"{cls.name()} takes at most {cls.most_usecs} us"
                raise given.error(field, message)


class RxModeration(RxUsecs):
    """Receive interrupts that wait for frames or for a time."""

    rx_frames: Annotated[int, count("received frames that end a batch", 0, 1023)]


class Coalescing(RxModeration):
    """Batches of received and of sent frames, each ended by a count or a timer."""

    rx_usecs_irq_ps: Annotated[int, time("rx_usecs while masked", "0 us", "10 ms")]
    rx_frames_irq: Annotated[int, count("rx_frames while masked", 0, 1023)]
    tx_usecs_ps: Annotated[int, time("transmit gap that ends a batch", "0 us", "10 ms")]
    tx_frames: Annotated[int, count("sent frames that end a batch", 0, 1023)]
    tx_usecs_irq_ps: Annotated[int, time("tx_usecs while masked", "0 us", "10 ms")]
    tx_frames_irq: Annotated[int, count("tx_frames while masked", 0, 1023)]
    clrtick: Annotated[bool, Flag("every frame restarts the gap timer")]
    shared_status_update: Annotated[
        bool, Flag("a status update by one engine clears the count of the other")
    ]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse batches that nothing ends (`tg3_set_coalesce`); see `Nic.check`."""
        super().check(given)
        for way in ("rx", "tx"):
            if not given[f"{way}_usecs_ps"] and not given[f"{way}_frames"]:
                message = f"{way} usecs and frames are 0: there would be no interrupt at all"
                raise given.error(f"{way}_usecs_ps", message, f"{way}_frames")

    def coalescing(self, *, masked: bool = True) -> dict[str, Any]:
        """Return what the mechanism takes; unless `masked`, the same while it is masked."""
        return {
            "shared_update": self.shared_status_update,
            "clrtick": self.clrtick,
            "rx_usecs_ps": self.rx_usecs_ps,
            "rx_frames": self.rx_frames,
            "rx_usecs_irq_ps": self.rx_usecs_irq_ps if masked else self.rx_usecs_ps,
            "rx_frames_irq": self.rx_frames_irq if masked else self.rx_frames,
            "tx_usecs_ps": self.tx_usecs_ps,
            "tx_frames": self.tx_frames,
            "tx_usecs_irq_ps": self.tx_usecs_irq_ps if masked else self.tx_usecs_ps,
            "tx_frames_irq": self.tx_frames_irq if masked else self.tx_frames,
        }


class Polled(Nic):
    """What the kernel keeps of each queue that NAPI polls."""

    napi_defer_hard_irqs: Annotated[
        int, count("polls without packets before the interrupt is enabled again", 0, 2**31 - 1)
    ] = 0
    gro_flush_timeout_ps: Annotated[
        int, time("timer that polls while interrupts are deferred; 0: none", "0 ns", "1000 s")
    ] = 0
    threaded: Annotated[bool, Flag("a kernel thread polls each queue, in place of the softirq")] = (
        False
    )
    irq_suspend_timeout_ps: Annotated[
        int, time("longest suspension of interrupts by a process; 0: none", "0 ns", "1000 s")
    ] = 0

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse what the kernel does not have; see `Nic.check`."""
        super().check(given)
        kernel = given.tree.get((*given.host, "kernel"))
        version = kernel["version"]
        place = (*given.host, "kernel")
        if given["napi_defer_hard_irqs"] and release(version) < _DEFERRAL:
            message = f"Linux {version} has no napi_defer_hard_irqs: it came with Linux 5.8"
            path = (*given.port, "nic", "napi_defer_hard_irqs")
            raise given.table.error(path, "system", message, place)
        if given["irq_suspend_timeout_ps"] and not kernel["irq_suspend"]:
            message = f"Linux {version} has no irq-suspend-timeout: it came with Linux 6.13"
            path = (*given.port, "nic", "irq_suspend_timeout_ps")
            raise given.table.error(path, "system", message, (*place, "irq_suspend"), place)
        if given["threaded"] and release(version) < _THREADED:
            message = f"Linux {version} has no threaded NAPI: it came with Linux 5.12"
            raise given.table.error((*given.port, "nic", "threaded"), "system", message, place)
        if given["threaded"] and kernel["scheduler"] != "fair":
            message = "threads that poll share CPUs with others fairly: kernel.scheduler=fair, too"
            path = (*given.port, "nic", "threaded")
            raise given.table.error(path, "system", message, (*place, "scheduler"), place)

    def configure(self, instance: NapiInstance, slot: Slot) -> None:
        """Give a queue's NAPI instance what is set."""
        instance.defer_hard_irqs = slot.own["napi_defer_hard_irqs"]
        instance.gro_flush_timeout_ps = slot.own["gro_flush_timeout_ps"]
        instance.irq_suspend_timeout_ps = slot.own["irq_suspend_timeout_ps"]
        if self.threaded:
            self._start_thread(instance, slot)

    def _start_thread(self, instance: NapiInstance, slot: Slot) -> None:
        """`napi_kthread_create`: it starts on the CPU that its interrupt goes to first."""
        from simnet.host.softirq.napi_thread import NapiThread

        scheduler, cpus = slot.machine.scheduler, slot.own["napi_cpus"]
        first = (cpus or slot.irq_cpus)[0]
        NapiThread(scheduler, scheduler.cpus[first], instance, frozenset(cpus) or None)
