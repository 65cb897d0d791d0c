"""What a program asks of its sockets."""

from typing import Annotated

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import count, size
from simnet.scenario.parts.host.schema import Kernel


class Application(Section):
    """What the test's processes on a host ask of their sockets.

    Attributes:
        delack_max_ps: TCP_DELACK_MAX_US; 0 where it is not set.
        socket_buffer_bytes: SO_SNDBUF of who sends, SO_RCVBUF of who receives, as `iperf -w` sets
            them; 0 where it is not set.
        nodelay: TCP_NODELAY.
    """

    delack_max_ps: int = 0
    socket_buffer_bytes: int = 0
    nodelay: bool = False


class SocketsKernel(Kernel):
    """What a kernel has of sockets: their buffers, polling, epoll."""

    rmem_default_bytes: Annotated[int, size("net.core.rmem_default", "256 B", "2 GiB")]
    rmem_max_bytes: Annotated[int, size("net.core.rmem_max", "256 B", "2 GiB")]
    wmem_default_bytes: Annotated[int, size("net.core.wmem_default", "256 B", "2 GiB")]
    wmem_max_bytes: Annotated[int, size("net.core.wmem_max", "256 B", "2 GiB")]
    busy_read_usecs: Annotated[
        int,
        count("net.core.busy_read: microseconds that a read polls before it sleeps", 0, 2**31 - 1),
    ] = 0
    busy_poll_usecs: Annotated[
        int,
        count(
            "net.core.busy_poll: microseconds that poll, select and epoll_wait poll a device",
            0,
            2**31 - 1,
        ),
    ] = 0
    epoll_lines: Annotated[
        int, count("cache lines of epoll's ready list that a socket's event writes", 0, 64)
    ] = 2
