"""Which connections agree on marks by the network.

Source: net/ipv4/tcp_output.c (`tcp_ecn_send_syn`) and tcp_input.c (`tcp_ecn_create_request`,
`tcp_ecn_rcv_synack`) of Linux 4.18 to 6.14. Who opens a connection asks, with tcp_ecn=1 or DCTCP;
who accepts it agrees unless tcp_ecn is 0. A SYN of DCTCP may be marked itself, which only DCTCP
takes for a request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.sender_version import sender_rules

if TYPE_CHECKING:
    from simnet.net.tcp.socket import TcpSocket
    from simnet.scenario.core.effective import Host

_DCTCP: Final = "dctcp"


def asks_for_marks(host: Host) -> bool:
    """Whether a host asks for ECN where it opens a connection."""
    kernel = host.kernel
    if kernel.system != "linux" or not sender_rules(kernel.version).rack:
        return False
    return bool(kernel.tcp_ecn == 1 or kernel.tcp_congestion_control == _DCTCP)


def agree(opener: TcpSocket, opens: Host, other: TcpSocket, accepts: Host) -> None:
    """Let both ends of a connection use ECN, if their hosts agree on it."""
    if not asks_for_marks(opens) or accepts.kernel.system != "linux":
        return
    ours, theirs = (host.kernel.tcp_congestion_control == _DCTCP for host in (opens, accepts))
    known = sender_rules(accepts.kernel.version).rack
    if not known or not (theirs or (accepts.kernel.tcp_ecn and not ours)):
        return
    opener.use_ecn(Ecn(ours))
    other.use_ecn(Ecn(theirs))
