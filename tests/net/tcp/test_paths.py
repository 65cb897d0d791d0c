"""Who executes TCP: the softirq, or the process by way of prequeue and backlog."""

from typing import Any

import pytest

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.process import TcpReader, TcpWriter
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, US, Job, make_costs, make_machine
from tests.net.parts import ack, make_socket, make_tg3, on_wire, segment

# four segments go into a window, but three into a prequeue
SMALL_BUFFER = {"rmem_default": 8000, "truesize_overhead": 1300, "rcvbuf_locked": True}


class Host:
    """A machine of two CPUs with one socket; softirqs run on CPU 0."""

    def __init__(
        self, *, recv_bytes: int = 0, costs: dict[str, int] | None = None, **options: Any
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim, "host", make_costs(**(costs or {})), None, cores_per_socket=2
        )
        self.cpu = self.machine.cpus[0]
        self.nic = make_tg3(self.sim, self.machine)
        self.socket: TcpSocket = make_socket(self.sim, self.machine, self.nic, **options)
        self.receiver = self.socket.receiver
        self.next_seq = 0
        self.soft = Job(self.sim, "soft", SOFT_LEVEL, SOFTIRQ)
        if recv_bytes:
            self.reader = TcpReader(
                self.machine.scheduler, "reader", self.cpu, self.socket, recv_bytes
            )
            self.reader.wake_on(self.cpu)
            self.cpu.kick()
            self.sim.run_until(MS)

    def receive(self, count: int = 1, length: int = 1000) -> int:
        """Have so many segments handed over; return the work they caused."""
        work = 0
        for _ in range(count):
            skb = segment(self.socket, self.next_seq, length)
            self.next_seq += length
            work += self.socket.receive(skb, self.cpu)
        self.cpu.kick()
        return work

    def keep_softirqs(self, length_ps: int) -> None:
        """Keep CPU 0 in softirqs, so that no process runs there."""
        self.soft.start(self.cpu, length_ps)

    def run(self, length_ps: int = MS) -> None:
        self.sim.run_until(self.sim.now + length_ps)


class TestSoftirq:
    def test_without_a_reader_in_recv_tcp_runs_at_once(self) -> None:
        host = Host(costs={"tcp_rx": 1400, "ack_tx": 1000})
        work = host.receive()
        assert (host.receiver.seq.rcv_nxt, host.receiver.readable()) == (1000, 1000)
        assert host.socket.softirq_processed == 1
        # the first segment is acknowledged at once
        assert work == (1400 + 1000) * 1000
        (sent,) = on_wire(host.nic)
        assert (sent.ack, sent.window) == (1000, host.receiver.seq.rcv_wnd)

    def test_an_acknowledgement_is_less_work_than_data(self) -> None:
        host = Host(costs={"tcp_rx": 1400, "ack_rx": 300})
        assert host.socket.receive(ack(host.socket, 0), host.cpu) == 300_000
        host.receive(3)
        assert sum(count for _, count in host.socket.latency_buckets()) == 3

    def test_low_latency_leaves_nothing_to_the_process_but_the_copy(self) -> None:
        host = Host(recv_bytes=4000, low_latency=True, costs={"wakeup": 500})
        assert not host.socket.ucopy.installed
        host.keep_softirqs(100 * US)
        host.receive(3)
        assert (host.receiver.seq.rcv_nxt, host.receiver.readable()) == (3000, 3000)
        assert (host.socket.ucopy.prequeued, host.socket.softirq_processed) == (0, 3)
        assert host.reader.wakeups == 2  # its start, and the first segment
        host.run()
        assert (host.socket.delivered, host.receiver.readable()) == (3000, 0)


class TestBacklog:
    def test_segments_wait_for_the_owner(self) -> None:
        host = Host(costs={"backlog": 100})
        host.socket.lock(host.cpu)
        assert host.receive(2) == 2 * 100_000
        assert (host.receiver.seq.rcv_nxt, host.socket.backlog.count) == (0, 2)
        assert host.socket.backlogged == 2

    def test_reader_works_them_off_before_it_sleeps(self) -> None:
        host = Host(recv_bytes=100_000, costs={"copy_line": 1000, "user_recv": 50_000})
        host.receive(2)
        host.run(US)  # the reader is copying
        assert host.socket.owned
        host.receive(3)
        assert host.socket.backlog.count == 3
        host.run()
        assert host.socket.backlogged == 3
        assert (host.socket.delivered, host.socket.backlog.count) == (5000, 0)
        assert not host.socket.owned

    def test_what_comes_when_recv_ends_is_for_the_next_one(self) -> None:
        """It had the queue, and takes what the prequeue held besides before it returns."""
        host = Host(recv_bytes=100_000, receiver=SMALL_BUFFER, costs={"tcp_rx": 5000})
        host.keep_softirqs(MS)
        host.receive(5)
        assert (host.receiver.readable(), host.socket.ucopy.prequeue.count) == (4000, 1)
        host.run(MS + US)
        host.receive(2)
        assert host.socket.backlog.count == 2
        calls = host.reader.calls
        host.run()
        assert (host.socket.delivered, host.reader.calls - calls) == (7000, 2)

    def test_the_ack_for_what_was_read_does_not_wait_for_the_backlog(self) -> None:
        host = Host(recv_bytes=100_000, costs={"copy_line": 1000, "user_recv": 50_000})
        while host.receiver.delack.quick or host.receiver.seq.rcv_nxt < 60_000:
            host.receive()
            host.run()
        first = host.next_seq
        host.receive()
        host.run(20 * US)  # the reader does something else
        host.receive(3)
        on_wire(host.nic)
        assert host.receiver.readable() == 3000
        host.run(50 * US)  # the reader is copying
        host.receive(3)
        assert host.socket.backlog.count == 3
        host.run()
        assert [skb.ack - first for skb in on_wire(host.nic)] == [4000, 6000]


