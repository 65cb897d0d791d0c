"""Build the ends of connections.

There may be thousands of them between two ports: what they share is worked out once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from simnet.net.tcp.congestion.cubic import congestion_maker
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.aix import aix_receiver, aix_sender
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules
from simnet.net.tcp.rules.sender_version import SenderRules, sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.socket import TcpSocket
from simnet.scenario.parts.aix.build import aix_tcp
from simnet.scenario.parts.host.build import PS, make_buffers, spread_maker

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.host.machine import Machine
    from simnet.kernel.histogram import LogHistogram
    from simnet.kernel.simulator import Simulator
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.parts.host.schema import Kernel

__all__ = ["SocketMaker", "frame_overhead_bytes", "receiver_maker", "sender_maker"]

_ETHERNET_OVERHEAD_BYTES: Final = 38
_IP_TCP_BYTES: Final = 40
_TIMESTAMP_BYTES: Final = 12
_MAX_TCP_HEADER_BYTES: Final = 192
# GSO_MAX_SIZE
_LARGE_BYTES: Final = 65536
# segments that one large frame holds in the mean
_TSO_SEGMENTS: Final = 8
_ETHERNET_MSS: Final = 1460


class SocketMaker:
    """Makes sockets of a host that use one port.

    Args:
        sim: the simulation.
        host: the configuration.
        port: of the host.
        machine: what was made of the host.
        nic: what was made of the port.
        seed: of all random streams.
        far: the port at the other end, which announces its MSS; None for one like `port`.
        latency: a histogram that the sockets share; None for one each.
    """

    def __init__(
        self,
        sim: Simulator,
        host: Host,
        port: Port,
        machine: Machine,
        nic: Nic | MultiqueuePort,
        *,
        seed: int,
        far: Port | None = None,
        latency: LogHistogram | None = None,
    ) -> None:
        kernel = host.kernel
        self._nic = nic
        self._line = nic.lines[0]
        self._spread = spread_maker(host, seed)
        self._receiver = receiver_maker(host, port)
        self._sender = sender_maker(host, port, far)
        large = kernel.system == "linux" and sender_rules(kernel.version).always_gso
        self._sim = sim
        self._machine = machine
        self._latency = latency
        self._buffers = make_buffers(host, machine)
        self._shared_lines = kernel.tcp_sock_lines
        self._runqueue_lines = kernel.runqueue_lines
        self._jiffy_ps = PS // kernel.hz
        self._header_bytes = _IP_TCP_BYTES + _options(host)
        self._wire_overhead = port.nic.link_overhead_bytes
        self._low_latency = kernel.tcp_low_latency
        self._checksum_by_cpu = port.nic.checksum_by_cpu
        self._page_bytes = port.nic.page_bytes
        self._gso = large and not port.nic.segments
        self._per_large = _LARGE_BYTES // _mss(host, port) if large else 1

    def make(self, path: str) -> TcpSocket:
        """One end of a connection; `path` is that of the component."""
        return TcpSocket(
            self._sim,
            path,
            receiver=self._receiver(),
            sender=self._sender(),
            nic=self._nic,
            costs=self._machine.costs,
            memory=self._machine.memory,
            shared_lines=self._shared_lines,
            buffers=self._buffers,
            runqueue_lines=self._runqueue_lines,
            jiffy_ps=self._jiffy_ps,
            header_bytes=self._header_bytes,
            wire_overhead=self._wire_overhead,
            low_latency=self._low_latency,
            timer_cpu=self._line.current_target(),
            checksum_by_cpu=self._checksum_by_cpu,
            page_bytes=self._page_bytes,
            spread=self._spread(path),
            gso=self._gso,
            per_large=self._per_large,
            latency=self._latency,
        )


def sender_maker(host: Host, port: Port, far: Port | None = None) -> Callable[[], TcpSender]:
    """Makes sending halves; `far` announces its MSS, None the same as `port`'s.

    The lesser MSS counts (RFC 9293, 3.7.1).
    """
    kernel = host.kernel
    mss = _mss(host, port, far or port)
    if kernel.system == "aix":
        return partial(aix_sender, aix_tcp(host, port), mss=mss, tso=port.nic.segments)
    rules = _sender_rules(kernel)
    large = port.nic.segments or rules.always_gso
    locked = _locked(host.application.socket_buffer_bytes, kernel.wmem_max_bytes)
    # with TSO the headers and the sk_buff are shared by the segments of one large frame
    overhead = _MAX_TCP_HEADER_BYTES + kernel.skb_truesize_overhead_bytes
    nodelay = host.application.nodelay
    paced = host.qdisc.default_qdisc == "fq"
    congestion = congestion_maker(
        kernel.tcp_congestion_control,
        _initial_cwnd(kernel.initial_cwnd, mss),
        mss=mss,
        abc=kernel.tcp_abc,
        hz=kernel.hz,
        rules=rules,
    )
    # tcp_fixup_sndbuf: room for three segments
    wmem_default = locked or max(
        kernel.tcp_wmem_bytes[1], min(3 * (mss + overhead), kernel.tcp_wmem_bytes[2])
    )
    wmem_max = locked or kernel.tcp_wmem_bytes[2]
    segment_truesize = mss + overhead // (_TSO_SEGMENTS if large else 1)
    jiffy_ps = PS // kernel.hz
    rto_min_ps, rto_max_ps = kernel.rto_min_ps, kernel.rto_max_ps
    rto_init_ps = _first_rto_ps(kernel)
    tso_win_divisor = kernel.tcp_tso_win_divisor
    reordering = kernel.tcp_reordering
    sack, timestamps = kernel.tcp_sack, kernel.tcp_timestamps
    restarts = kernel.tcp_slow_start_after_idle

    def make() -> TcpSender:
        sender = TcpSender(
            mss=mss,
            congestion=congestion(),
            wmem_default=wmem_default,
            wmem_max=wmem_max,
            segment_truesize=segment_truesize,
            jiffy_ps=jiffy_ps,
            rto_min_ps=rto_min_ps,
            rto_init_ps=rto_init_ps,
            rto_max_ps=rto_max_ps,
            tso=large,
            tso_win_divisor=tso_win_divisor,
            reordering=reordering,
            sack=sack,
            rules=rules,
            restarts=restarts,
            timestamps=timestamps,
        )
        sender.output.nodelay = nodelay
        if paced:
            sender.output.small_queue.paces = True
        return sender

    return make


def receiver_maker(host: Host, port: Port) -> Callable[[], TcpReceiver]:
    """Makes receiving halves."""
    kernel = host.kernel
    mss = _mss(host, port)
    if kernel.system == "aix":
        return partial(aix_receiver, aix_tcp(host, port), advmss=mss)
    rules = _receiver_rules(kernel.version, kernel.tcp_adv_win_scale)
    locked = _locked(host.application.socket_buffer_bytes, kernel.rmem_max_bytes)
    rmem_default = locked or max(
        kernel.tcp_rmem_bytes[1], min(_fixed_up_rcvbuf(host, mss), kernel.tcp_rmem_bytes[2])
    )
    rmem_max = kernel.tcp_rmem_bytes[2]
    timing = _ack_timing(
        PS // kernel.hz,
        (
            kernel.ato_min_ps,
            kernel.delack_max_ps,
            _first_rto_ps(kernel),
            kernel.delack_min_ps,
            host.application.delack_max_ps,
        ),
    )
    max_quickacks, min_rcvmss = kernel.max_quickacks, kernel.min_rcvmss_bytes
    overhead = port.nic.frame_buffer_bytes + kernel.skb_truesize_overhead_bytes - mss
    moderate = kernel.tcp_moderate_rcvbuf and not locked
    window_scaling = kernel.tcp_window_scaling
    option_bytes = _options(host)
    sack, timestamps = kernel.tcp_sack, kernel.tcp_timestamps
    quickack = port.quickack

    def make() -> TcpReceiver:
        return TcpReceiver(
            advmss=mss,
            rmem_default=rmem_default,
            rmem_max=rmem_max,
            timing=timing,
            max_quickacks=max_quickacks,
            min_rcvmss=min_rcvmss,
            truesize_overhead=overhead,
            moderate_rcvbuf=moderate,
            window_scaling=window_scaling,
            rules=rules,
            option_bytes=option_bytes,
            timestamps=timestamps,
            sack=sack,
            rcvbuf_locked=locked > 0,
            quickack=quickack,
        )

    return make


def frame_overhead_bytes(host: Host) -> int:
    """What a full segment takes on the wire beyond its payload."""
    return _ETHERNET_OVERHEAD_BYTES + _IP_TCP_BYTES + _options(host)


def _options(host: Host) -> int:
    return _TIMESTAMP_BYTES if host.kernel.tcp_timestamps else 0


def _mss(host: Host, *ports: Port) -> int:
    """The payload of a full segment, that the smallest of the ports' MTU leaves."""
    return min(port.nic.mtu_bytes for port in ports) - _IP_TCP_BYTES - _options(host)


