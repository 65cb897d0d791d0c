"""What a kernel has of TCP."""

from typing import Annotated

from simnet.scenario.core.specs import Choice, Flag, count, size, time
from simnet.scenario.parts.host.schema import Kernel


class TcpKernel(Kernel):
    """What a kernel has of TCP: sysctls and constants."""

    tcp_rmem_bytes: Annotated[
        tuple[int, int, int], size("receive buffer: minimum, default, maximum", "1 B", "2 GiB", 3)
    ]
    tcp_wmem_bytes: Annotated[
        tuple[int, int, int], size("send buffer: minimum, default, maximum", "1 B", "2 GiB", 3)
    ]
    tcp_low_latency: Annotated[bool, Flag("no prequeue: TCP runs in the softirq")]
    tcp_timestamps: Annotated[bool, Flag("RFC 1323 timestamps: 12 bytes a segment")]
    tcp_sack: Annotated[bool, Flag("selective acknowledgements")]
    tcp_window_scaling: Annotated[bool, Flag("RFC 1323 window scaling")]
    tcp_moderate_rcvbuf: Annotated[bool, Flag("receive buffer grows by measured need")]
    tcp_adv_win_scale: Annotated[int, count("window is space less space/2^this", 1, 31)]
    tcp_app_win: Annotated[int, count("window share kept for the application; 31: none", 0, 31)]
    tcp_reordering: Annotated[int, count("duplicate ACKs that mean loss", 1, 127)]
    tcp_tso_win_divisor: Annotated[
        int, count("share of the window that one TSO burst may take; 0: no deferral", 0, 255)
    ]
    tcp_abc: Annotated[int, count("appropriate byte counting", 0, 2)]
    tcp_congestion_control: Annotated[
        str, Choice("congestion control", ("bbr", "bic", "cubic", "dctcp", "reno"))
    ]
    tcp_ecn: Annotated[
        int, count("marks of the network: 0 no, 1 asked for, 2 only if the peer asks", 0, 2)
    ] = 2
    tcp_slow_start_after_idle: Annotated[bool, Flag("cwnd restarts after an idle RTO")]
    tcp_limit_output_bytes: Annotated[
        int, size("what a socket may have queued below it; 0: by the version", "0 B", "1 GiB")
    ] = 0
    tcp_autocorking: Annotated[
        bool, Flag("a small segment waits for more data while the device holds earlier ones")
    ] = True
    tcp_min_tso_segs: Annotated[
        int, count("segments that a large one may have, however slow the connection", 1, 45)
    ] = 2
    tcp_tso_rtt_log: Annotated[
        int, count("near hosts get more: 64 KiB, halved every 2^this us; 0: none", 0, 31)
    ] = 9
    tcp_pacing_ss_ratio: Annotated[
        int, count("pacing rate in slow start, percent of a window each round trip", 1, 1000)
    ] = 200
    tcp_pacing_ca_ratio: Annotated[
        int, count("pacing rate after slow start, percent of a window each round trip", 1, 1000)
    ] = 120
    delack_min_ps: Annotated[int, time("TCP_DELACK_MIN", "0 ms", "10 s")]
    delack_max_ps: Annotated[int, time("TCP_DELACK_MAX", "0 ms", "10 s")]
    ato_min_ps: Annotated[int, time("TCP_ATO_MIN", "0 ms", "10 s")]
    rto_min_ps: Annotated[int, time("TCP_RTO_MIN", "1 ms", "120 s")]
    rto_max_ps: Annotated[int, time("TCP_RTO_MAX", "1 ms", "3600 s")]
    rto_init_ps: Annotated[int, time("TCP_TIMEOUT_INIT", "1 ms", "120 s")]
    prequeue_timer_ps: Annotated[int, time("safety timer of the prequeue", "1 ms", "10 s")]
    max_quickacks: Annotated[int, count("TCP_MAX_QUICKACKS", 0, 1000)]
    min_rcvmss_bytes: Annotated[int, size("TCP_MIN_RCVMSS", "1 B", "64 KiB")]
    initial_cwnd: Annotated[
        str, Choice("first congestion window: RFC 3390 or ten segments", ("rfc3390", "iw10"))
    ]
    tcp_sock_lines: Annotated[
        int, count("cache lines of a socket that a segment's processing writes", 0, 64)
    ]
