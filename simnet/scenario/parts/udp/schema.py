"""The datagrams of a scenario: who sends how many, and who receives them."""

from typing import Annotated, TypeAlias

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, Quantity, count, cycles, size, time
from simnet.scenario.core.specs import rate as bits
from simnet.scenario.parts.host.schema import Kernel
from simnet.scenario.parts.placement.schema import FirstCpu, WorkerPlacement

_Receive: TypeAlias = Annotated[
    int, cycles("softirq: finding the socket of a datagram, charging and queueing it")
]
_Recvmsg: TypeAlias = Annotated[
    int, cycles("recvmsg of a datagram, beside the system call, the copy and freeing it")
]
_Sendmsg: TypeAlias = Annotated[
    int, cycles("sendmsg down to the driver, beside the system call, the sk_buff and the copy")
]
_SocketLines: TypeAlias = Annotated[
    int, count("cache lines of a socket that softirq and reader both write", 0, 64)
]


class Datagrams(Section):
    """What datagrams cost hosts that send and receive them, in udp_rr and udp_send; all alike."""

    receive_cycles: _Receive
    recvmsg_cycles: _Recvmsg
    sendmsg_cycles: _Sendmsg
    socket_lines: _SocketLines


class Udp(Section):
    """Flows of datagrams to the first port, and workers that read or answer them.

    The peer stands for all senders: of them only the datagrams are simulated, which leave the
    switch by its port to the system.
    """

    flows: Annotated[int, count("senders, each with an address and a port", 1, 100_000)]
    rate: Annotated[
        int, count("datagrams a second of each flow; 0: by bit_rate", 0, 100_000_000)
    ] = 0
    bit_rate_bps: Annotated[
        int, bits("payload of each flow, in place of rate", "0 bit/s", "1 Tbit/s")
    ] = 0
    size_bytes: Annotated[int, size("payload of a datagram", "1 B", "65507 B")]
    burst: Annotated[int, count("datagrams that a flow sends back to back", 1, 100_000)] = 1
    arrivals: Annotated[
        str,
        Choice(
            "how the bursts of a flow come: one each period, or at random (Poisson)",
            ("periodic", "poisson"),
        ),
    ] = "periodic"
    workers: Annotated[int, count("worker threads", 1, 1024)] = 1
    reuseport: Annotated[
        bool,
        Flag(
            "each worker has a socket of its own, and they share a port (SO_REUSEPORT); off: with"
            " udp_stream each has a port of its own, with udp_serve all read one socket"
        ),
    ] = False
    reuseport_program: Annotated[
        str,
        Choice(
            "which of the sockets that share a port gets a datagram: by a hash of its flow, or"
            " socket k has what CPU k receives (SO_ATTACH_REUSEPORT_CBPF)",
            ("hash", "cpu"),
        ),
    ] = "hash"
    placement: WorkerPlacement = "scheduler"
    first_cpu: FirstCpu = 0
    service_ps: Annotated[
        int, time("a worker's own work on a datagram, at full speed", "0 us", "1 s")
    ] = 0
    rcvbuf_bytes: Annotated[
        int, size("SO_RCVBUF of each socket; 0: not set, net.core.rmem_default", "0 B", "1 GiB")
    ] = 0
    answer_bytes: Annotated[
        int, size("payload of the answer to a datagram, with udp_serve", "0 B", "65507 B")
    ] = 0
    batch: Annotated[
        int,
        count(
            "with udp_serve: datagrams that a worker receives by one call, and answers by one"
            " (recvmmsg, sendmmsg); 1: recvmsg and sendmsg",
            1,
            1024,
        ),
    ] = 1
    receive_cycles: _Receive
    recvmsg_cycles: _Recvmsg
    sendmsg_cycles: _Sendmsg = 0
    lock_cycles: Annotated[
        int,
        cycles("what a CPU keeps the lock of a socket's queue from others, lines that move apart"),
    ] = 0
    socket_lines: _SocketLines


class UdpKernel(Kernel):
    """What a kernel has of UDP."""

    udp_mem_pages: Annotated[
        tuple[int, int, int],
        Quantity(
            "pages of all UDP sockets: from the first on a socket keeps its least, beyond the third"
            " nothing is queued; 0: by the memory of the host",
            "count",
            "0",
            "1000000000",
            3,
        ),
    ] = (0, 0, 0)