class TestPrequeue:
    def test_sleeping_reader_gets_the_segments_unprocessed(self) -> None:
        host = Host(recv_bytes=4000, costs={"backlog": 100, "wakeup": 500})
        assert host.socket.ucopy.installed
        host.keep_softirqs(100 * US)
        assert host.receive(3) == (3 * 100 + 500) * 1000
        assert (host.receiver.seq.rcv_nxt, host.socket.ucopy.prequeue.count) == (0, 3)
        assert (host.socket.ucopy.prequeued, host.socket.softirq_processed) == (3, 0)

    def test_reader_is_woken_once(self) -> None:
        host = Host(recv_bytes=4000)
        host.receive(3)
        assert host.reader.wakeups == 2
        host.run()
        assert host.socket.delivered == 3000

    def test_the_ack_for_a_hole_is_sent_before_the_reader_sleeps_again(self) -> None:
        host = Host(recv_bytes=100_000, costs={"ack_tx": 1000})
        before = host.cpu.times()["system_ps"]
        host.socket.receive(segment(host.socket, 1000), host.cpu)
        host.cpu.kick()
        host.run()
        assert host.reader.sleeping
        assert host.cpu.times()["system_ps"] - before == US
        host.receive()
        host.run()
        assert host.socket.delivered == 2000

    def test_data_go_straight_to_the_reader(self) -> None:
        host = Host(recv_bytes=4000)
        host.receive(3)
        peak = 0
        while host.socket.delivered < 3000:
            host.run(US)
            peak = max(peak, host.receiver.window.allocated())
        assert peak == 0

    def test_what_the_reader_gets_directly_sizes_the_buffer_too(self) -> None:
        host = Host(recv_bytes=100_000, receiver={"rmem_default": 20_000})
        for _ in range(40):
            host.receive(10)
            host.run()
        # twice the 40 segments of a jiffy; of 1300 bytes of memory less than 1000 are for the
        # window, so that it is 128 more
        assert host.receiver.window.rcvbuf == 2 * 40 * 1428

    def test_tcp_runs_on_the_readers_cpu_as_softirq_time(self) -> None:
        """Bottom halves are off while the prequeue is worked off."""
        host = Host(recv_bytes=4000, costs={"tcp_rx": 2000})
        before = host.cpu.times()["softirq_ps"]
        host.receive(3)
        host.run()
        assert host.cpu.times()["softirq_ps"] - before == 3 * 2 * US

    def test_what_does_not_fit_the_buffer_is_queued(self) -> None:
        host = Host(recv_bytes=1500, costs={"user_recv": 10_000})
        host.receive(3)
        host.run(5 * US)
        # one fits as a whole; the others wait in the queue for recv's next turns
        assert host.socket.delivered == 1500
        host.run()
        assert host.socket.delivered == 3000

    def test_more_than_the_receive_buffer_is_processed_by_the_softirq(self) -> None:
        # 2300 bytes of memory each: the fourth is too much for 8000
        host = Host(recv_bytes=100_000, receiver=SMALL_BUFFER)
        host.keep_softirqs(MS)
        host.receive(3)
        assert host.receiver.seq.rcv_nxt == 0
        host.receive()
        assert (host.receiver.seq.rcv_nxt, host.socket.ucopy.prequeue.count) == (4000, 0)
        host.run(2 * MS)
        assert host.socket.delivered == 4000

    def test_recv_never_returns_more_than_was_asked_for(self) -> None:
        """Queue and prequeue have data when the reader gets to run."""
        host = Host(recv_bytes=4500, receiver=SMALL_BUFFER, costs={"user_recv": 10_000})
        host.keep_softirqs(MS)
        host.receive(5)
        assert (host.receiver.readable(), host.socket.ucopy.prequeue.count) == (4000, 1)
        host.run(MS + 5 * US)
        assert host.socket.delivered == 4000
        host.run()
        assert host.socket.delivered == 5000

    @pytest.mark.parametrize("seconds", [0.149, 0.156])
    def test_timer_looks_after_segments_that_nobody_comes_for(self, seconds: float) -> None:
        host = Host(recv_bytes=4000)
        host.keep_softirqs(1000 * MS)
        host.receive()
        host.sim.run_until(round(seconds * 1000 * MS))
        assert host.receiver.seq.rcv_nxt == (0 if seconds < 0.15 else 1000)
        assert host.socket.ucopy.prequeue.count == (1 if seconds < 0.15 else 0)


