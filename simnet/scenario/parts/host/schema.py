"""What models of processors, servers and kernels consist of."""

from collections.abc import Mapping
from re import Pattern
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import (
    PORT_NAME,
    Choice,
    CpuSets,
    Edges,
    Flag,
    count,
    cycles,
    frequency,
    rate,
    ratio,
    size,
    time,
)


class Costs(Section):
    """What the CPU does per event, in clock cycles; moving cache lines is extra, see `Memory`."""

    hardirq_cycles: Annotated[int, cycles("interrupt entry, handler, EOI and exit")]
    softirq_entry_cycles: Annotated[int, cycles("entering and leaving the softirq loop")]
    poll_cycles: Annotated[int, cycles("fixed part of one NAPI poll, unmasking excluded")]
    driver_rx_cycles: Annotated[int, cycles("driver receive work per frame")]
    skb_alloc_cycles: Annotated[int, cycles("allocating one socket buffer")]
    skb_free_cycles: Annotated[int, cycles("freeing one socket buffer")]
    ip_rx_cycles: Annotated[int, cycles("IP receive per packet")]
    tcp_rx_cycles: Annotated[int, cycles("TCP receive per segment, copy excluded")]
    ack_tx_cycles: Annotated[int, cycles("building and sending one pure ACK")]
    ack_rx_cycles: Annotated[int, cycles("TCP work for one received ACK")]
    tcp_tx_cycles: Annotated[int, cycles("TCP, IP and driver work to send one segment")]
    bond_tx_cycles: Annotated[int, cycles("choosing the slave of a bond for one frame")]
    tx_completion_cycles: Annotated[int, cycles("reclaiming one transmitted frame")]
    backlog_cycles: Annotated[int, cycles("queueing one packet to prequeue or backlog")]
    wakeup_cycles: Annotated[int, cycles("try_to_wake_up of one process")]
    context_switch_cycles: Annotated[int, cycles("switching to another process")]
    syscall_cycles: Annotated[int, cycles("entering and leaving one system call")]
    user_recv_cycles: Annotated[int, cycles("user part of the receive loop, per recv()")]
    user_send_cycles: Annotated[int, cycles("user part of the send loop, per send()")]
    copy_line_cycles: Annotated[int, cycles("copying one cache line to or from user memory")]
    ipi_cycles: Annotated[int, cycles("sending or taking one interprocessor interrupt")]
    csum_line_cycles: Annotated[
        int, cycles("checksum of one cache line, where the CPU computes it; copying is extra")
    ] = 0
    user_relay_cycles: Annotated[int, cycles("application code of a relay on one message")] = 0
    user_request_cycles: Annotated[
        int, cycles("application code of a key-value server on one request")
    ] = 0
    user_loop_cycles: Annotated[
        int, cycles("application code of an event loop, each time that it waits for events")
    ] = 0
    epoll_event_cycles: Annotated[
        int, cycles("queueing one event of epoll and handing it over")
    ] = 0
    rx_page_cycles: Annotated[
        int, cycles("allocating, mapping, posting and freeing one page of a receive buffer")
    ] = 0
    page_zone_cycles: Annotated[
        int, cycles("moving one page between the free list of a CPU and that of its zone")
    ] = 0
    bio_cycles: Annotated[
        int, cycles("making a bio and submitting it to the block layer and its scheduler")
    ] = 0
    page_cycles: Annotated[
        int, cycles("finding, allocating and freeing one page of the page cache")
    ] = 0
    rps_cycles: Annotated[
        int, cycles("choosing the CPU of one packet: hash and flow tables of RPS and RFS")
    ] = 0
    gso_cycles: Annotated[
        int, cycles("cutting one segment from a large one, where the device cuts none")
    ] = 0
    line_latency_ps: Annotated[
        int, time("clean line in local memory, as these cycles include it", "1 ns", "10 us")
    ]


class Memory(Section):
    """What a cache line or a device register costs by where it is (load to use)."""

    local_latency_ps: Annotated[int, time("clean line in local memory", "1 ns", "10 us")]
    same_bus_dirty_ps: Annotated[int, time("dirty line, owner on this bus", "1 ns", "10 us")]
    same_node_dirty_ps: Annotated[
        int, time("dirty line, owner on another bus of this node", "1 ns", "10 us")
    ]
    remote_latency_ps: Annotated[int, time("clean line in a neighbour node", "1 ns", "10 us")]
    remote_dirty_ps: Annotated[int, time("dirty line, owner in a neighbour node", "1 ns", "10 us")]
    hop_ps: Annotated[int, time("each hop beyond the first", "0 ns", "10 us")]
    llc_latency_ps: Annotated[
        int, time("line that the own node's last-level cache has", "0 ns", "10 us")
    ] = 0
    mmio_write_ps: Annotated[int, time("posted register write, device here", "0 ns", "100 us")]
    mmio_hop_ps: Annotated[
        int, time("each hop of a posted register write to another node", "0 ns", "100 us")
    ]


