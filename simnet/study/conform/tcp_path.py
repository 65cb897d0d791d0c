"""Two TCP endpoints over a path that one describes in numbers: TCP alone, without machines.

    path = PathOptions(rate_bps=200 * 10**6, delay_ps=500 * US, loss_ppb=10**6)
    run = TcpPath(path, TcpOptions(congestion="reno"), BulkSource(), Sink(), seed=1)
    run.run_for(10 * SECOND)
    run.right.delivered

`left` writes to `right`; loss, late frames and the queue are on the way there (`forward`), the way
back (`backward`) has the same rate and delay. Something may be put before the right end:
`run.forward.numbers` and `run.forward.element`, see `simnet.net.link.lossy_path`. Any
`Application` may be used; `Requester` and `Responder` write and read messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.lossy_path import LossyPath
from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.endpoint import Application, TcpEndpoint
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.aix import AixTcp, aix_receiver, aix_sender
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.time_units import PS_PER_MS, PS_PER_S

# IPv4 and TCP headers; on Ethernet preamble, header, FCS and gap
_HEADER_BYTES = 40
_ETHERNET_BYTES = 38


@dataclass(frozen=True)
class PathOptions:
    """What lies between the ends; see `LossyPath`."""

    rate_bps: int  # of the bottleneck
    delay_ps: int  # one way
    queue_bytes: int = 0  # at the bottleneck, 0 for no limit
    loss_ppb: int = 0  # frames of 10**9 that are lost
    late_ppb: int = 0  # frames of 10**9 that come `late_ps` later
    late_ps: int = 0  # how much later


@dataclass(frozen=True)
class TcpOptions:
    """What both ends have in common; kernel and sysctls."""

    kernel: str = "2.6.18"  # version, which decides the sender's rules
    congestion: str = "reno"  # `tcp_congestion_control`
    mss: int = 1448  # payload of a full segment
    hz: int = 250  # jiffies a second
    initial_cwnd: int = 3  # segments
    sack: bool = True  # `tcp_sack`
    timestamps: bool = True  # `tcp_timestamps`
    # TCP_NODELAY and TCP_CORK
    nodelay: bool = False
    cork: bool = False
    # large segments are cut by the device, or right before it (GSO), and wait to be large
    tso: bool = False
    abc: int = 0  # `tcp_abc`
    reordering: int = 3  # `tcp_reordering`
    max_reordering: int | None = None  # `tcp_max_reordering`; None for the kernel's
    # default and largest receive and send buffer
    rmem_bytes: tuple[int, int] = (1 << 24, 1 << 24)
    wmem_bytes: tuple[int, int] = (1 << 24, 1 << 24)
    delack_ps: int = 40 * PS_PER_MS  # least delay of an ACK, TCP_DELACK_MIN
    delack_max_ps: int = 200 * PS_PER_MS  # greatest
    delack_limit_ps: int = 0  # TCP_DELACK_MAX_US; 0 for no limit of one's own
    quickack: bool = False  # `ip route ... quickack 1`
    # TCP_RTO_MIN and the timeout before the first measurement
    rto_min_ps: int = 200 * PS_PER_MS
    rto_init_ps: int = 3000 * PS_PER_MS
    rto_max_ps: int = 120 * PS_PER_S
    service_ps: int = 0  # what a received segment keeps a host busy for
    header_bytes: int = _HEADER_BYTES + 12 + _ETHERNET_BYTES  # on the wire beyond the payload
    # both ends run AIX with these attributes, and of the rest only `mss`, `nodelay`, `cork`,
    # `service_ps` and `header_bytes` count; None for Linux
    aix: AixTcp | None = None

    @property
    def jiffy_ps(self) -> int:
        """Length of a jiffy."""
        if self.aix:
            return self.aix.tick_ps
        return PS_PER_S // self.hz


class Requester(Application):
    """Writes messages, waits for an answer, and begins again: one transaction after another.

    Args:
        writes: bytes of each call of send.
        answer_bytes: what it waits for then.
        count: transactions; 0 for no end.

    `times_ps` has the duration of every transaction that is over.
    """

    def __init__(self, writes: Sequence[int], answer_bytes: int, count: int = 0) -> None:
        self.writes = tuple(writes)
        self.answer_bytes = answer_bytes
        self.count = count
        self.missing = 0
        self.started_ps = 0
        self.times_ps: list[int] = []

    def writable(self, socket: TcpEndpoint) -> int:
        """Begin."""
        if self.missing == 0:
            self._begin(socket)
        return 0

    def readable(self, socket: TcpEndpoint) -> int:
        """Take the answer; when it is complete, begin the next transaction."""
        self.missing -= socket.read(self.missing)
        if self.missing == 0:
            self.times_ps.append(socket.sim.now - self.started_ps)
            if self.count == 0 or len(self.times_ps) < self.count:
                self._begin(socket)
        return 0

    def _begin(self, socket: TcpEndpoint) -> None:
        self.started_ps = socket.sim.now
        self.missing = self.answer_bytes
        for size in self.writes:
            socket.write(size)


class Responder(Application):
    """Reads requests and answers each.

    Args:
        request_bytes: of a whole request.
        answer_bytes: of the answer.
    """

    def __init__(self, request_bytes: int, answer_bytes: int) -> None:
        self.request_bytes = request_bytes
        self.answer_bytes = answer_bytes
        self.read = 0

    def writable(self, socket: TcpEndpoint) -> int:  # noqa: ARG002 - as every application
        """Answers fit into any send buffer."""
        return 0

    def readable(self, socket: TcpEndpoint) -> int:
        """Read on; answer what is complete."""
        self.read += socket.read(socket.receiver.readable())
        while self.read >= self.request_bytes:
            self.read -= self.request_bytes
            socket.write(self.answer_bytes)
        return 0


class TcpPath:
    """A connection over a path.

    Args:
        path: between the ends.
        tcp: of both ends.
        left, right: the applications.
        seed: of the path's random numbers.
        sim: the simulation, if it exists already.
    """

    def __init__(
        self,
        path: PathOptions,
        tcp: TcpOptions,
        left: Application,
        right: Application,
        *,
        seed: int = 0,
        sim: Simulator | None = None,
    ) -> None:
        self.sim = sim or Simulator()
        self.tcp = tcp
        stream = RandomStream(seed, "path.forward")
        self.forward = LossyPath(
            self.sim,
            "path.forward",
            stream=stream,
            rate_bps=path.rate_bps,
            delay_ps=path.delay_ps,
            queue_bytes=path.queue_bytes,
            loss_ppb=path.loss_ppb,
            late_ppb=path.late_ppb,
            late_ps=path.late_ps,
        )
        self.backward = LossyPath(
            self.sim, "path.backward", stream=None, rate_bps=path.rate_bps, delay_ps=path.delay_ps
        )
        self.left = self._endpoint("left", left, self.forward)
        self.right = self._endpoint("right", right, self.backward)
        self.left.connect(self.right)
        self.right.connect(self.left)
        self.forward.destination = self.right
        self.backward.destination = self.left
        self.left.sender.open_window(self.right.receiver.syn_window)
        self.right.sender.open_window(self.left.receiver.syn_window)
        self._connected = False

    def _endpoint(self, name: str, application: Application, out: LossyPath) -> TcpEndpoint:
        tcp = self.tcp
        if tcp.aix:
            sender = aix_sender(tcp.aix, mss=tcp.mss, tso=False)
            receiver = aix_receiver(tcp.aix, advmss=tcp.mss)
        else:
            sender, receiver = self._sender(), self._receiver()
        sender.output.nodelay = tcp.nodelay
        sender.output.cork = tcp.cork
        return TcpEndpoint(
            self.sim,
            name,
            sender=sender,
            receiver=receiver,
            application=application,
            path_out=out,
            jiffy_ps=tcp.jiffy_ps,
            overhead_bytes=tcp.header_bytes,
            service_ps=tcp.service_ps,
        )

    def _sender(self) -> TcpSender:
        tcp = self.tcp
        rules = sender_rules(tcp.kernel)
        if tcp.max_reordering is not None:
            rules = replace(rules, max_reordering=tcp.max_reordering)
        settings = SenderSettings(
            mss=tcp.mss,
            congestion=CongestionMaker(
                tcp.congestion, tcp.initial_cwnd, mss=tcp.mss, abc=tcp.abc, hz=tcp.hz, rules=rules
            ),
            wmem_default=tcp.wmem_bytes[0],
            wmem_max=tcp.wmem_bytes[1],
            segment_truesize=tcp.mss + 400,
            jiffy_ps=tcp.jiffy_ps,
            rto_min_ps=tcp.rto_min_ps,
            rto_init_ps=tcp.rto_init_ps,
            rto_max_ps=tcp.rto_max_ps,
            tso=tcp.tso,
            tso_win_divisor=3,
            reordering=tcp.reordering,
            sack=tcp.sack,
            rules=rules,
            timestamps=tcp.timestamps,
        )
        return TcpSender(settings)

    def _receiver(self) -> TcpReceiver:
        tcp = self.tcp
        settings = ReceiverSettings(
            advmss=tcp.mss,
            rmem_default=tcp.rmem_bytes[0],
            rmem_max=tcp.rmem_bytes[1],
            timing=AckTiming(
                jiffy_ps=tcp.jiffy_ps,
                ato_min_ps=tcp.delack_ps,
                delack_max_ps=tcp.delack_max_ps,
                delack_limit_ps=tcp.delack_limit_ps,
                rto_ps=tcp.rto_init_ps,
            ),
            quickack=tcp.quickack,
            max_quickacks=16,
            min_rcvmss=536,
            truesize_overhead=400,
            moderate_rcvbuf=True,
            window_scaling=True,
            rules=receiver_rules(tcp.kernel),
            timestamps=tcp.timestamps,
            sack=tcp.sack,
        )
        return TcpReceiver(settings)

    def run_for(self, time_ps: int) -> None:
        """Go on for so long."""
        if not self._connected:
            self._connected = True
            self.left.begin()
            self.right.begin()
        self.sim.run_until(self.sim.now + time_ps)
