"""A connection for one end by itself: what was agreed on, and the sender that comes of it."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.time_units import PS_PER_US

_INITIAL_CWND: Final = 10
_MAX_TCP_HEADER: Final = 320


@dataclass(frozen=True, slots=True)
class Connection:
    """What was agreed on, and what the kernel is set to."""

    kernel: dict[str, Any]  # constants and sysctls, by their names in a kernel model
    mss: int  # of the peer's option
    advmss: int  # of the kernel's own option
    # options in use
    timestamps: bool = False
    sack: bool = True
    scaling: bool = True
    ecn: bool = False  # agreed on
    quickack: bool = False  # `ip route ... quickack 1`
    delack_max_ps: int | None = None  # TCP_DELACK_MAX_US; None: not set
    # SO_RCVBUF and SO_SNDBUF as the kernel counts them; 0: not set
    rcvbuf: int = 0
    sndbuf: int = 0
    peer_scale: int = 0  # window scale of the peer
    peer_window: int = 65_535  # first window of the peer, bytes
    rtt_ps: int = 100 * PS_PER_US  # of the handshake
    established_ps: int = 0  # when it was over


def make_sender(connection: Connection, jiffy_ps: int, option_bytes: int) -> TcpSender:
    """The sending half of the kernel's end."""
    kernel = connection.kernel
    mss = connection.mss - option_bytes
    rules = sender_rules(kernel["version"])
    settings = SenderSettings(
        mss=mss,
        congestion=CongestionMaker(
            kernel["tcp_congestion_control"],
            _INITIAL_CWND if kernel["initial_cwnd"] == "iw10" else _rfc3390(mss),
            mss=mss,
            abc=kernel["tcp_abc"],
            hz=kernel["hz"],
            rules=rules,
        ),
        wmem_default=connection.sndbuf or kernel["tcp_wmem_bytes"][1],
        wmem_max=connection.sndbuf or kernel["tcp_wmem_bytes"][2],
        segment_truesize=mss + _MAX_TCP_HEADER + kernel["skb_truesize_overhead_bytes"],
        jiffy_ps=jiffy_ps,
        rto_min_ps=kernel["rto_min_ps"],
        # tcp_synack_rtt_meas
        rto_init_ps=connection.rtt_ps + max(2 * connection.rtt_ps, kernel["rto_min_ps"]),
        rto_max_ps=kernel["rto_max_ps"],
        tso=True,
        tso_win_divisor=kernel["tcp_tso_win_divisor"],
        reordering=kernel["tcp_reordering"],
        sack=connection.sack,
        rules=rules,
        restarts=kernel["tcp_slow_start_after_idle"],
    )
    sender = TcpSender(settings)
    sender.measured(connection.rtt_ps // PS_PER_US)
    sender.open_window(connection.peer_window)
    return sender


def _rfc3390(mss: int) -> int:
    """First congestion window, segments."""
    return 2 if mss > 1460 else 3 if mss > 1095 else 4  # noqa: PLR2004 - RFC 3390's limits
