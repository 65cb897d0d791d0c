"""Build the ends of connections.

There may be thousands of them between two ports: what they share is worked out once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.aix import aix_receiver_settings, aix_sender_settings
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules
from simnet.net.tcp.rules.sender_version import SenderRules, sender_rules
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.socket_maker import SocketMaker
from simnet.net.tcp.socket_settings import SocketSettings
from simnet.scenario.parts.aix.build import aix_tcp
from simnet.scenario.parts.host.build import make_buffers
from simnet.scenario.parts.sockets.build_polling import busy_read_usecs
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.kernel.histogram import LogHistogram
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.net.steering.steering import SocketFlowTable
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.parts.tcp.kernel import TcpKernel

_ETHERNET_OVERHEAD_BYTES: Final = 38
_IP_TCP_BYTES: Final = 40
_TIMESTAMP_BYTES: Final = 12
_MAX_TCP_HEADER_BYTES: Final = 192
# GSO_MAX_SIZE
_LARGE_BYTES: Final = 65536
# segments that one large frame holds in the mean
_TSO_SEGMENTS: Final = 8
_ETHERNET_MSS: Final = 1460


def socket_maker(
    host: Host,
    port: Port,
    machine: Machine,
    nic: Nic | MultiqueuePort,
    *,
    seed: int,
    far: Port | None = None,
    latency: LogHistogram | None = None,
    flows: SocketFlowTable | None = None,
) -> SocketMaker:
    """Makes sockets of a host that use one port.

    Args:
        host: the configuration.
        port: of the host.
        machine: what was made of the host.
        nic: what was made of the port.
        seed: of all random streams.
        far: the port at the other end, which announces its MSS; None for one like `port`.
        latency: a histogram that the sockets share; None for one each.
        flows: of the host, where the sockets record the CPUs that use them; None: nowhere.
    """
    kernel = host.kernel
    large = kernel.system == "linux" and sender_rules(kernel.version).always_gso
    settings = SocketSettings(
        machine.sim,
        nic=nic,
        costs=machine.costs,
        memory=machine.memory,
        shared_lines=kernel.tcp_sock_lines,
        buffers=make_buffers(host, machine),
        runqueue_lines=kernel.runqueue_lines,
        jiffy_ps=PS_PER_S // kernel.hz,
        header_bytes=_IP_TCP_BYTES + _options(host),
        wire_overhead=port.nic.link_overhead_bytes,
        low_latency=kernel.tcp_low_latency,
        checksum_by_cpu=port.nic.checksum_by_cpu,
        page_bytes=port.nic.page_bytes,
        gso=large and not port.nic.segments,
        per_large=_LARGE_BYTES // _mss(host, port) if large else 1,
        latency=latency,
        flows=flows,
        busy_read_usecs=busy_read_usecs(host, port),
    )
    return SocketMaker(
        settings,
        sender_settings(host, port, far, seed=seed, path=nic.path),
        receiver_settings(host, port),
        nic.lines[0],
        seed=seed,
        spread_permille=host.cpu.work_spread_permille,
    )


def sender_settings(
    host: Host, port: Port, far: Port | None = None, *, seed: int = 0, path: str = ""
) -> SenderSettings:
    """What sending halves have in common; the lesser MSS counts (RFC 9293, 3.7.1).

    Args:
        host: the configuration.
        port: of the host.
        far: announces its MSS; None: the same as `port`.
        seed: of all random streams.
        path: of the port, which random streams are named after.
    """
    kernel = host.kernel
    mss = _mss(host, port, far or port)
    if kernel.system == "aix":
        return aix_sender_settings(aix_tcp(host, port), mss=mss, tso=port.nic.segments)
    rules = _sender_rules(kernel)
    large = port.nic.segments or rules.always_gso
    locked = _locked(host.application.socket_buffer_bytes, kernel.wmem_max_bytes)
    # with TSO the headers and the sk_buff are shared by the segments of one large frame
    overhead = _MAX_TCP_HEADER_BYTES + kernel.skb_truesize_overhead_bytes
    return SenderSettings(
        mss=mss,
        congestion=CongestionMaker(
            kernel.tcp_congestion_control,
            _initial_cwnd(kernel.initial_cwnd, mss),
            mss=mss,
            abc=kernel.tcp_abc,
            hz=kernel.hz,
            rules=rules,
            seed=seed,
            path=path,
        ),
        # tcp_fixup_sndbuf: room for three segments
        wmem_default=locked
        or max(kernel.tcp_wmem_bytes[1], min(3 * (mss + overhead), kernel.tcp_wmem_bytes[2])),
        wmem_max=locked or kernel.tcp_wmem_bytes[2],
        segment_truesize=mss + overhead // (_TSO_SEGMENTS if large else 1),
        jiffy_ps=PS_PER_S // kernel.hz,
        rto_min_ps=kernel.rto_min_ps,
        rto_init_ps=_first_rto_ps(kernel),
        rto_max_ps=kernel.rto_max_ps,
        tso=large,
        tso_win_divisor=kernel.tcp_tso_win_divisor,
        reordering=kernel.tcp_reordering,
        sack=kernel.tcp_sack,
        rules=rules,
        restarts=kernel.tcp_slow_start_after_idle,
        timestamps=kernel.tcp_timestamps,
        nodelay=host.application.nodelay,
        paces=host.qdisc.default_qdisc == "fq",
    )


def receiver_settings(host: Host, port: Port) -> ReceiverSettings:
    """What receiving halves have in common."""
    kernel = host.kernel
    mss = _mss(host, port)
    if kernel.system == "aix":
        return aix_receiver_settings(aix_tcp(host, port), advmss=mss)
    locked = _locked(host.application.socket_buffer_bytes, kernel.rmem_max_bytes)
    return ReceiverSettings(
        advmss=mss,
        rmem_default=locked
        or max(
            kernel.tcp_rmem_bytes[1], min(_fixed_up_rcvbuf(host, mss), kernel.tcp_rmem_bytes[2])
        ),
        rmem_max=kernel.tcp_rmem_bytes[2],
        timing=_ack_timing(
            PS_PER_S // kernel.hz,
            (
                kernel.ato_min_ps,
                kernel.delack_max_ps,
                _first_rto_ps(kernel),
                kernel.delack_min_ps,
                host.application.delack_max_ps,
            ),
        ),
        max_quickacks=kernel.max_quickacks,
        min_rcvmss=kernel.min_rcvmss_bytes,
        truesize_overhead=(port.nic.frame_buffer_bytes + kernel.skb_truesize_overhead_bytes - mss),
        moderate_rcvbuf=kernel.tcp_moderate_rcvbuf and not locked,
        window_scaling=kernel.tcp_window_scaling,
        rules=_receiver_rules(kernel.version, kernel.tcp_adv_win_scale),
        option_bytes=_options(host),
        timestamps=kernel.tcp_timestamps,
        sack=kernel.tcp_sack,
        rcvbuf_locked=locked > 0,
        quickack=port.quickack,
    )


def frame_overhead_bytes(host: Host) -> int:
    """What a full segment takes on the wire beyond its payload."""
    return _ETHERNET_OVERHEAD_BYTES + _IP_TCP_BYTES + _options(host)


def _options(host: Host) -> int:
    return _TIMESTAMP_BYTES if host.kernel.tcp_timestamps else 0


def _mss(host: Host, *ports: Port) -> int:
    """The payload of a full segment, that the smallest of the ports' MTU leaves."""
    mtu_bytes: int = min(port.nic.mtu_bytes for port in ports)
    return mtu_bytes - _IP_TCP_BYTES - _options(host)


