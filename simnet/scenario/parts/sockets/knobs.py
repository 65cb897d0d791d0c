"""What a program asks of its sockets, and a route of its connections.

Sources: ``net/ipv4/tcp.c`` (``do_tcp_setsockopt``) of Linux 6.18; ip-route(8); iperf(1).
"""

from typing import Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.specs import ANY, Flag, size, time
from simnet.scenario.parts.host.knobs import sysctl

_ON_OFF: Final = Flag("on or off")

_ROUTES: Final = (
    Knob(
        "ip route change dev {port} quickack",
        "each segment that comes by this route is acknowledged at once",
        _ON_OFF,
        "interface",
        "quickack",
        "ip route show dev {port} scope link | sed 's/ quickack [01]//' | while read -r route;"
        " do ip route change $route dev {port} quickack {value}; done",
        default=False,
        since="3.11",
    ),
)

_OPTIONS: Final = (
    Knob(
        "setsockopt TCP_DELACK_MAX_US",
        "longest delay of an acknowledgement, for the sockets of the test's processes; 0: not set",
        time("", "0 us", "200 ms"),
        "application",
        "delack_max_ps",
        "in the program, for each socket: setsockopt TCP_DELACK_MAX_US {value}",
        unit="us",
        since="6.15",
        by_hand=True,
        unset="in the program: no setsockopt of TCP_DELACK_MAX_US",
    ),
    Knob(
        "iperf -w",
        "socket buffer: SO_SNDBUF of the client, SO_RCVBUF of the server; 0: not set",
        size("", "0 B", "1 GiB"),
        "application",
        "socket_buffer_bytes",
        "start iperf with -w {value}",
        unit="B",
        note="net.core.wmem_max and rmem_max limit it, and Linux then doubles it",
        unset="start iperf without -w",
        by_hand=True,
    ),
    Knob(
        "iperf -N",
        "TCP_NODELAY of the client",
        _ON_OFF,
        "application",
        "nodelay",
        "start iperf with -N: {value}",
        by_hand=True,
    ),
)

_CALLS: Final = (
    Knob(
        "workload.writes",
        "sizes of the sends that a request of tcp_rr is made of",
        size("", "1 B", "16 MiB", ANY),
        "workload",
        "writes_bytes",
        "in the program: one send for each of {value} bytes",
        own=True,
        unit="B",
        by_hand=True,
    ),
    Knob(
        "workload.read",
        "size of the response of tcp_rr that is waited for then",
        size("", "1 B", "16 MiB"),
        "workload",
        "response_bytes",
        "in the program: recv until {value} bytes are there",
        own=True,
        unit="B",
        by_hand=True,
    ),
)

_BUSY: Final = (
    sysctl("net.core.busy_read", "busy_read_usecs", since="3.11", fresh="sockets"),
    sysctl("net.core.busy_poll", "busy_poll_usecs", since="3.11"),
)

SOCKETS: Final = (*_ROUTES, *_OPTIONS, *_CALLS, *_BUSY)