def _first_rto_ps(kernel: Kernel) -> int:
    """The timeout of a connection that is set up: the handshake took less than a jiffy.

    `tcp_rcv_synsent_state_process` and `tcp_rcv_state_process` measure it at both ends.
    """
    if kernel.tcp_timestamps or sender_rules(kernel.version).keeps_handshake:
        return min(kernel.rto_min_ps + PS // kernel.hz, kernel.rto_max_ps)
    return kernel.rto_init_ps


def _locked(asked: int, most: int) -> int:
    """What setsockopt of SO_SNDBUF or SO_RCVBUF comes to: limited, doubled; 0 if not set."""
    return 2 * min(asked, most)


def _fixed_up_rcvbuf(host: Host, mss: int) -> int:
    """`tcp_fixup_rcvbuf`: the receive buffer in which a few segments have room.

    Four of Linux 2.6, as many as the first window of 3.x holds; a quarter is not offered.
    """
    segment = mss + _MAX_TCP_HEADER_BYTES + host.kernel.skb_truesize_overhead_bytes
    while segment - (segment >> 2) < mss:
        segment += 128
    if host.kernel.version.startswith("2."):
        return 4 * segment
    return segment * (10 if mss <= _ETHERNET_MSS else max(10 * _ETHERNET_MSS // mss, 2))


def _sender_rules(kernel: Kernel) -> SenderRules:
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
