"""A connected TCP socket: who executes the protocol; what each step costs is told by its parts.

Source: net/ipv4/tcp_ipv4.c (`tcp_v4_rcv`), include/net/tcp.h (`tcp_prequeue`), tcp_input.c
(`tcp_rcv_established`) and tcp_timer.c of Linux 2.6.18. In softirq a segment goes to the backlog
if a process owns the socket, to the prequeue if a reader sleeps in recv (unless
tcp_low_latency), and through TCP at once otherwise. Backlog and prequeue are processed by the
process, on its CPU.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.costs import Buffers, Costs, Memory, SharedLines, Spread
from simnet.host.cpu import Cpu, Occupation
from simnet.host.ledger import Ledger
from simnet.host.scheduler import Task, Wakeups
from simnet.host.softirq.busy_read import BusyRead
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.prefetch import prefetch
from simnet.kernel.priority import CPU
from simnet.kernel.release import release
from simnet.kernel.sentinel import NONE
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Port, Skb, SkbQueue, new_skb
from simnet.net.steering.steering import SocketFlowTable
from simnet.net.tcp.connection import COMPRESSED, PACED, RTO, TcpConnection
from simnet.net.tcp.costs import ReceiveCosts, SendCosts
from simnet.net.tcp.epoll import EpollItem
from simnet.net.tcp.receive.coalescing import joins
from simnet.net.tcp.receive.queue import Ucopy
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.small_queue import SmallQueue
from simnet.net.tcp.socket_settings import SocketSettings
from simnet.net.tcp.tsq import TsqTasklet

_US: cython.longlong = 10**6
_PREQUEUE_DELACK_PS: cython.longlong = 150_000_000_000


@cython.final
@cython.cclass
class TcpSocket(TcpConnection):
    """One end of a connection.

    Args:
        settings: what it has in common with others.
        path: component path.
        receiver, sender: the protocol's state.
        timer_cpu: where the socket's timers run.
        spread: of TCP's work on a received segment; None: there is none.

    `follower` is told of packets that come and of copies that are made, for a trace, else None.
    `poll` is what an epoll instance knows of the socket, None if its process sleeps in recv or
    send instead. `busy` is how that process polls before it sleeps, None if it does not.
    """

    nic: Port = None
    lines: SharedLines = None
    backlog: SkbQueue = None
    ucopy: Ucopy = None
    poll: Public[EpollItem] = None
    busy: BusyRead = None
    follower: Public[Any] = None
    rx_costs: ReceiveCosts = None
    tx_costs: SendCosts = None
    spread: Spread = None
    wakeups: Wakeups = None
    owned: Public[cython.bint] = False
    deferred: cython.bint = False
    writer_waiting: Public[cython.bint] = False
    coalesces: cython.bint = False
    costs: Costs = None
    ledger: Ledger = None
    low_latency: cython.bint = False
    tsq_deferred: cython.bint = False
    pace_event: cython.bint = False
    flows: Public[SocketFlowTable] = None
    rxhash: cython.longlong = 0
    small_queue: SmallQueue = None
    tasklet: TsqTasklet = None
    timer_cpu: Cpu = None
    latency: LogHistogram = None
    softirq_processed: cython.longlong = 0
    reader: Public[Task] = None
    writer: Public[Task] = None
    reader_waiting: Public[cython.bint] = False
    timer_work: Occupation = None
    backlogged: cython.longlong = 0

    needs = ("nic.backend|nic.far|nic.path_out", "header|nic.path_out.header", "reader|writer|poll")

    latency_kind = "one-way"

    def __init__(
        self,
        settings: SocketSettings,
        path: str,
        *,
        receiver: TcpReceiver,
        sender: TcpSender,
        timer_cpu: Cpu,
        spread: Spread | None = None,
    ) -> None:
        costs: Costs = settings.costs
        memory: Memory = settings.memory
        buffers: Buffers = settings.buffers
        nic: Port = settings.nic
        by_cpu: cython.bint = settings.checksum_by_cpu
        if spread is None:
            spread = Spread(0, 0)
        super().__init__(
            settings.sim,
            path,
            sender=sender,
            receiver=receiver,
            jiffy_ps=settings.jiffy_ps,
            overhead_bytes=settings.overhead_bytes,
        )
        self.nic = nic
        self.paged = True
        self.costs = costs
        self.ledger = costs.ledger
        self.lines = SharedLines(memory, settings.shared_lines)
        self.wakeups = settings.wakeups
        self.low_latency = settings.low_latency
        self.flows = settings.flows
        self.small_queue = sender.output.small_queue
        if self.small_queue is not None:
            self.small_queue.timed = sender.congestion.controls and not self.small_queue.paces
        self.tasklet = None if self.small_queue is None else TsqTasklet(self)
        self.busy = BusyRead(settings.busy_read_usecs) if settings.busy_read_usecs > 0 else None
        self.ucopy = Ucopy()
        self.backlog = SkbQueue()
        self.timer_cpu = timer_cpu
        self.rx_costs = ReceiveCosts(
            costs,
            memory,
            buffers,
            receiver,
            self.backlog,
            nic.node,
            by_cpu,
            settings.page_bytes,
            spread,
        )
        self.spread = spread
        self.tx_costs = SendCosts(
            costs, memory, buffers, self.seq, nic, by_cpu, settings.gso, settings.per_large
        )
        self.coalesces = receiver.coalesces_backlog
        self.latency = LogHistogram() if settings.latency is None else settings.latency

    def leave_by(self, nic: Port) -> cython.int:
        """What it sends leaves by another device than it was made with."""
        self.nic = nic
        self.tx_costs.leave_by(nic)
        return 0

    def disconnect(self) -> cython.int:
        """See `Target`."""
        if self.poll is not None:
            release(self.poll)
        return release(self)

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from a frame's arrival to its processing: (upper ps, count)."""
        return self.latency.buckets()

    def fetch(self, data: cython.bint) -> cython.int:
        """Ask for the cache lines of the connection, if it is one of many."""
        if cython.compiled and self.poll is not None:
            self._fetch_socket()
            if data:
                prefetch(cython.cast(cython.p_void, self.window), cython.sizeof(ReceiveWindow))
                prefetch(cython.cast(cython.p_void, self.spread), cython.sizeof(Spread))
                prefetch(cython.cast(cython.p_void, self.poll), cython.sizeof(EpollItem))
                self._fetch_answer()
            self.fetch_sender()
        return 0

    @cython.cfunc
    def fetch_to_send(self) -> cython.int:
        """Ask for what it takes to send data, which acknowledge what has come."""
        self._fetch_socket()
        self._fetch_answer()
        self.fetch_sender()
        return 0

    def _fetch_socket(self) -> cython.int:
        """Ask for what each use of the socket needs."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self), cython.sizeof(TcpSocket))
            prefetch(cython.cast(cython.p_void, self.rx_costs), cython.sizeof(ReceiveCosts))
            prefetch(cython.cast(cython.p_void, self.tx_costs), cython.sizeof(SendCosts))
            prefetch(cython.cast(cython.p_void, self.lines), cython.sizeof(SharedLines))
            prefetch(cython.cast(cython.p_void, self.staged), cython.sizeof(SkbQueue))
            prefetch(cython.cast(cython.p_void, self.backlog), cython.sizeof(SkbQueue))
        return 0

    def _fetch_answer(self) -> cython.int:
        """Ask for what a segment changes, and what its acknowledgement leaves by."""
        if cython.compiled:
            self.fetch_receiver()
            prefetch(cython.cast(cython.p_void, self.nic), cython.sizeof(Port))
            prefetch(cython.cast(cython.p_void, self.remote), cython.sizeof(Endpoint))
            prefetch(cython.cast(cython.p_void, self.header), cython.sizeof(Header))
        return 0

    def expect(self, kind: cython.int) -> cython.int:
        """A timer runs next: ask for what it looks at."""
        if kind == RTO:
            self.fetch_sender()
        else:
            self._fetch_answer()
        return 0

    # -- softirq side ---------------------------------------------------------------------

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`tcp_v4_rcv`: return the work caused on `cpu`."""
        work: cython.longlong = self.lines.touch(cpu)
        if self.follower is not None:
            self.follower.received(skb)
        if self.flows is not None:
            self._save_rxhash(skb)
        if self.busy is not None:
            self.busy.mark(cpu)
        self.ledger.socket_lines += work
        self.timer_cpu = cpu
        if self.owned:
            if not (self.coalesces and self.backlog.count > 0 and joins(self.backlog.tail, skb)):
                self.backlog.append(skb)
            self.backlogged += 1
            self.ledger.tcp_receive += self.costs.backlog_ps
            return work + self.costs.backlog_ps
        if self.ucopy.installed:
            self.ucopy.append(skb, self.receiver.sizes.truesize(skb.end_seq - skb.seq))
            work += self.costs.backlog_ps
            self.ledger.tcp_receive += self.costs.backlog_ps
            if self.ucopy.memory > self.receiver.window.rcvbuf:
                work += self._drain_prequeue(cpu)
            elif self.ucopy.prequeue.count == 1:
                if self.reader.wake_on(cpu):
                    work += self.wakeups.woken_ps(cpu, self.reader)
                if (
                    not self.receiver.delack.scheduled
                    and self.receiver.delack.timeout_jiffy == NONE
                ):
                    self.receiver.delack.timeout_jiffy = (
                        self.sim.now + _PREQUEUE_DELACK_PS
                    ) // self.jiffy_ps
                    self.set_delack(self.receiver.delack.timeout_jiffy)
            return work
        self.softirq_processed += 1
        work += self.process_cost_ps(skb, cpu, False)
        return work + self.process(skb, cpu, False)

    def _save_rxhash(self, skb: Skb) -> cython.int:
        """`sock_rps_save_rxhash`: a connection whose packets get another hash leaves its entry."""
        rxhash: cython.longlong = 0
        if skb.header is not None and skb.header.rxhash > 0:
            rxhash = skb.header.rxhash
        if rxhash != self.rxhash:
            self.flows.reset(self.rxhash)
            self.rxhash = rxhash
        return 0

    def only_queues(self, cpu: Cpu) -> cython.bint:
        """Frames only queue up for a process that cannot run before this softirq ends.

        That holds if it owns the socket, or is a reader that is awake already or sleeps where an
        idle CPU keeps it.
        """
        user: Task = self.reader if self.reader is not None else self.writer
        if self.lines.owner is not cpu or user is None or user.cpu is not cpu:
            return False
        if self.owned:
            return True
        if self.reader is None:
            return False
        return (
            self.ucopy.installed
            and (not self.reader.sleeping or (cpu.current is None and len(cpu.runqueue) == 0))
            and self.ucopy.memory + 64 * self.receiver.sizes.truesize(1)
            < self.receiver.window.rcvbuf
        )

    # -- protocol -------------------------------------------------------------------------

    def process_cost_ps(self, skb: Skb, cpu: Cpu, copying: cython.bint) -> cython.longlong:
        """Work of TCP on one segment, its copy to the user included if `copying`."""
        if self.rx_costs.page_bytes == 0 or skb.end_seq == skb.seq:
            self.freer = cpu
        return self.rx_costs.segment_ps(skb, cpu, copying)

    def queued_copy_cost_ps(self, cpu: Cpu, length: cython.longlong) -> cython.longlong:
        """Copy from the receive queue, buffers freed."""
        if self.rx_costs.page_bytes > 0:
            self.freer = cpu
        return self.rx_costs.queued_copy_ps(cpu, length)

    def process(  # noqa: C901, PLR0912 - what TCP makes of a segment
        self, skb: Skb, cpu: Cpu, direct: cython.bint
    ) -> cython.longlong:
        """`tcp_v4_do_rcv`: change the state; return the further work (ACK, sending, wake-ups).

        `direct`: the reader is installed and takes in-order data straight into its buffer.
        """
        length: cython.longlong = skb.end_seq - skb.seq
        work: cython.longlong = 0
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        timeout: cython.longlong
        in_order: cython.longlong
        at_once: cython.bint
        if self.receiver.ecn is not None:
            self.see_marks(skb)
        if length > 0:
            direct = direct and self.can_copy_directly(skb)
            if not direct:
                self.rx_costs.queued(skb)
            if skb.ack > 0:
                work += self._acknowledged(skb, cpu)
            if skb.seq <= self.receiver.seq.rcv_wup <= skb.end_seq and skb.tsval > self.ts_recent:
                # tcp_replace_ts_recent, which tcp_sequence keeps old duplicates from
                self.ts_recent = skb.tsval
            if self.receiver.rule_clock_us:
                self.receiver.now_us = self.sim.now // _US
            in_order = self.receiver.seq.rcv_nxt
            at_once = self.receiver.segment(skb.seq, skb.end_seq, skb.push, direct, jiffy)
            if self.receiver.ecn is not None:
                work += self._acknowledge_before(cpu)
            if self.receiver.memory.collapsed > 0:
                work += self.rx_costs.collapsed_ps()
            if skb.ack > 0:
                work += self.output(cpu)
            if skb.ack > 0 and not self.receiver.delack.scheduled:
                # the acknowledgement went out with data
                pass
            elif at_once:
                work += self.send_ack(cpu)
            elif self.receiver.compression.started:
                self.hold_back()
            else:
                timeout = self.receiver.delack.schedule_timer(jiffy)
                if timeout == 0:
                    work += self.send_ack(cpu)
                else:
                    self.set_delack(timeout)
            if direct:
                self.ucopy.copied(length)
                self.delivered += length
                self.receiver.space_adjust(jiffy)
            elif self.poll is not None:
                if self.receiver.seq.rcv_nxt > in_order:
                    work += self.poll.callback(cpu)
            elif (
                not self.owned
                and self.reader is not None
                and self.reader_waiting
                and self.reader.wake_on(cpu)
            ):
                work += self.wakeups.woken_ps(cpu, self.reader)
            self.latency.add(self.sim.now - skb.arrival_ps)
            return work
        work = self._acknowledged(skb, cpu)
        return work + self.output(cpu)

    def _acknowledged(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`tcp_ack`: what a segment says about what was sent; return the work."""
        work: cython.longlong = 0
        acked: cython.longlong
        self.timer.set_time(self.sim.now)
        acked = self.sender.acknowledge(
            skb.ack,
            skb.window,
            self.sim.now // self.jiffy_ps,
            skb.sack,
            skb.tsecr,
            skb.end_seq > skb.seq,
        )
        if self.small_queue is not None:
            self.sender.update_pacing()
        if acked > 0:
            work += self.tx_costs.freed_ps(cpu, acked)
            if self.writer_waiting and self.sender.write_space():
                if self.poll is not None:
                    self.writer_waiting = False
                    work += self.poll.callback(cpu)
                elif self.writer.wake_on(cpu):
                    work += self.wakeups.woken_ps(cpu, self.writer)
        return work

    def can_copy_directly(self, skb: Skb) -> cython.bint:
        """Whether the installed reader gets the payload straight into its buffer."""
        return (
            skb.end_seq > skb.seq
            and skb.seq == self.receiver.seq.rcv_nxt
            and skb.seq == self.receiver.seq.copied_seq
            and skb.end_seq - skb.seq <= self.ucopy.room
        )

    def _acknowledge_before(self, cpu: Cpu) -> cython.longlong:
        """Send the ACK that DCTCP wants for what came before, if any; return the work."""
        work: cython.longlong
        skb: Skb
        size: cython.int = max(self.sending.overhead_bytes, LEAST_WIRE_BYTES)
        before: cython.longlong = self.receiver.ecn.take_before()
        if before == NONE:
            return 0
        skb = self.earlier_ack(before, size)
        skb.toucher = cpu
        work = self.tx_costs.ack_ps(cpu, size)
        self.nic.transmit(skb)
        self.nic.flush()
        return work

    def send_ack(self, cpu: Cpu) -> cython.longlong:
        """`tcp_send_ack`: transmit a pure ACK; return the work."""
        work: cython.longlong
        skb: Skb
        bytes_on_wire: cython.int = self.sending.overhead_bytes
        if bytes_on_wire < LEAST_WIRE_BYTES:
            bytes_on_wire = LEAST_WIRE_BYTES
        self.acks_sent += 1
        skb = new_skb(self.remote, 0, 0, 0, 0, bytes_on_wire, False)
        self.acknowledge_with(skb, self.sim.now // self.jiffy_ps)
        skb.header = self.header
        skb.toucher = cpu
        work = self.tx_costs.ack_ps(cpu, bytes_on_wire)
        self.nic.transmit(skb)
        self.nic.flush()
        return work

    def output(self, cpu: Cpu) -> cython.longlong:
        """`tcp_write_xmit`: send what the windows allow; return the work."""
        work: cython.longlong = self.stage(cpu)
        self.send_staged()
        return work

    def push(self, cpu: Cpu) -> cython.longlong:
        """`tcp_push`: `stage` by a process, which lets what is not full wait for more data."""
        work: cython.longlong
        if self.small_queue is None:
            return self.stage(cpu)
        self.small_queue.pushing = True
        work = self.stage(cpu)
        self.small_queue.pushing = False
        return work

    def stage(self, cpu: Cpu) -> cython.longlong:
        """Make the segments that the windows allow, for `send_staged`; return their work."""
        frames: cython.longlong
        self.timer.set_time(self.sim.now)
        frames = self.sending.stage(self.staged, cpu, self.sim.now // self.jiffy_ps)
        return self.tx_costs.staged_ps(cpu, self.staged, frames)

    def send_staged(self) -> cython.int:
        """Give the staged segments to the NIC; data that have come are acknowledged with them."""
        skb: Skb
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        if self.staged.count > 0:
            while self.staged.count > 0:
                skb = self.staged.pop()
                skb.endpoint = self.remote
                skb.header = self.header
                if self.small_queue is not None:
                    skb.owner = self
                if self.receiver.segments > 0:
                    self.acknowledge_with(skb, jiffy)
                    self.receiver.delack.data_sent(jiffy)
                self.nic.transmit(skb)
            self.nic.flush()
        if self.small_queue is not None and self.small_queue.kick_ps > 0 and not self.pace_event:
            self.pace_event = True
            self.sim.at(max(self.small_queue.kick_ps, self.sim.now), self, PACED, 0, CPU)
        return self.arm_rto(jiffy)

    def queued(self, length: cython.longlong) -> cython.int:
        """A device's ring has taken a frame."""
        self.small_queue.wmem_alloc += length + self.small_queue.overhead_bytes
        return 0

    def wfree(self, length: cython.longlong, cpu: Cpu) -> cython.longlong:
        """`tcp_wfree`: have the tasklet run if something waits for that."""
        softirqs: SoftirqNetRx
        self.small_queue.wmem_alloc -= length + self.small_queue.overhead_bytes
        if self.small_queue.throttled and not self.tasklet.scheduled:
            self.small_queue.throttled = False
            softirqs = cpu.softirqs  # type: ignore[assignment]  # Cython checks it
            softirqs.schedule(self.tasklet)
        return 0

    def tsq_handler(self, cpu: Cpu) -> cython.longlong:
        """Send what may go, or leave it to the process that owns the socket (TSQ_DEFERRED)."""
        if self.owned:
            self.tsq_deferred = True
            return 0
        return self.output(cpu)

    # -- reader's side --------------------------------------------------------------------

    def lock(self, cpu: Cpu) -> cython.longlong:
        """`lock_sock` by a process on `cpu`; return what fetching the socket's lines costs."""
        work: cython.longlong = self.lines.touch(cpu)
        if self.flows is not None:
            # inet_recvmsg, inet_sendmsg
            self.flows.record(self.rxhash, cpu.cpu_id)
        self.owned = True
        self.ledger.socket_lines += work
        return work

    def unlock(self, cpu: Cpu) -> cython.longlong:
        """End of `release_sock`, the backlog being empty: `tcp_release_cb` does what was put off.

        Return the work of sending; timers have theirs by themselves.
        """
        work: cython.longlong = 0
        if self.tsq_deferred:
            self.tsq_deferred = False
            work = self.output(cpu)
        self.owned = False
        if self.deferred:
            self.deferred = False
            self._delack_timer()
            self._compressed_timer()
        return work

    def read_queue(self, count: cython.longlong) -> cython.longlong:
        """The reader has copied up to `count` bytes from the receive queue; return how many."""
        readable: cython.longlong = self.receiver.seq.rcv_nxt - self.receiver.seq.copied_seq
        if count > readable:
            count = readable
        self.receiver.copied(count, self.sim.now // self.jiffy_ps)
        self.delivered += count
        return count

    def after_copy(self, cpu: Cpu, copied: cython.longlong) -> cython.longlong:
        """`cleanup_rbuf`: send the ACK or window update that the copy made due."""
        if self.follower is not None:
            self.follower.copied(cpu)
        if self.receiver.delack.due_after_copy(copied):
            return self.send_ack(cpu)
        return 0

    # -- timers ---------------------------------------------------------------------------

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A timer has run; whether anything is due is looked up."""
        if kind == RTO:
            self.rto_event = 0
            self._retransmission_timer()
        elif kind == PACED:
            self._pacing_timer()
        elif kind == COMPRESSED:
            self._compressed_timer()
        else:
            self.delack_event = 0
            self._delack_timer()

    def _timer_works(self, work_ps: cython.longlong) -> cython.int:
        """A timer has caused work where timers run. On most of ten thousand sockets none does."""
        if self.timer_work is None:
            self.timer_work = Occupation(self.sim, f"{self.path}.timer")
        return self.timer_cpu.raise_irq(self.timer_work, work_ps)

    def _retransmission_timer(self) -> cython.int:
        """The retransmission timer ends (`tcp_write_timer`)."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        self.timer.set_time(self.sim.now)
        # while the user owns the socket: look again later
        if self.timer.overdue(jiffy) and not self.owned and self.sender.timer_expired(jiffy):
            self._timer_works(self.output(self.timer_cpu))
            if self.sending.stage_probe(self.staged, self.timer_cpu):
                self.tx_costs.probed(self.timer_cpu)
                self.send_staged()
        return self.arm_rto(jiffy)

    def _pacing_timer(self) -> cython.int:
        """`tcp_pace_kick`: a timer's interrupt, and what its softirq sends."""
        work: cython.longlong = self.costs.hardirq_ps + self.costs.softirq_entry_ps
        self.pace_event = False
        self.small_queue.kick_ps = 0
        if self.owned:
            self.tsq_deferred = True
        else:
            work += self.output(self.timer_cpu)
        return self._timer_works(work)

    def _delack_timer(self) -> cython.int:
        """The delayed ACK's timer ends (`tcp_delack_timer`)."""
        jiffy: cython.longlong = self.sim.now // self.jiffy_ps
        due: cython.longlong = self.receiver.delack.timeout_jiffy
        work: cython.longlong
        if due == NONE:
            return 0
        if due >= jiffy:
            self.set_delack(due)
            return 0
        if self.owned:
            self.receiver.delack.found_owned()
            if self.receiver.delack.defers_timer:
                self.deferred = True
                return 0
            self.receiver.delack.timeout_jiffy = jiffy + self.receiver.delack.delack_min
            self.set_delack(self.receiver.delack.timeout_jiffy)
            return 0
        self.receiver.delack.timeout_jiffy = NONE
        work = self._drain_prequeue(self.timer_cpu)
        if self.receiver.delack.expired():
            work += self.send_ack(self.timer_cpu)
        self._timer_works(work)
        return 0

    def _compressed_timer(self) -> cython.int:
        """`tcp_compressed_ack_kick`; an ACK sent meanwhile has covered what was held back."""
        if self.receiver.compression.compressed == 0 or self.sim.now < self.compressed_ps:
            return 0
        if self.owned:
            self.deferred = True
            return 0
        self._timer_works(self.send_ack(self.timer_cpu))
        return 0

    def _drain_prequeue(self, cpu: Cpu) -> cython.longlong:
        """Take the segments that their reader has not come for through TCP; return the work."""
        skb: Skb
        work: cython.longlong = 0
        while self.ucopy.prequeue.count > 0:
            skb = self.ucopy.prequeue.pop()
            work += self.process_cost_ps(skb, cpu, False)
            work += self.process(skb, cpu, False)
        self.ucopy.emptied()
        return work