def _first_rto_ps(kernel: TcpKernel) -> int:
    """The timeout of a connection that is set up: the handshake took less than a jiffy.

    `tcp_rcv_synsent_state_process` and `tcp_rcv_state_process` measure it at both ends.
    """
    if kernel.tcp_timestamps or sender_rules(kernel.version).keeps_handshake:
        return min(kernel.rto_min_ps + PS_PER_S // kernel.hz, kernel.rto_max_ps)
    return kernel.rto_init_ps


def _locked(asked: int, most: int) -> int:
    """What setsockopt of SO_SNDBUF or SO_RCVBUF comes to: limited, doubled; 0 if not set."""
    return 2 * min(asked, most)


def _fixed_up_rcvbuf(host: Host, mss: int) -> int:
    """`tcp_fixup_rcvbuf`: the receive buffer in which a few segments have room.

    Four of Linux 2.6, as many as the first window of 3.x holds; a quarter is not offered.
    """
    segment: int = mss + _MAX_TCP_HEADER_BYTES + host.kernel.skb_truesize_overhead_bytes
    while segment - (segment >> 2) < mss:
        segment += 128
    if host.kernel.version.startswith("2."):
        return 4 * segment
    return segment * (10 if mss <= _ETHERNET_MSS else max(10 * _ETHERNET_MSS // mss, 2))


def _sender_rules(kernel: TcpKernel) -> SenderRules:
    """The rules of the version, with the values of its sysctls."""
    rules = sender_rules(kernel.version)
    return replace(
        rules,
        limit_output_bytes=kernel.tcp_limit_output_bytes or rules.limit_output_bytes,
        autocorking=kernel.tcp_autocorking,
        min_tso_segs=kernel.tcp_min_tso_segs,
        tso_rtt_log=rules.tso_rtt_log and kernel.tcp_tso_rtt_log,
        pacing_ss_ratio=kernel.tcp_pacing_ss_ratio,
        pacing_ca_ratio=kernel.tcp_pacing_ca_ratio,
    )


@cache
def _receiver_rules(version: str, adv_win_scale: int) -> ReceiverRules:
    rules = receiver_rules(version)
    return replace(rules, adv_win_scale=adv_win_scale) if rules.adv_win_scale > 0 else rules


@cache
def _ack_timing(jiffy_ps: int, times_ps: tuple[int, int, int, int, int]) -> AckTiming:
    # the round trip is that of the handshake; the kernel counts what is shorter as a jiffy
    return AckTiming(jiffy_ps, *times_ps, jiffy_ps)


def _initial_cwnd(rule: str, mss: int) -> int:
    """RFC 3390 or RFC 6928, in segments."""
    if rule == "iw10":
        return 10
    return 2 if mss > 1460 else 3 if mss > 1095 else 4  # noqa: PLR2004 - RFC 3390's limits
