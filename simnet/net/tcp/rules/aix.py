"""TCP of AIX, as far as it is documented: delayed ACKs, Nagle, windows, buffers.

What decides is the attributes of no(1). One scan of all connections, every `fasttimo`, sends the
ACKs that wait: a lone segment is acknowledged as soon as the next scan begins, uniformly within
`fasttimo` for a sender that does not keep its time. Every second segment is acknowledged at once,
whatever its size; with `tcp_nodelayack` every one. Buffers are counted in payload and do not grow.

Scans begin at multiples of `fasttimo`, as jiffies do at multiples of theirs. There is no event for
a scan that finds nothing: an ACK that waits has its timer set to the next.

Source: IBM's AIX documentation, commands no(1) and chdev(1); RFC 1122, 1323, 2018, 2414. Taken
from the RFCs, as IBM does not say it: how segments ahead of a hole are acknowledged (each at
once), when a read updates the window, and how losses are recovered from (RFC 6582, 6675). Not
modelled: HighSpeed TCP (`hstcp`), `delayack` and `delayackports` (they delay what opens and
closes a connection), the factors of `rto_low` to `rto_limit`, mbufs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.receiver_version import ReceiverRules
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings

_MS: Final = 10**9
_TIMESTAMP_BYTES: Final = 12
_RFC_2414_BYTES: Final = 4380
_SEGMENTS_PER_ACK: Final = 2
_DUPLICATE_ACKS: Final = 3
_SENDER: Final = SenderRules(
    fack=False,
    counts_sacked=True,
    head_timeout=False,
    forward_retransmit=False,
    bic_start=False,
    minshall=False,
    half_window=False,
)


@dataclass(frozen=True)
class AixTcp:
    """The attributes that hold for a connection; defaults are those of AIX 7.2."""

    fasttimo_ps: int = 200 * _MS  # period of the scan, at most 200 ms
    tcp_nodelayack: bool = False  # every segment is acknowledged at once
    # segments of this size or more do not wait for Nagle's algorithm
    tcp_nagle_limit_bytes: int = 65535
    # the first congestion window, segments, with `rfc2414`; 0: as RFC 2414 has it
    tcp_init_window: int = 0
    rfc2414: bool = True  # the first congestion window is more than a segment
    rfc1323: bool = False  # windows are scaled and segments carry timestamps
    sack: bool = False  # selective acknowledgements
    # receive and send buffer, the interface's own considered
    recvspace_bytes: int = 16384
    sendspace_bytes: int = 16384
    tick_ps: int = 10 * _MS  # of the clock that scans and timeouts go by
    # bounds of the retransmission timeout
    rto_min_ps: int = 1000 * _MS
    rto_init_ps: int = 3000 * _MS
    rto_max_ps: int = 64_000 * _MS


def effective_space(everywhere: int, interface: int) -> int:
    """The buffer of a connection: what its interface has (ISNO), else what no(1) has.

    Args:
        everywhere: `no -o tcp_recvspace` or `tcp_sendspace`, bytes.
        interface: the same of `chdev -l`, bytes; 0 where it is not set.
    """
    return interface or everywhere


def first_cwnd(tcp: AixTcp, mss: int) -> int:
    """The first congestion window, segments: RFC 2414, `tcp_init_window`, or one segment."""
    if not tcp.rfc2414:
        return 1
    return tcp.tcp_init_window or min(4 * mss, max(2 * mss, _RFC_2414_BYTES)) // mss


def aix_receiver(tcp: AixTcp, *, advmss: int) -> TcpReceiver:
    """The receiving half of a connection; see `aix_receiver_settings`."""
    return TcpReceiver(aix_receiver_settings(tcp, advmss=advmss))


def aix_receiver_settings(tcp: AixTcp, *, advmss: int) -> ReceiverSettings:
    """What the receiving halves of connections have in common.

    Args:
        tcp: attributes that hold for them.
        advmss: payload of a full segment, timestamps taken off, bytes.
    """
    return ReceiverSettings(
        advmss=advmss,
        rmem_default=tcp.recvspace_bytes,
        rmem_max=tcp.recvspace_bytes,
        timing=AckTiming(
            jiffy_ps=tcp.tick_ps,
            ato_min_ps=tcp.tick_ps,
            delack_max_ps=tcp.fasttimo_ps,
            rto_ps=tcp.rto_init_ps,
        ),
        max_quickacks=0,
        min_rcvmss=advmss,
        truesize_overhead=0,
        moderate_rcvbuf=False,
        window_scaling=tcp.rfc1323,
        rules=ReceiverRules(
            collapses=False,
            filled_at_once=True,
            defers_timer=True,
            blocks_timer=False,
            # all of it: no buffer is as large
            adv_win_scale=62,
            segments_per_ack=1 if tcp.tcp_nodelayack else _SEGMENTS_PER_ACK,
            scan_jiffies=-(-tcp.fasttimo_ps // tcp.tick_ps),
            whole_buffer=True,
        ),
        sizes=SkbSizes(1, part_bytes=1),
        option_bytes=_TIMESTAMP_BYTES if tcp.rfc1323 else 0,
        timestamps=tcp.rfc1323,
        sack=tcp.sack,
        rcvbuf_locked=True,
    )


def aix_sender(tcp: AixTcp, *, mss: int, tso: bool) -> TcpSender:
    """The sending half of a connection; see `aix_sender_settings`."""
    return TcpSender(aix_sender_settings(tcp, mss=mss, tso=tso))


def aix_sender_settings(tcp: AixTcp, *, mss: int, tso: bool) -> SenderSettings:
    """What the sending halves of connections have in common.

    Args:
        tcp: attributes that hold for them.
        mss: payload of a full segment, bytes.
        tso: `large_send` of the interface: its NIC segments.
    """
    return SenderSettings(
        mss=mss,
        congestion=CongestionMaker("reno", first_cwnd(tcp, mss), mss=mss, rules=_SENDER),
        wmem_default=tcp.sendspace_bytes,
        wmem_max=tcp.sendspace_bytes,
        segment_truesize=mss,
        jiffy_ps=tcp.tick_ps,
        rto_min_ps=tcp.rto_min_ps,
        rto_init_ps=tcp.rto_init_ps,
        rto_max_ps=tcp.rto_max_ps,
        tso=tso,
        tso_win_divisor=0,
        reordering=_DUPLICATE_ACKS,
        sack=tcp.sack,
        rules=_SENDER,
        timestamps=tcp.rfc1323,
        nagle_limit=tcp.tcp_nagle_limit_bytes,
    )
