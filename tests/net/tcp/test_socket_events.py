"""Timers, wake-ups and clocks of a socket: on which CPU, at what time, and what they cost.

Two CPUs with costs as in `test_socket_costs`; jiffies of 4 ms.
"""

from typing import Any

import pytest

from simnet.host.cpu import Cpu
from simnet.net.link.skb import new_skb
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.process import TcpReader
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.host.parts import MS, NS, US, make_memory
from tests.net.parts import ack, make_congestion, segment
from tests.net.tcp.test_process_costs import Host as OneCpu
from tests.net.tcp.test_socket_costs import Host


def quiet(version: str = "2.6.18", **options: Any) -> Host:
    """A host whose socket has no quick ACKs; segments of 100 bytes do not open its window."""
    rules = {"rules": receiver_rules(version), "max_quickacks": 0, "delack_min_ps": 40 * MS}
    return Host(receiver=rules, **options)


def sent_at(host: Host, until_ms: int) -> list[tuple[float, int]]:
    """Simulate; return when (in ms) frames left that acknowledge which byte."""
    log: list[tuple[float, int]] = []
    host.wire.sent.clear()
    while host.sim.now < until_ms * MS:
        host.sim.run_until(host.sim.now + MS)
        log += [(host.sim.now / MS, frame.ack) for frame in host.wire.sent]
        host.wire.sent.clear()
    return log


class TestDelayedAck:
    def test_it_is_sent_by_the_cpu_that_took_the_segment(self) -> None:
        host = quiet()
        assert host.arrives(segment(host.socket, 0, 100), 1, toucher=1) == 1400
        host.booked()
        assert sent_at(host, 43) == []
        host.sim.run_until(44 * MS + US)
        (frame,) = host.wire.sent
        assert (frame.ack, frame.seq, frame.end_seq, frame.push) == (100, 0, 0, False)
        assert frame.window == host.socket.receiver.seq.rcv_wnd
        assert frame.toucher is host.cpus[1]
        assert host.booked() == {"tcp_ack": 900}
        assert [cpu.times()["irq_ps"] for cpu in host.cpus] == [0, 911 * NS]
        assert (host.socket.delack.delayed_acks, host.socket.acks_sent) == (1, 1)
        # once
        assert sent_at(host, 500) == []

    def test_it_moves_when_what_it_was_set_for_has_been_acknowledged(self) -> None:
        host = quiet()
        host.arrives(segment(host.socket, 0, 100))
        host.sim.run_until(12 * MS)
        host.socket.send_ack(host.cpus[0])
        host.arrives(segment(host.socket, 100, 100))
        # jiffy 3 and ten more have passed
        assert sent_at(host, 500) == [(56, 200)]

    def test_nothing_is_left_to_acknowledge(self) -> None:
        host = quiet()
        host.arrives(segment(host.socket, 0, 100))
        host.socket.send_ack(host.cpus[0])
        host.booked()
        assert sent_at(host, 500) == []
        assert host.booked() == {}
        # it can be set again
        host.arrives(segment(host.socket, 100, 100))
        assert [byte for _, byte in sent_at(host, 1000)] == [200]

    @pytest.mark.parametrize(("version", "at_ms"), [("2.6.18", 88), ("3.7", 61)])
    def test_while_a_process_owns_the_socket_it_waits(self, version: str, at_ms: int) -> None:
        host = quiet(version)
        host.arrives(segment(host.socket, 0, 100))
        host.sim.run_until(20 * MS)
        host.socket.lock(host.cpus[0])
        assert sent_at(host, 60) == []
        host.socket.unlock(host.cpus[0])
        # before 3.7 it looks again ten jiffies later; then the process runs it as it leaves
        assert [(max(at, 61), byte) for at, byte in sent_at(host, 200)] == (
            [(at_ms, 100)] if at_ms > 61 else []
        )
        assert host.socket.acks_sent == 1
        host.socket.lock(host.cpus[0])
        host.socket.unlock(host.cpus[0])
        assert host.socket.acks_sent == 1

    def test_segments_that_the_reader_does_not_come_for_are_processed(self) -> None:
        host = OneCpu()
        host.reader(4000)
        base = host.settle()
        host.soft.start(host.cpu, 1000 * MS)
        host.receive(base, base + 1000)
        host.spent()
        host.run(200 * MS)
        booked, times = host.spent()
        assert booked == {"tcp_receive": 2 * 1400, "tcp_ack": 900}
        assert times["irq"] == 2 * 1400 + 911
        assert (host.socket.ucopy.prequeue.count, host.socket.receiver.readable()) == (0, 2000)


