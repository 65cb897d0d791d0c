"""One end of a connection by itself: what a script puts in, and the segments that come out.

No host, no wire: a segment is processed when it is put in, a timer runs at the tick at which it is
due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.host.cpu import Cpu
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import ECE, SkbQueue
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.study.conform.connection import make_sender
from simnet.study.conform.packetdrill_assert import failed
from simnet.time_units import PS_PER_S, PS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.study.conform.connection import Connection
    from simnet.study.conform.step import Step

_CALL: Final = 0
_DELACK: Final = 1
_COMPRESSED: Final = 2
_RTO: Final = 3
_PRIORITY: Final = 1


@dataclass(frozen=True, slots=True)
class Segment:
    """What the end has sent."""

    time_ps: int  # when
    ack: int  # acknowledgement number
    window: int  # the field as sent
    sack: tuple[tuple[int, int], ...] = ()  # blocks of the SACK option
    # payload; equal for a pure ACK
    seq: int = 0
    end_seq: int = 0
    push: bool = False  # PSH
    timer: bool = False  # a timer sent it
    ecn: int = 0  # bits of `simnet.net.link.skb`


# from the expiry of a timer of high resolution to the segment: by validation/external
_HRTIMER_PS: Final = 35 * PS_PER_US


class Endpoint(Component):
    """The kernel's end.

    Args:
        connection: what it is.
        first: the peer's first sequence number.
        phase_ps: when the kernel's first tick falls, less than a jiffy.
        waits: whether a timer that is due now runs a jiffy later only: on a CPU that idles
            it may, as another one looks after its timers.
    """

    def __init__(
        self,
        connection: Connection,
        first: int,
        phase_ps: int = 0,
        waits: Callable[[Endpoint], bool] | None = None,
    ) -> None:
        super().__init__(Simulator(), "end")
        kernel = connection.kernel
        self.jiffy_ps: int = PS_PER_S // kernel["hz"]
        # what came before time 0 counts as one jiffy
        self.boot_ps: int = phase_ps - self.jiffy_ps
        option_bytes = 12 if connection.timestamps else 0
        # tcp_delack_max: less than rto_min, too
        limit = max(kernel["rto_min_ps"], 2 * self.jiffy_ps) - self.jiffy_ps
        if connection.delack_max_ps is not None:
            limit = min(limit, connection.delack_max_ps)
        settings = ReceiverSettings(
            advmss=connection.advmss - option_bytes,
            rmem_default=connection.rcvbuf or kernel["tcp_rmem_bytes"][1],
            rmem_max=kernel["tcp_rmem_bytes"][2],
            timing=AckTiming(
                jiffy_ps=self.jiffy_ps,
                ato_min_ps=kernel["ato_min_ps"],
                delack_max_ps=kernel["delack_max_ps"],
                rto_ps=kernel["rto_min_ps"] + connection.rtt_ps,
                delack_limit_ps=limit,
                srtt_ps=connection.rtt_ps,
            ),
            max_quickacks=kernel["max_quickacks"],
            min_rcvmss=kernel["min_rcvmss_bytes"],
            truesize_overhead=0,
            moderate_rcvbuf=kernel["tcp_moderate_rcvbuf"],
            window_scaling=connection.scaling,
            rules=receiver_rules(kernel["version"]),
            sizes=SkbSizes(0, 40 + option_bytes),
            option_bytes=option_bytes,
            timestamps=connection.timestamps,
            sack=connection.sack,
            rcvbuf_locked=connection.rcvbuf > 0,
            quickack=connection.quickack,
        )
        self.receiver = TcpReceiver(settings)
        self.timer_jiffies: int = int(self.receiver.delack.timer_jiffies)
        self.receiver.start(first, connection.established_ps // PS_PER_US)
        self.sender = make_sender(connection, self.jiffy_ps, option_bytes)
        self.ecn = Ecn() if connection.ecn else None
        if self.ecn is not None:
            self.receiver.ecn = self.ecn
            self.sender.use_ecn(self.ecn)
        self.peer_scale = connection.peer_scale
        self.staged = SkbQueue()
        self.cpu = Cpu(self.sim, "cpu", 0, 0, 0, 0, 1000, self.jiffy_ps)
        self.wanted = 0
        self.transmitted = False
        self.sent: list[Segment] = []  # segments that it has sent
        self.problems: list[str] = []  # calls that returned something else than they should
        self.calls: list[Callable[[], object]] = []
        self.waits = waits
        self.waited = False
        self.delack_ps = -1
        self.compressed_ps = -1
        self.rto_ps = -1

    @property
    def _jiffy(self) -> int:
        return int((self.sim.now - self.boot_ps) // self.jiffy_ps)

    def _tick_ps(self, jiffy: int) -> int:
        """When the timers of a jiffy run: as it begins, or since 4.8 as it ends."""
        return self.boot_ps + (jiffy + self.timer_jiffies) * self.jiffy_ps

    def at(self, time_ps: int, call: Callable[[], object]) -> None:
        """Have something done at a time."""
        self.calls.append(call)
        self.sim.at(time_ps, self, _CALL, len(self.calls) - 1, _PRIORITY)

    def run(self, until_ps: int) -> None:
        """Let time pass."""
        self.sim.run_until(until_ps)

    def on_event(self, kind: int, arg: int) -> None:
        """A call or a timer is due."""
        if kind == _CALL:
            self.calls[arg]()
        elif kind == _DELACK:
            if self.sim.now == self.delack_ps:
                self._delack()
        elif kind == _RTO:
            if self.sim.now == self.rto_ps:
                if self._late():
                    self.rto_ps = self.sim.now + self.jiffy_ps
                    self.sim.at(self.rto_ps, self, _RTO, 0, _PRIORITY)
                    return
                self.rto_ps = -1
                self._refresh()
                if self.sender.timer_expired(self._jiffy):
                    self.sender.output.stage(self.staged, self.cpu, self._jiffy)
                    self.sender.output.stage_probe(self.staged, self.cpu)
                self._transmit(timer=True)
        elif self.sim.now == self.compressed_ps and self.receiver.compression.compressed > 0:
            self._acknowledge(timer=True)

    def _delack(self) -> None:
        """`tcp_delack_timer`."""
        if self._late():
            self.delack_ps = self.sim.now + self.jiffy_ps
            self.sim.at(self.delack_ps, self, _DELACK, 0, _PRIORITY)
            return
        self.delack_ps = -1
        self._refresh()
        if self.receiver.delack.expired():
            self._acknowledge(timer=True)

    def _late(self) -> bool:
        """Whether the timer that is due runs a jiffy later."""
        self.waited = not self.waited and self.waits is not None and self.waits(self)
        return self.waited

    # -- what a script does -----------------------------------------------------------------

    def receive(self, step: Step) -> None:
        """`tcp_rcv_established`: a segment comes in."""
        receiver = self.receiver
        length = step.end_seq - step.seq
        at_once = False
        self._refresh()
        if self.ecn is not None:
            self.sender.echoed(bool(step.ecn & ECE))
            self.receiver.marked(step.ecn, length > 0)
        if receiver.seq.acceptable(step.seq, step.end_seq):
            self._acknowledged(step)
        if length > 0:
            at_once = receiver.segment(step.seq, step.end_seq, step.push, False, self._jiffy)  # noqa: FBT003
        self._output()
        if length > 0 and at_once and not (self.transmitted and not receiver.delack.scheduled):
            self._acknowledge()
        elif length > 0 and receiver.compression.started and receiver.compression.compressed > 0:
            if receiver.compression.compressed == 1:
                self.compressed_ps = (
                    self.sim.now + receiver.compression.delay_ps(receiver.window.rtt) + _HRTIMER_PS
                )
                self.sim.at(self.compressed_ps, self, _COMPRESSED, 0, _PRIORITY)
        elif length > 0 and receiver.delack.scheduled:
            self._schedule()
        if self.wanted > 0 and receiver.readable() > 0:
            self._take(self.wanted)

    def _acknowledged(self, step: Step) -> None:
        """`tcp_ack`."""
        self.sender.acknowledge(
            self.sender.seq.snd_nxt if step.ack < 0 else step.ack - 1,
            self.sender.seq.snd_wnd if step.ack < 0 else step.window << self.peer_scale,
            self._jiffy,
            [(first - 1, last - 1) for first, last in step.blocks] or None,
            -1,
            step.end_seq > step.seq,
        )

    def read(self, count: int, *, blocking: bool = False) -> None:
        """The application reads; it wants so many bytes to be there, or waits for any."""
        if blocking and self.receiver.readable() == 0:
            self.wanted = count
        else:
            self._take(count)

    def _take(self, count: int) -> None:
        self.wanted = 0
        found = min(count, self.receiver.readable())
        if found < count:
            self.problems.append(
                f"read at {self.sim.now / PS_PER_S:.6f} s: expected {count} bytes, got {found}"
            )
        self.receiver.copied(found, self._jiffy)
        if self.receiver.delack.due_after_copy(found):
            self._refresh()
            self._acknowledge()

    def write(self, count: int, *, more: bool) -> None:
        """The application writes; `more` is MSG_MORE."""
        room = self.sender.seq.room()
        if room < count:
            self.problems.append(
                f"write at {self.sim.now / PS_PER_S:.6f} s: expected {count} bytes, took {room}"
            )
        cork = self.sender.output.cork
        self._refresh()
        self.sender.seq.write(min(count, room), not more)
        self.sender.output.cork = cork or more
        self._output()
        self.sender.output.cork = cork

    def set_option(self, name: str, value: int) -> None:
        """`setsockopt`: quickack, nodelay, cork or rcvbuf."""
        self._refresh()
        if name == "rcvbuf":
            self.receiver.window.lock(value)
        elif name == "quickack":
            if self.receiver.delack.set_quickack(value):
                self._acknowledge()
        else:
            setattr(self.sender.output, name, bool(value))
            cork = self.sender.output.cork
            if self.sender.output.nodelay:
                # TCP_NAGLE_PUSH: once, in spite of TCP_CORK
                self.sender.output.cork = False
            self._output()
            self.sender.output.cork = cork

    def check(self, code: str) -> None:
        """Assertions about `tcp_info`."""
        wrong = failed(code, self._info())
        if wrong is not None:
            self.problems.append(f"at {self.sim.now / PS_PER_S:.6f} s: {wrong}")

    def _info(self) -> dict[str, int]:
        """`tcp_get_info`."""
        sender, board, rtt = self.sender, self.sender.board, self.sender.timer.rtt
        info = {
            "tcpi_snd_cwnd": sender.congestion.cwnd,
            "tcpi_snd_ssthresh": sender.congestion.ssthresh,
            "tcpi_ca_state": sender.recovery.state,
            "tcpi_unacked": board.packets_out(),
            "tcpi_sacked": board.sacked_out,
            "tcpi_lost": board.lost_out,
            "tcpi_retrans": board.retrans_out,
            "tcpi_reordering": board.reordering,
            "tcpi_snd_mss": sender.seq.mss,
            "tcpi_backoff": sender.timer.backoff,
            "tcpi_rtt": rtt.srtt >> 3 if rtt.fine else 0,
            "tcpi_reord_seen": 0 if sender.sacks is None else sender.sacks.rack.reordering_seen,
            "tcpi_min_rtt": max(rtt.least_us, 0),
        }
        return {name: int(value) for name, value in info.items()}

    # -- what comes of it -------------------------------------------------------------------

    def _refresh(self) -> None:
        """`tcp_mstamp_refresh`."""
        self.receiver.now_us = self.sim.now // PS_PER_US
        self.sender.timer.set_time(self.sim.now)

    def _output(self) -> None:
        self.sender.output.stage(self.staged, self.cpu, self._jiffy)
        self._transmit()

    def _transmit(self, *, timer: bool = False) -> None:
        """Data segments go out; each acknowledges what has come."""
        self.transmitted = self.staged.count > 0
        while self.staged.count > 0:
            skb = self.staged.pop()
            # a window probe is old data, as an empty segment
            end = skb.seq if skb.end_seq <= self.sender.seq.snd_una else skb.end_seq
            self._acknowledge(
                timer=timer, seq=skb.seq + 1, end_seq=end + 1, push=skb.push, marks=skb.ecn
            )
            self.receiver.delack.data_sent(self._jiffy)
        due = self.sender.timer_due(self._jiffy)
        if due >= 0:
            self.rto_ps = max(self._tick_ps(due), self.sim.now)
            self.sim.at(self.rto_ps, self, _RTO, 0, _PRIORITY)

    def _schedule(self) -> None:
        before = self.receiver.delack.timeout_jiffy
        timeout = self.receiver.delack.schedule_timer(self._jiffy)
        if timeout == 0:
            self._acknowledge()
        elif timeout != before:
            self.waited = False
            self.delack_ps = self._tick_ps(timeout)
            self.sim.at(self.delack_ps, self, _DELACK, 0, _PRIORITY)

    def _acknowledge(
        self,
        *,
        timer: bool = False,
        seq: int = 0,
        end_seq: int = 0,
        push: bool = False,
        marks: int | None = None,
    ) -> None:
        """`tcp_send_ack`, or the acknowledgement that data carry."""
        blocks = tuple((first, last) for first, last in self.receiver.sack_blocks())
        window = self.receiver.ack_sent() >> self.receiver.window.wscale
        self.delack_ps = -1
        self.sent.append(
            Segment(
                self.sim.now,
                self.receiver.seq.rcv_nxt,
                window,
                blocks,
                seq or self.sender.seq.snd_nxt + 1,
                end_seq or self.sender.seq.snd_nxt + 1,
                push=push,
                timer=timer,
                ecn=self._bits(marks),
            )
        )

    def _bits(self, marks: int | None) -> int:
        """ECN's bits of a segment; `marks`: of the data that it sends, None: it sends none."""
        if self.ecn is None:
            return 0
        return int(self.ecn.leaving(False) if marks is None else marks | self.ecn.echo())  # noqa: FBT003
