"""A remote host that sends one stream: real TCP, its NIC, and one CPU that serves in order.

What the far end of a link must get right is when it sends: TCP, the send buffer, the NIC's
moderation and serialisation, and how long its CPU takes to answer an ACK. So the host is one
server without preemption: it takes acknowledgements as the NIC's interrupts announce them
(polling on while more have come), or copies and sends the application's next bytes; ACKs go
first. A machine whose own CPUs are in question is simulated in full instead, see
`simnet.host.machine`.
"""

import cython

from simnet.host.costs import Costs
from simnet.kernel.compiled import Public
from simnet.kernel.priority import CPU
from simnet.kernel.sentinel import NONE
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Path, Port, Skb, SkbQueue
from simnet.net.remote.link import RemoteLink
from simnet.net.tcp.connection import JiffyTimer
from simnet.net.tcp.send.sender import TcpSender

_NAPI_WEIGHT: cython.int = 64
# what an event means
_DONE: cython.int = 0
_LOOK: cython.int = 1
_RTO: cython.int = 2
_START: cython.int = 3
# jobs
_IDLE: cython.int = 0
_ACKS: cython.int = 1
_SEND: cython.int = 2
_THROTTLED: cython.int = 3


@cython.final
@cython.cclass
class RemoteSender(Port):
    """One sending process with its connection, NIC port and CPU.

    Args:
        sender: TCP's state.
        costs: of the host's CPU.
        mmio_ps: one register write.
        throttle_ps: least time between interrupts; 0 for none.
        link: that segments leave by.
        jiffy_ps: length of a jiffy.
        overhead_bytes: of a frame on the wire beyond its payload.
        message_bytes: of one send.
        start_ps: when the process starts.

    `neighbour` is the ARP entry behind which its receiver is, if that may move. `busy_ps` is how
    long its CPU has worked, what it is at now included.
    """

    sender: TcpSender = None
    link: RemoteLink = None
    receiver: Public[Endpoint] = None
    neighbour: Public[Endpoint] = None
    costs: Costs = None
    mmio_ps: cython.longlong = 0
    throttle_ps: cython.longlong = 0
    jiffy_ps: cython.longlong = 0
    message_bytes: cython.longlong = 0
    job: cython.int = 0
    acks: cython.int = 0
    polling: cython.bint = False
    debt_ps: cython.longlong = 0
    free_ps: cython.longlong = 0
    last_irq_ps: cython.longlong = 0
    runnable: cython.bint = False
    waiting: cython.bint = False
    switched: cython.bint = False
    left: cython.longlong = 0
    staged: SkbQueue = None
    rto: JiffyTimer = None
    interrupts: cython.longlong = 0
    sends: cython.longlong = 0
    busy_ps: cython.longlong = 0

    needs = ("receiver", "link.path_out")

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        sender: TcpSender,
        link: RemoteLink,
        costs: Costs,
        mmio_ps: int,
        throttle_ps: int,
        jiffy_ps: int,
        overhead_bytes: int,
        message_bytes: int,
        start_ps: int,
    ) -> None:
        super().__init__(sim, path, 64)
        self.sender = sender
        self.link = link
        self.costs = costs
        self.mmio_ps = mmio_ps
        self.throttle_ps = throttle_ps
        self.jiffy_ps = jiffy_ps
        sender.output.overhead_bytes = overhead_bytes
        self.message_bytes = message_bytes
        self.job = _IDLE
        self.last_irq_ps = -throttle_ps
        self.switched = True
        self.staged = SkbQueue()
        self.rto = JiffyTimer(self, _RTO, jiffy_ps)
        sim.at(start_ps, self, _START, 0, CPU)

    @property
    def path_out(self) -> Path:
        """Where frames leave to."""
        return self.link.path_out

    @path_out.setter
    def path_out(self, path: Path) -> None:
        self.link.path_out = path

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        if self.job == _IDLE:
            self._next_job()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A job is done, or it is time to look for one, or the retransmission timer runs."""
        jiffy: cython.longlong
        if kind == _DONE:
            if self.job == _ACKS:
                jiffy = self.sim.now // self.jiffy_ps
                while self.acks > 0:
                    self.acks -= 1
                    self._take_ack(self.incoming.pop(), jiffy)
            self._send_staged()
            self.job = _IDLE
            self._next_job()
        elif kind == _RTO:
            self._retransmission_timer()
        else:
            if kind == _START:
                self.runnable = True
            elif self.job == _THROTTLED:
                self.job = _IDLE
            if self.job == _IDLE:
                self._next_job()

    # -- the CPU --------------------------------------------------------------------------

    def _next_job(self) -> cython.int:
        now: cython.longlong = self.sim.now
        start: cython.longlong = now if now > self.free_ps else self.free_ps
        skb: Skb = self.incoming.head
        count: cython.int = 0
        while skb is not None and skb.arrival_ps <= now and count < _NAPI_WEIGHT:
            count += 1
            skb = skb.next
        if count > 0 and self.polling:
            # the poll finds more frames before it gives up
            return self._serve(start, count)
        self.polling = False
        if count == 0 and self.runnable:
            return self._write()
        skb = self.incoming.head
        if skb is None:
            return 0
        if count == 0 and skb.arrival_ps > start:
            start = skb.arrival_ps
        if self.last_irq_ps + self.throttle_ps > start:
            # the NIC holds the interrupt back; by then more frames may have come
            self.job = _THROTTLED
            self.sim.at(self.last_irq_ps + self.throttle_ps, self, _LOOK, 0, CPU)
            return 0
        self.last_irq_ps = start
        self.interrupts += 1
        self.debt_ps += (
            self.costs.hardirq_ps
            + self.costs.softirq_entry_ps
            + self.costs.poll_ps
            + 5 * self.mmio_ps
        )
        self._serve(start, count if count > 0 else 1)
        return 0

    def _serve(self, start_ps: cython.longlong, acks: cython.int) -> cython.int:
        """Take `acks` acknowledgements from `start_ps` on."""
        work: cython.longlong = self.debt_ps + acks * (
            self.costs.driver_rx_ps
            + self.costs.skb_alloc_ps
            + self.costs.ip_rx_ps
            + self.costs.ack_rx_ps
        )
        self.debt_ps = 0
        self.busy_ps += work
        self.polling = True
        self.job = _ACKS
        self.acks = acks
        self.sim.at(start_ps + work, self, _DONE, 0, CPU)
        return 0

    def _write(self) -> cython.int:
        """The process goes on with its send, or waits for room in the send buffer."""
        sender: TcpSender = self.sender
        now: cython.longlong = self.sim.now
        start: cython.longlong = now if now > self.free_ps else self.free_ps
        work: cython.longlong = 0
        room: cython.longlong
        piece: cython.longlong
        calls: cython.longlong
        if self.switched:
            self.switched = False
            work += self.costs.context_switch_ps
        if self.left == 0:
            calls = 1
            if self.message_bytes < sender.seq.mss:
                # short messages are taken together up to the next segment boundary
                room = sender.seq.mss - (sender.seq.write_seq - sender.seq.snd_una) % sender.seq.mss
                calls = (room + self.message_bytes - 1) // self.message_bytes
            self.sends += calls
            self.left = calls * self.message_bytes
            work += calls * (self.costs.user_send_ps + self.costs.syscall_ps)
        room = sender.seq.room()
        if room == 0:
            self.runnable = False
            self.waiting = True
            self.switched = True
            self.free_ps = start + work
            self.busy_ps += work
            self._next_job()
            return 0
        piece = self.left if self.left < room else room
        self.left -= piece
        sender.seq.write(piece, self.left == 0)
        work += self.costs.lines(piece) * self.costs.copy_line_ps
        work += self._stage(now // self.jiffy_ps)
        self.job = _SEND
        self.busy_ps += work
        self.sim.at(start + work, self, _DONE, 0, CPU)
        return 0

    # -- TCP ------------------------------------------------------------------------------

    def _take_ack(self, skb: Skb, jiffy: cython.longlong) -> cython.int:
        work: cython.longlong
        if self.neighbour is not None and skb.endpoint is self.neighbour:
            # an ARP reply
            self.neighbour.receive(skb, None)
            return 0
        self.sender.timer.set_time(self.sim.now)
        if (
            self.sender.acknowledge(skb.ack, skb.window, jiffy, skb.sack, skb.tsecr) > 0
            and self.waiting
            and self.sender.write_space()
        ):
            self.waiting = False
            self.runnable = True
            self.free_ps = self.sim.now
            self.debt_ps += self.costs.wakeup_ps
        work = self._stage(jiffy) + self.debt_ps
        self.debt_ps = 0
        self.busy_ps += work
        self.free_ps = (self.free_ps if self.free_ps > self.sim.now else self.sim.now) + work
        return 0

    def _stage(self, jiffy: cython.longlong) -> cython.longlong:
        """Make the segments that the windows allow; return the work of sending them."""
        frames: cython.longlong = self.sender.output.stage(self.staged, None, jiffy)
        return (self.costs.tcp_tx_ps + self.mmio_ps) * frames

    def _send_staged(self) -> cython.int:
        """Serialise the staged frames onto the wire."""
        skb: Skb
        if self.staged.count > 0:
            while self.staged.count > 0:
                skb = self.staged.pop()
                skb.endpoint = self.receiver
                self.link.send(skb, self.sim.now)
            self.link.path_out.flush()
        self._arm_rto()
        return 0

    def _arm_rto(self) -> cython.int:
        due: cython.longlong = self.sender.timer_due(self.sim.now // self.jiffy_ps)
        if due != NONE:
            self.rto.set(due)
        return 0

    def _retransmission_timer(self) -> cython.int:
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        self.rto.ran()
        self.sender.timer.set_time(self.sim.now)
        # a process that copies and sends owns the socket: look again later
        if (
            self.sender.timer.overdue(jiffy)
            and self.job != _SEND
            and self.sender.timer_expired(jiffy)
        ):
            self._stage(jiffy)
            self.sender.output.stage_probe(self.staged, None)
            self._send_staged()
        else:
            self._arm_rto()
        return 0
