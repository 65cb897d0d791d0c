"""TCP."""

from simnet.scenario.core.subject import Exchange, Subject, late

SUBJECT = Subject(
    "tcp",
    order=90,
    adds={"kernel": late("tcp.kernel:TcpKernel")},
    unread=("tcp_app_win", "prequeue_timer_ps"),
    exchanges=(
        Exchange(
            ("netserver", "netperf", "bidirectional"),
            doc="netserver receives from the peers, netperf sends to them, bidirectional is both at"
            " the first port of each node",
            # the last of programs that nobody has named
            types=("netperf-tcp-stream", "iperf", "streams"),
        ),
        Exchange(
            ("tcp_rr",),
            doc=", tcp_rr sends requests to them and waits for the responses (peers are then"
            " simulated as machines)",
            load="requests",
            asks=True,
            whole="ends answer no requests",
        ),
    ),
    knobs=late("tcp.knobs:SYSCTLS"),
    check_host=late("tcp.checks:check_tcp"),
    columns=late("tcp.columns:COLUMNS"),
    lifts=late("tcp.lift:LIFTS"),
)