class TestOrder:
    def test_queue_then_prequeue_then_backlog(self) -> None:
        """All three hold data; out of this order they would leave holes."""
        host = Host(
            recv_bytes=100_000, receiver=SMALL_BUFFER, costs={"copy_line": 1000, "tcp_rx": 5000}
        )
        host.keep_softirqs(MS)
        host.receive(5)
        assert (host.receiver.readable(), host.socket.ucopy.prequeue.count) == (4000, 1)
        host.run(MS + US)
        assert host.socket.owned
        host.receive(2)
        assert host.socket.backlog.count == 2
        host.run()
        assert host.socket.delivered == 7000
        assert host.receiver.out_of_order_segments == host.receiver.duplicates == 0

    def test_segments_out_of_order_reach_the_reader_in_order(self) -> None:
        host = Host(recv_bytes=100_000)
        for seq in (2000, 0, 1000, 4000, 3000):
            host.socket.receive(segment(host.socket, seq), host.cpu)
        host.cpu.kick()
        host.run()
        assert (host.socket.delivered, host.receiver.out_of_order_segments) == (5000, 2)


class TestQuiet:
    """A poll may take frames together when the reader cannot see the difference."""

    def test_nobody_has_touched_the_socket_here(self) -> None:
        host = Host(recv_bytes=4000)
        assert not host.socket.only_queues(host.machine.cpus[1])

    def test_reader_elsewhere(self) -> None:
        host = Host(recv_bytes=4000)
        host.reader.cpu = host.machine.cpus[1]
        assert not host.socket.only_queues(host.cpu)

    def test_reader_sleeps_on_this_idle_cpu(self) -> None:
        host = Host(recv_bytes=4000)
        assert host.socket.only_queues(host.cpu)

    def test_reader_owns_the_socket_here(self) -> None:
        host = Host(recv_bytes=4000)
        host.socket.lock(host.cpu)
        assert host.socket.only_queues(host.cpu)

    def test_low_latency(self) -> None:
        host = Host(recv_bytes=4000, low_latency=True)
        assert not host.socket.only_queues(host.cpu)

    def test_prequeue_might_overflow(self) -> None:
        host = Host(recv_bytes=4000, receiver={"rmem_default": 64 * 1300})
        assert not host.socket.only_queues(host.cpu)


class TestWriter:
    @staticmethod
    def start(host: Host, message_bytes: int) -> TcpWriter:
        writer = TcpWriter(host.machine.scheduler, "writer", host.cpu, host.socket, message_bytes)
        writer.wake_on(host.cpu)
        host.cpu.kick()
        return writer

    def test_fills_the_send_buffer_and_sleeps(self) -> None:
        host = Host(sender={"wmem_max": 16_384})
        writer = self.start(host, 5000)
        host.run()
        # 14 segments of 1250 bytes of memory reach 16384
        assert host.socket.sender.seq.write_seq == 14_000
        assert (writer.sleeping, host.socket.writer_waiting, host.socket.owned) == (
            True,
            True,
            False,
        )
        assert [skb.seq for skb in on_wire(host.nic)] == [0, 1000, 2000]

    def test_is_woken_when_a_third_is_free(self) -> None:
        host = Host(sender={"wmem_max": 16_384})
        writer = self.start(host, 5000)
        host.run()
        log = []
        for number in range(1, 6):
            host.socket.receive(ack(host.socket, number * 1000), host.cpu)
            log.append(writer.wakeups)
            host.run(US)
        # 2/3 of 16384 are 8.7 segments: the fifth ACK leaves 9, the sixth 8
        assert log == [1] * 5
        host.socket.receive(ack(host.socket, 6000), host.cpu)
        assert writer.wakeups == 2
        host.run()
        assert host.socket.sender.seq.write_seq == 20_000

    def test_acks_that_come_while_it_copies_wait_in_the_backlog(self) -> None:
        host = Host(costs={"copy_line": 1000})
        self.start(host, 8000)
        host.run(10 * US)
        assert host.socket.owned
        host.run(60 * US)
        sent = len(on_wire(host.nic))
        assert sent == 3
        host.socket.receive(ack(host.socket, 2000), host.cpu)
        assert host.socket.backlog.count == 1
        assert host.socket.sender.seq.snd_una == 0
        host.run()
        assert host.socket.sender.seq.snd_una == 2000

    @pytest.mark.parametrize("message_bytes", [64, 100, 1000, 1448, 262_144])
    def test_messages_of_any_size_fill_segments(self, message_bytes: int) -> None:
        host = Host(sender={"wmem_default": 300_000, "wmem_max": 300_000})
        self.start(host, message_bytes)
        acknowledged = 0
        lengths = []
        for _ in range(50):
            host.run(100 * US)
            for skb in on_wire(host.nic):
                lengths.append(skb.end_seq - skb.seq)
                acknowledged = skb.end_seq
            host.socket.receive(ack(host.socket, acknowledged), host.cpu)
        assert len(lengths) > 100
        assert lengths.count(1000) > 0.9 * len(lengths)
        assert max(lengths) == 1000