_StandsFor = Annotated[
    tuple[Pattern[str], ...],
    Field(
        description="processors for which an import takes it, by name and vendor in /proc/cpuinfo:"
        " regular expressions, closest first"
    ),
]


_MAKERS: Final = ("intel", "amd", "arm", "mips")


class Cpu(Section):
    """A processor: clock, threads, caches, and what kernel work costs on it."""

    beside: ClassVar[Mapping[str, Any]] = MappingProxyType({"stands_for": (_StandsFor, ())})

    vendor: Annotated[str, Choice("maker, as kernels ask for it", _MAKERS)] = "intel"
    clock_hz: Annotated[int, frequency("core clock", "50 MHz", "10 GHz")]
    base_clock_hz: Annotated[
        int, frequency("nominal clock, as without turbo; 0: not known", "0 MHz", "10 GHz")
    ] = 0
    threads_per_core: Annotated[int, count("hardware threads of a core", 1, 8)]
    cores_per_socket: Annotated[int, count("cores of a socket", 1, 256)]
    cache_line_bytes: Annotated[int, size("cache line", "16 B", "1 KiB")]
    cache_bytes: Annotated[int, size("last private cache of a core", "16 KiB", "1 GiB")]
    llc_bytes: Annotated[
        int, size("last-level cache of a node; 0: what devices write is in memory", "0 B", "4 GiB")
    ] = 0
    llc_ways: Annotated[int, count("ways of the last-level cache", 1, 64)] = 1
    ddio_ways: Annotated[int, count("ways of it that devices may write to", 1, 64)] = 1
    copy_overlap: Annotated[int, count("line fetches that a copy keeps in flight", 1, 64)]
    stores_overlap: Annotated[
        bool, Flag("a copy asks for lines to write ahead, as many as copy_overlap; else one by one")
    ] = False
    smt_slowdown_permille: Annotated[
        int, ratio("time that work takes when the sibling thread is busy too", "1", "8")
    ]
    work_spread_permille: Annotated[
        int, ratio("largest random deviation of a frame's work from its mean", "0", "1")
    ]
    stall_permille: Annotated[
        int, ratio("share of the cycles of all costs that waits for local memory", "0", "0.95")
    ] = 0
    idle_enter_ps: Annotated[
        int, time("from having nothing to do to halting (C1)", "0 us", "100 us")
    ] = 0
    idle_exit_ps: Annotated[
        int, time("from an interrupt to its handler, on a CPU that halts (C1)", "0 us", "1 ms")
    ] = 0
    deep_idle_exit_ps: Annotated[
        int, time("likewise in the deeper state (C2); 0: there is none", "0 us", "10 ms")
    ] = 0
    deep_idle_residency_ps: Annotated[
        int, time("idle time for which the deeper state is worth while", "0 us", "100 ms")
    ] = 0
    costs: Costs
    memory: Memory


# beyond every number that Linux gives out
MOST_IRQS: Final = 1 << 20


class ServerPort(Section):
    """A network port of a server."""

    name: Annotated[str, Field(pattern=f"^{PORT_NAME}$", description="interface, as in ens1f0np0")]
    node: Annotated[int, Field(ge=0, description="NUMA node that the NIC is attached to")]
    irq: Annotated[int, Field(ge=1, lt=MOST_IRQS, description="interrupt, of the first queue")]
    next_irqs: Annotated[
        tuple[Annotated[int, Field(ge=1, lt=MOST_IRQS)], ...],
        Field(description="interrupts of the queues behind the first; none: they follow `irq`"),
    ] = ()
    nic: Annotated[str, Field(description="NIC model")]


