"""What a program asks of its listening socket, and what the kernel allows.

Source: listen(2), socket(7); Documentation/networking/ip-sysctl.rst of Linux 6.18.
"""

from typing import Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import value_spec
from simnet.scenario.parts.host.knobs import sysctl
from simnet.scenario.parts.listen.schema import Listen

_BACKLOG: Final = value_spec(Listen, "backlog")
_REUSEPORT: Final = value_spec(Listen, "reuseport")

KNOBS: Final = (
    Knob(
        "listen backlog",
        _BACKLOG.doc,
        _BACKLOG,
        "listen",
        "backlog",
        "in the program: listen(socket, {value}); restart it",
        by_hand=True,
        note="net.core.somaxconn limits it",
    ),
    Knob(
        "listen SO_REUSEPORT",
        _REUSEPORT.doc,
        _REUSEPORT,
        "listen",
        "reuseport",
        "in the program: SO_REUSEPORT {value}, a listening socket for each worker; restart it",
        by_hand=True,
    ),
    sysctl(
        "net.core.somaxconn",
        "somaxconn",
        fresh="sockets",
        note="a program listens again when it is restarted",
    ),
    sysctl("net.ipv4.tcp_max_syn_backlog", "tcp_max_syn_backlog"),
    sysctl("net.ipv4.tcp_syncookies", "tcp_syncookies"),
    sysctl("net.ipv4.tcp_abort_on_overflow", "tcp_abort_on_overflow"),
    sysctl("net.ipv4.tcp_syn_retries", "tcp_syn_retries"),
    sysctl("net.ipv4.tcp_synack_retries", "tcp_synack_retries"),
)
"""Queues of listening sockets."""
