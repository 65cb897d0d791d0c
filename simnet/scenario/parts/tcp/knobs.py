"""Sysctls of the network stack.

Sources: Linux 2.6.18 ``net/ipv4/sysctl_net_ipv4.c``, ``net/core/sysctl_net_core.c``,
``Documentation/networking/ip-sysctl.txt``.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob, ignored
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.specs import Flag, Quantity, count
from simnet.scenario.parts.host.knobs import sysctl

_ON_OFF: Final = Flag("on or off")
_ANY_NUMBER: Final = count("", 0, 2**31 - 1)


def _ignored_sysctl(name: str, doc: str, spec: Spec, **more: Any) -> Knob:
    return ignored(name, doc, spec, f'sysctl -w {name}="{{value}}"', **more)


SYSCTLS: Final = (
    sysctl("net.core.netdev_budget", "netdev_budget", since="2.6.12"),
    sysctl("net.core.netdev_budget_usecs", "netdev_budget_usecs", since="4.12"),
    sysctl("net.core.dev_weight", "dev_weight"),
    sysctl("net.core.netdev_max_backlog", "netdev_max_backlog"),
    sysctl(
        "net.core.rmem_default",
        "rmem_default_bytes",
        fresh="sockets",
        note="a TCP socket begins with the second value of net.ipv4.tcp_rmem",
    ),
    sysctl(
        "net.core.rmem_max",
        "rmem_max_bytes",
        note="it limits SO_RCVBUF, which iperf -w sets; net.ipv4.tcp_rmem limits the rest",
    ),
    sysctl(
        "net.core.wmem_default",
        "wmem_default_bytes",
        fresh="sockets",
        note="a TCP socket begins with the second value of net.ipv4.tcp_wmem",
    ),
    sysctl(
        "net.core.wmem_max",
        "wmem_max_bytes",
        note="it limits SO_SNDBUF, which iperf -w sets; net.ipv4.tcp_wmem limits the rest",
    ),
    sysctl("net.ipv4.tcp_rmem", "tcp_rmem_bytes", fresh="sockets"),
    sysctl("net.ipv4.tcp_wmem", "tcp_wmem_bytes", fresh="sockets"),
    sysctl("net.ipv4.tcp_low_latency", "tcp_low_latency"),
    sysctl("net.ipv4.tcp_timestamps", "tcp_timestamps", fresh="connections"),
    sysctl("net.ipv4.tcp_sack", "tcp_sack", fresh="connections"),
    sysctl("net.ipv4.tcp_window_scaling", "tcp_window_scaling", fresh="connections"),
    sysctl("net.ipv4.tcp_moderate_rcvbuf", "tcp_moderate_rcvbuf"),
    sysctl("net.ipv4.tcp_adv_win_scale", "tcp_adv_win_scale"),
    sysctl("net.ipv4.tcp_app_win", "tcp_app_win"),
    sysctl("net.ipv4.tcp_reordering", "tcp_reordering"),
    sysctl("net.ipv4.tcp_tso_win_divisor", "tcp_tso_win_divisor"),
    sysctl("net.ipv4.tcp_abc", "tcp_abc", since="2.6.15"),
    sysctl(
        "net.ipv4.tcp_congestion_control",
        "tcp_congestion_control",
        since="2.6.13",
        fresh="connections",
    ),
    sysctl(
        "net.ipv4.tcp_ecn",
        "tcp_ecn",
        fresh="connections",
        note="of connections that the host opens or accepts; something on the way has to mark",
    ),
    sysctl("net.ipv4.tcp_slow_start_after_idle", "tcp_slow_start_after_idle", since="2.6.18"),
    sysctl("net.ipv4.tcp_limit_output_bytes", "tcp_limit_output_bytes", since="3.6"),
    sysctl("net.ipv4.tcp_autocorking", "tcp_autocorking", since="3.14"),
    sysctl("net.ipv4.tcp_min_tso_segs", "tcp_min_tso_segs", since="3.12"),
    sysctl("net.ipv4.tcp_tso_rtt_log", "tcp_tso_rtt_log", since="5.18"),
    sysctl("net.ipv4.tcp_pacing_ss_ratio", "tcp_pacing_ss_ratio", since="4.3"),
    sysctl("net.ipv4.tcp_pacing_ca_ratio", "tcp_pacing_ca_ratio", since="4.3"),
    _ignored_sysctl(
        "net.ipv4.tcp_mem", "pages for all sockets", Quantity("", "count", "0", "1000000000", 3)
    ),
    _ignored_sysctl("net.ipv4.tcp_fack", "forward acknowledgement", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_dsack", "duplicate SACK", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_no_metrics_save", "forget a route's metrics", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_fin_timeout", "seconds in FIN-WAIT-2", _ANY_NUMBER),
    _ignored_sysctl("net.ipv4.tcp_tw_reuse", "reuse of TIME-WAIT sockets", _ON_OFF),
    _ignored_sysctl("net.core.optmem_max", "ancillary buffer of a socket", _ANY_NUMBER),
    _ignored_sysctl(
        "net.ipv4.ip_local_port_range",
        "ports of connections that the host opens",
        Quantity("", "count", "1", "131072", 2),
    ),
)