class TestHeldBack:
    def late(self, version: str = "5.4") -> Host:
        """Five segments ahead of a hole, at 10 ms; the round trip is 2 ms."""
        host = quiet(version)
        host.sim.run_until(10 * MS)
        host.socket.receiver.window.rtt = 8 * 2000
        for number in range(1, 6):
            host.arrives(segment(host.socket, 100 * number, 100))
        return host

    def test_an_ack_goes_after_a_twentieth_of_the_round_trip(self) -> None:
        host = self.late()
        assert len(host.wire.sent) == 3
        host.booked()
        host.sim.run_until(10 * MS + 199 * US)
        assert len(host.wire.sent) == 3
        host.sim.run_until(10 * MS + 201 * US)
        assert len(host.wire.sent) == 4
        assert host.booked() == {"tcp_ack": 900}
        assert host.cpus[0].times()["irq_ps"] == 911 * NS
        host.sim.run_until(20 * MS)
        assert len(host.wire.sent) == 4

    def test_not_if_one_has_gone_meanwhile(self) -> None:
        host = self.late()
        host.socket.send_ack(host.cpus[0])
        host.sim.run_until(20 * MS)
        assert len(host.wire.sent) == 4

    def test_while_a_process_owns_the_socket_it_waits(self) -> None:
        host = self.late()
        host.socket.lock(host.cpus[0])
        host.sim.run_until(20 * MS)
        assert len(host.wire.sent) == 3
        host.socket.unlock(host.cpus[0])
        assert len(host.wire.sent) == 4
        host.socket.lock(host.cpus[0])
        host.socket.unlock(host.cpus[0])
        assert len(host.wire.sent) == 4


class Item(EpollItem):
    """Notes when it is called, which takes 77 ns."""

    def __init__(self, host: Host) -> None:
        super().__init__(Epoll(host.machine.costs, make_memory(2)))
        self.calls = 0

    def callback(self, cpu: Cpu) -> int:  # noqa: ARG002 - as every item
        self.calls += 1
        return 77 * NS