class Machine(Section):
    """A machine without its CPUs and NICs: nodes, sockets, buses, links between nodes.

    Logical CPUs are numbered node by node, socket by socket, core by core, and the threads of a
    core are neighbours, unless `node_cpus`, `package_cpus` and `core_cpus` list them. A CPU that
    these leave out is off line.
    """

    nodes: Annotated[int, count("NUMA nodes", 1, 64)]
    sockets_per_node: Annotated[int, count("sockets of a node", 1, 64)]
    buses_per_node: Annotated[int, count("front-side buses of a node", 1, 64)]
    memory_per_node_bytes: Annotated[int, size("memory of a node", "1 MiB", "16384 GiB")]
    memory_bandwidth_bps: Annotated[
        int, rate("memory bandwidth of a node", "1 Mbit/s", "100 Tbit/s")
    ]
    bus_bandwidth_bps: Annotated[int, rate("one front-side bus", "1 Mbit/s", "100 Tbit/s")]
    link_bandwidth_bps: Annotated[
        int, rate("one link between nodes, per direction", "1 Mbit/s", "100 Tbit/s")
    ]
    io_bandwidth_bps: Annotated[
        int, rate("the bus of one NIC, both ports together", "1 Mbit/s", "100 Tbit/s")
    ]
    links: Annotated[tuple[tuple[int, int], ...], Edges("pairs of nodes joined by a link")]
    node_cpus: Annotated[
        tuple[tuple[int, ...], ...], CpuSets("logical CPUs of each node; none: in order")
    ] = ()
    package_cpus: Annotated[
        tuple[tuple[int, ...], ...], CpuSets("logical CPUs of each socket; none: in order")
    ] = ()
    core_cpus: Annotated[
        tuple[tuple[int, ...], ...], CpuSets("logical CPUs of each core; none: in order")
    ] = ()
    apic: Annotated[
        str,
        Choice(
            "interrupt delivery: as the kernel chooses; or always to the first CPU of the mask, or"
            " to any by lowest priority",
            ("kernel", "physical", "logical"),
        ),
    ] = "kernel"
    possible_cpus: Annotated[
        int,
        count(
            "CPUs in the firmware's table, absent ones included; 0: those that are there", 0, 4096
        ),
    ] = 0
    pci_nodes: Annotated[bool, Flag("the firmware says at which node a PCI device is")] = True
    apic_ids_per_socket: Annotated[
        int, count("APIC ids that a socket takes; 0: the power of two that holds its CPUs", 0, 4096)
    ] = 0
    force_physical_apic: Annotated[
        bool, Flag("the firmware demands physical interrupt destinations")
    ] = False
    x2apic: Annotated[bool, Flag("x2APIC with interrupt remapping, switched on")] = False
    apic_arbitration: Annotated[
        str,
        Choice(
            "which CPU of several takes an interrupt when all are of one priority",
            ("rotating", "first", "random"),
        ),
    ] = "rotating"


class Server(Machine):
    """A server model: the machine, its CPU and its ports."""

    cpu: Annotated[str, Field(description="CPU model")]
    ports: tuple[ServerPort, ...]


class Kernel(Section):
    """A kernel: constants, defaults of sysctls, scheduler.

    Here is what every subject needs; what a subject alone reads, it adds, see `Subject.adds`.
    """

    system: Annotated[
        Literal["linux", "aix"], Field(description="whose TCP it has; the rest is Linux's")
    ] = "linux"
    version: Annotated[
        str, Field(pattern=r"^\d+(\.\d+){1,3}$", description="upstream version, as in 2.6.16")
    ]
    distribution: Annotated[
        Literal["", "sles", "rhel", "debian", "ubuntu", "systemd", "openwrt"],
        Field(
            description="whose services and files keep settings: debian has"
            " /etc/network/interfaces, as Ubuntu before 17.10; systemd: of any that has it;"
            " empty: by the version"
        ),
    ] = ""
    hz: Annotated[int, count("timer interrupts per second", 24, 10000)]
    netdev_budget: Annotated[int, count("packets per softirq round", 1, 100000)]
    dev_weight: Annotated[int, count("packets per poll of the backlog", 1, 100000)]
    netdev_max_backlog: Annotated[int, count("packets queued per CPU", 1, 10000000)]
    max_softirq_restart: Annotated[int, count("softirq rounds before ksoftirqd", 1, 1000)]
    net_rx_time_limit_jiffies: Annotated[int, count("jiffies of one NET_RX round", 1, 1000)]
    netdev_budget_usecs: Annotated[
        int, count("us of one NET_RX round since Linux 4.12; 0: 2,000", 0, 10_000_000)
    ] = 0
    timeslice_ps: Annotated[int, time("time slice at nice 0", "1 us", "10 s")]
    scheduler: Annotated[
        str,
        Choice(
            "how processes share CPUs and wake: O(1), or the fair one, CFS or since 6.6 EEVDF",
            ("o1", "fair"),
        ),
    ] = "o1"
    skb_lines: Annotated[
        int, count("cache lines of sk_buff and headers that its consumer touches", 0, 64)
    ]
    slab_lines: Annotated[
        int, count("cache lines of the slab that freeing a buffer of another node writes", 0, 64)
    ]
    runqueue_lines: Annotated[
        int, count("cache lines of run queue and task that waking on another CPU writes", 0, 64)
    ]
    skb_truesize_overhead_bytes: Annotated[
        int, size("socket buffer accounting beyond the data buffer", "0 B", "4 KiB")
    ]
    idle_balance: Annotated[bool, Flag("an idle CPU takes a process that waits for another")] = (
        False
    )
    hotplug_cpu: Annotated[
        bool, Flag("CONFIG_HOTPLUG_CPU, which the choice of APIC mode asks for")
    ] = True
