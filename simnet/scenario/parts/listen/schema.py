"""The short connections of a scenario: who comes, who accepts, and what a kernel allows."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, size, time
from simnet.scenario.parts.host.schema import Kernel
from simnet.scenario.parts.placement.schema import FirstCpu, WorkerPlacement


class Listen(Section):
    """Visitors that connect to the first port, ask once and leave; workers that answer them.

    The peer stands for all visitors: of them only TCP is simulated, by the rules of its kernel.
    """

    rate: Annotated[int, count("connections that begin, a second", 1, 10_000_000)]
    burst: Annotated[int, count("of them at once", 1, 100_000)] = 1
    arrivals: Annotated[
        str,
        Choice("how bursts come: one each period, or at random (Poisson)", ("periodic", "poisson")),
    ] = "poisson"
    request_bytes: Annotated[int, size("payload of a request", "1 B", "1448 B")]
    answer_bytes: Annotated[int, size("payload of its answer", "1 B", "14480 B")]
    workers: Annotated[
        int, count("worker processes, each with one connection at a time", 1, 4096)
    ] = 1
    placement: WorkerPlacement = "scheduler"
    first_cpu: FirstCpu = 0
    service_ps: Annotated[
        int, time("a worker's own work on a request, at full speed", "0 us", "10 s")
    ]
    backlog: Annotated[int, count("listen's backlog, which net.core.somaxconn cuts", 0, 2**31 - 1)]
    reuseport: Annotated[
        bool,
        Flag(
            "each worker listens by a socket of its own (SO_REUSEPORT), and a hash of the"
            " connection chooses; off: all accept from one socket"
        ),
    ] = False
    syn_cycles: Annotated[
        int, cycles("softirq: a SYN, until its SYN-ACK is with the driver: request and route")
    ]
    open_cycles: Annotated[
        int, cycles("softirq: the ACK that completes a connection: making its socket")
    ]
    accept_cycles: Annotated[
        int, cycles("accept, beside the system call: the socket's file and its number")
    ]
    close_cycles: Annotated[
        int, cycles("close, beside the system call: FIN, TIME_WAIT, freeing the socket")
    ]
    lock_cycles: Annotated[
        int,
        cycles("what a CPU keeps the lock of an accept queue from others, lines that move apart"),
    ]
    queue_lines: Annotated[
        int, count("cache lines of an accept queue that softirq and worker both write", 0, 64)
    ]


class ListenKernel(Kernel):
    """What a kernel has of listening sockets, and of who connects to them."""

    somaxconn: Annotated[
        int, count("net.core.somaxconn: backlog of a listening socket at most", 0, 2**31 - 1)
    ] = 128
    tcp_max_syn_backlog: Annotated[
        int,
        count(
            "net.ipv4.tcp_max_syn_backlog: without cookies, three quarters of it are half-open"
            " connections of a socket at most",
            0,
            2**31 - 1,
        ),
    ] = 4096
    tcp_syncookies: Annotated[
        int,
        count(
            "net.ipv4.tcp_syncookies: 0: a SYN that finds too many half-open connections is"
            " dropped, 1: it gets a cookie, 2: each gets one",
            0,
            2,
        ),
    ] = 1
    tcp_abort_on_overflow: Annotated[
        bool,
        Flag(
            "net.ipv4.tcp_abort_on_overflow: reset a connection that completes when the accept"
            " queue is full; off: let its peer try again"
        ),
    ] = False
    tcp_syn_retries: Annotated[
        int, count("net.ipv4.tcp_syn_retries: how often a SYN is sent again", 1, 127)
    ] = 6
    tcp_synack_retries: Annotated[
        int, count("net.ipv4.tcp_synack_retries: how often a SYN-ACK is sent again", 0, 255)
    ] = 5