class TestWakeUps:
    def test_epoll_is_told_of_data_in_order(self) -> None:
        host = quiet()
        item = host.socket.poll = Item(host)
        assert host.arrives(segment(host.socket, 100, 100)) == 1400 + 911
        assert item.calls == 0
        assert host.arrives(segment(host.socket, 0, 100)) == 1400 + 77
        assert item.calls == 1
        # what has come before is not
        assert host.arrives(segment(host.socket, 0, 100)) == 1400
        assert item.calls == 1

    def test_epoll_is_told_of_memory_if_a_write_waits(self) -> None:
        host = Host(sender={"wmem_default": 5000, "wmem_max": 5000})
        item = host.socket.poll = Item(host)
        host.socket.sender.seq.write(4000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        host.arrives(ack(host.socket, 1000))
        assert item.calls == 0
        host.socket.writer_waiting = True
        assert host.arrives(ack(host.socket, 2000)) == 300 + 77
        assert (item.calls, host.socket.writer_waiting) == (1, False)
        host.arrives(ack(host.socket, 3000))
        assert item.calls == 1

    @pytest.mark.parametrize("low_latency", [False, True])
    def test_a_reader_on_another_cpu(self, low_latency: bool) -> None:  # noqa: FBT001
        host = quiet(low_latency=low_latency)
        reader = TcpReader(
            host.machine.scheduler, "reader", host.cpus[1], host.socket, 4000, frozenset({1})
        )
        reader.wake_on(host.cpus[1])
        host.cpus[1].kick()
        host.sim.run_until(MS)
        assert reader.sleeping
        host.booked()
        # its run queue has six lines, the socket five
        step = 1400 if low_latency else 100
        assert host.arrives(segment(host.socket, 0, 100)) == step + 800 + 2400 + 2000
        assert host.booked()["wakeup"] == 3200

    def test_a_prequeue_that_is_too_long_is_processed_at_once(self) -> None:
        small = {"rmem_default": 8000, "truesize_overhead": 1300, "rcvbuf_locked": True}
        host = OneCpu(receiver=small | {"max_quickacks": 0})
        host.reader(100_000)
        host.soft.start(host.cpu, MS)
        host.spent()
        # 2300 bytes of memory each
        assert [host.receive(1000 * number) for number in range(3)] == [100 + 800, 100, 100]
        work = host.receive(3000)
        assert (host.socket.receiver.seq.rcv_nxt, host.socket.ucopy.prequeue.count) == (4000, 0)
        booked, _ = host.spent()
        acks = len(host.wire.sent)
        assert work == 100 + 4 * 1400 + acks * 911
        assert booked["tcp_receive"] == 4 * 100 + 4 * 1400
        # and begins anew
        assert host.receive(4000) == 100
        assert host.socket.ucopy.prequeue.count == 1


class TestClocks:
    @pytest.mark.parametrize(("version", "now_us"), [("4.12", 0), ("4.13", 5000)])
    def test_the_receiver_s_is_in_microseconds_from_4_13_on(
        self, version: str, now_us: int
    ) -> None:
        host = quiet(version)
        host.sim.run_until(5 * MS)
        host.arrives(segment(host.socket, 0, 100))
        assert host.socket.receiver.now_us == now_us

    def test_the_sender_s_where_its_algorithm_asks_for_it(self) -> None:
        cubic = make_congestion("cubic", 3, mss=1000, rules=sender_rules("2.6.32"))
        host = Host(sender={"congestion": cubic})
        sender = host.socket.sender
        assert cubic.wants_us
        host.sim.run_until(5 * MS)
        sender.seq.write(1000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        assert sender.timer.now_us == 5000
        host.sim.run_until(7 * MS)
        host.arrives(ack(host.socket, 1000))
        assert sender.timer.now_us == 7000
        sender.seq.write(1000, True)  # noqa: FBT003
        host.socket.output(host.cpus[0])
        host.sim.run_until(1000 * MS)
        # the timer: 50 jiffies and more after jiffy 1
        assert sender.timeouts > 0
        assert 200_000 < sender.timer.now_us < 1_000_000
        reno = Host()
        reno.sim.run_until(5 * MS)
        reno.socket.sender.seq.write(1000, True)  # noqa: FBT003
        reno.socket.output(reno.cpus[0])
        reno.arrives(ack(reno.socket, 1000))
        assert reno.socket.sender.timer.now_us == 0

    def test_timestamps_of_what_is_acknowledged_come_back(self) -> None:
        host = quiet()
        for first, tsval, told in ((0, 70, 70), (100, 60, 70), (300, 90, 70), (200, 80, 80)):
            skb = segment(host.socket, first, 100)
            skb.tsval = tsval
            host.arrives(skb)
            host.socket.send_ack(host.cpus[0])
            assert host.wire.sent[-1].tsecr == told


class TestReading:
    def test_up_to_what_is_there(self) -> None:
        host = quiet()
        host.arrives(segment(host.socket, 0, 1000))
        assert [host.socket.read_queue(count) for count in (300, 900, 5)] == [300, 700, 0]
        assert host.socket.delivered == 1000

    def test_an_ack_that_a_read_makes_due(self) -> None:
        host = quiet()
        host.arrives(segment(host.socket, 0, 100))
        assert host.socket.after_copy(host.cpus[0], 0) == 0
        host.socket.read_queue(100)
        pushed = new_skb(host.socket, 100, 150, 0, 0, 140, True)  # noqa: FBT003
        host.arrives(pushed)
        host.socket.read_queue(50)
        assert host.socket.after_copy(host.cpus[0], 50) == 911 * NS
        assert host.socket.after_copy(host.cpus[0], 50) == 0

    def test_into_the_buffer_only_what_is_next_and_fits(self) -> None:
        host = quiet()
        host.socket.ucopy.install(1000)
        for first, length, direct in ((0, 1000, True), (0, 1001, False), (100, 10, False)):
            assert host.socket.can_copy_directly(segment(host.socket, first, length)) == direct
        assert not host.socket.can_copy_directly(ack(host.socket, 0))
        host.socket.ucopy.remove()
        host.arrives(segment(host.socket, 0, 100))
        host.socket.ucopy.install(1000)
        # what lies in the queue comes first
        assert not host.socket.can_copy_directly(segment(host.socket, 100, 100))
