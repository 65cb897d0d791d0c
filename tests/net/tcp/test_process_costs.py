"""What recv and send execute and in which mode: every step has a cost of its own."""

from typing import Any

import pytest

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.process import TcpReader, TcpWriter
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, NS, US, Job, make_costs, make_machine
from tests.net.parts import ack, make_socket, segment
from tests.net.tcp.test_socket_costs import Wire

COSTS = {
    "tcp_rx": 1400,
    "tcp_tx": 1700,
    "ack_rx": 300,
    "ack_tx": 900,
    "skb_free": 350,
    "backlog": 100,
    "wakeup": 800,
    "context_switch": 600,
    "copy_line": 40,
    "syscall": 250,
    "user_recv": 120,
    "user_send": 130,
}
# of 1000 bytes
COPY = 8 * 40


class Host:
    """One CPU with a socket; what leaves it takes 11 ns a frame."""

    def __init__(self, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim, "host", make_costs(**COSTS))
        self.ledger = self.machine.costs.ledger
        self.cpu = self.machine.cpus[0]
        self.wire = Wire(self.sim, 0)
        self.socket: TcpSocket = make_socket(self.sim, self.machine, self.wire, **options)
        self.soft = Job(self.sim, "soft", SOFT_LEVEL, SOFTIRQ)

    def reader(self, recv_bytes: int) -> TcpReader:
        reader = TcpReader(self.machine.scheduler, "reader", self.cpu, self.socket, recv_bytes)
        self.start(reader)
        return reader

    def writer(self, message_bytes: int) -> TcpWriter:
        writer = TcpWriter(self.machine.scheduler, "writer", self.cpu, self.socket, message_bytes)
        self.start(writer)
        return writer

    def start(self, task: Task) -> None:
        task.wake_on(self.cpu)
        self.cpu.kick()
        self.run()

    def run(self, length_ps: int = MS) -> None:
        """Simulate."""
        self.sim.run_until(self.sim.now + length_ps)

    def spent(self) -> tuple[dict[str, int], dict[str, int]]:
        """What was booked, and in which mode the CPU was, since the last call, in ns."""
        booked = {name: work // NS for name, work in self.ledger.work().items() if work}
        for name in booked:
            setattr(self.ledger, name, 0)
        times = {mode: time for mode, time in self.cpu.times().items() if mode in MODES}
        # all costs are whole nanoseconds
        assert not any(time % NS for time in (*self.ledger.work().values(), *times.values()))
        before, self.before = getattr(self, "before", dict.fromkeys(MODES, 0)), times
        return booked, {
            mode[:-3]: (times[mode] - before[mode]) // NS
            for mode in MODES
            if times[mode] != before[mode]
        }

    def receive(self, *seqs: int) -> int:
        """Have segments handed over in softirq; return the work in ns."""
        work = sum(self.socket.receive(segment(self.socket, seq), self.cpu) for seq in seqs)
        self.cpu.kick()
        return work // NS

    def settle(self) -> int:
        """Use up the quick ACKs; return the next byte's number."""
        receiver = self.socket.receiver
        while receiver.seq.rcv_nxt < 80_000 or receiver.delack.quick or receiver.delack.scheduled:
            self.receive(receiver.seq.rcv_nxt)
            self.run()
        self.wire.sent.clear()
        self.spent()
        return int(receiver.seq.rcv_nxt)


MODES = ("user_ps", "system_ps", "irq_ps", "softirq_ps")


class TestReader:
    def test_it_sleeps_in_recv_until_data_come(self) -> None:
        host = Host()
        reader = host.reader(4000)
        assert (reader.sleeping, reader.calls) == (True, 1)
        assert (host.socket.owned, host.socket.reader_waiting) == (False, True)
        assert (host.socket.ucopy.installed, host.socket.ucopy.room) == (True, 4000)
        booked, times = host.spent()
        # it was in its own code, and has entered recv once
        assert (booked["syscall"], booked["application"]) == (250, 120)
        assert (times["user"], times["system"]) == (120, 250 + 600)

    def test_two_segments_that_it_slept_for(self) -> None:
        host = Host()
        reader = host.reader(4000)
        base = host.settle()
        assert host.receive(base) == 100 + 800
        assert host.receive(base + 1000) == 100
        calls = reader.calls
        host.run()
        assert reader.calls == calls + 1
        booked, times = host.spent()
        assert booked == {
            "tcp_receive": 2 * (100 + 1400 + 350),
            "tcp_ack": 900,
            "copy": 2 * COPY,
            "wakeup": 800 + 600,
            "syscall": 250,
            "application": 120,
        }
        # bottom halves are off while the prequeue is processed; what that has caused (an ACK) and
        # the way back to the user come after
        assert times == {
            "softirq": 2 * (1400 + 350 + COPY),
            "system": 600 + 900 + 11 + 250,
            "user": 120,
        }
        assert [frame.ack for frame in host.wire.sent] == [base + 2000]
        assert host.socket.delivered == base + 2000

    def test_what_lies_in_the_queue_is_copied_in_system_mode(self) -> None:
        host = Host(low_latency=True)
        host.reader(4000)
        base = host.settle()
        assert host.receive(base) == 1400 + 800
        assert host.receive(base + 1000) == 1400
        host.run()
        booked, times = host.spent()
        assert booked == {
            "tcp_receive": 2 * (1400 + 350),
            "tcp_ack": 900,
            # 2000 bytes are sixteen lines
            "copy": 16 * 40,
            "wakeup": 800 + 600,
            "syscall": 250,
            "application": 120,
        }
        assert times == {"system": 600 + 640 + 700 + 900 + 11 + 250, "user": 120}

    def test_the_backlog_is_processed_as_softirq_before_recv_returns(self) -> None:
        host = Host(low_latency=True)
        reader = host.reader(100_000)
        base = host.settle()
        host.receive(base)
        host.run(700 * NS)
        # it is copying: two more wait for it
        assert host.socket.owned
        assert host.receive(base + 1000, base + 2000) == 200
        calls = reader.calls
        host.run()
        assert reader.calls == calls + 1
        booked, times = host.spent()
        assert booked["tcp_receive"] == 1400 + 350 + 2 * 100 + 2 * 1400 + 2 * 350
        # and the ACK for them, which the first has made due
        assert times["softirq"] == 2 * 1400 + 900 + 11
        assert host.socket.delivered == base + 3000

    def test_a_buffer_that_is_full_ends_recv(self) -> None:
        host = Host()
        reader = host.reader(1000)
        base = host.settle()
        calls = reader.calls
        host.soft.start(host.cpu, US)
        host.receive(base, base + 1000, base + 2000)
        host.run()
        assert host.socket.delivered == base + 3000
        assert reader.calls - calls == 3
        booked, _ = host.spent()
        assert (booked["syscall"], booked["application"]) == (3 * 250, 3 * 120)
        assert booked["copy"] == 3 * COPY

    def test_all_time_is_booked_but_what_the_port_takes(self) -> None:
        host = Host()
        host.reader(2500)
        base = host.settle()
        outside = 0
        for at in range(60):
            outside += host.receive(base + 1000 * at)
            host.run((at % 7) * US)
        host.run()
        assert host.socket.delivered == base + 60_000
        booked, times = host.spent()
        # nobody executes the softirqs' own work here
        assert sum(times.values()) == sum(booked.values()) + 11 * len(host.wire.sent) - outside

    @pytest.mark.parametrize("gap", [False, True])
    def test_an_ack_that_waits_makes_one_piece_of_two_segments(self, gap: bool) -> None:  # noqa: FBT001
        host = Host()
        host.reader(4000)
        base = host.settle()
        first = [base, base + 1000] if not gap else [base, base + 2000]
        host.receive(*first)
        steps = []
        for _ in range(40):
            host.run(250 * NS)
            steps.append(host.socket.receiver.seq.rcv_nxt - base)
        assert ([step for step in steps if 0 < step < 2000] == []) == (not gap)
        assert steps[-1] == (1000 if gap else 2000)


class TestWriter:
    def test_a_send_of_several_segments(self) -> None:
        host = Host(sender={"wmem_default": 5000, "wmem_max": 5000})
        writer = host.writer(3000)
        # the second send has room for one segment only: 5000 bytes are four of 1250
        assert (host.socket.sender.seq.write_seq, writer.sleeping, writer.calls) == (4000, True, 2)
        assert [frame.seq for frame in host.wire.sent] == [0, 1000, 2000]
        booked, times = host.spent()
        assert booked == {
            "tcp_send": 3 * 1700,
            # 3000 bytes are 24 lines, 1000 are 8
            "copy": 32 * 40,
            "wakeup": 600,
            "syscall": 2 * 250,
            "application": 2 * 130,
        }
        assert times == {"system": 600 + 500 + 32 * 40 + 3 * 1711, "user": 260}
        assert (host.socket.owned, host.socket.writer_waiting) == (False, True)

    def test_it_goes_on_when_there_is_memory_again(self) -> None:
        host = Host(sender={"wmem_default": 5000, "wmem_max": 5000})
        writer = host.writer(3000)
        host.spent()
        assert host.socket.receive(ack(host.socket, 1000), host.cpu) == 300 * NS + 1711 * NS
        work = host.socket.receive(ack(host.socket, 2000), host.cpu)
        host.cpu.kick()
        assert work == (300 + 800) * NS
        assert not writer.sleeping
        host.run()
        # it has ended, and the next one waits
        assert (host.socket.sender.seq.write_seq, writer.calls) == (6000, 3)
        booked, times = host.spent()
        assert booked == {
            "tcp_send": 3 * 1700,
            "tcp_ack": 600,
            "copy": 16 * 40,
            "wakeup": 800 + 600,
            "syscall": 250,
            "application": 130,
        }
        # the next one's code runs with its first piece
        assert times == {"system": 600 + 16 * 40 + 2 * 1711 + 250}

    def test_acks_in_the_backlog_are_processed_when_the_send_ends(self) -> None:
        host = Host()
        writer = host.writer(3000)
        while not host.socket.owned:
            host.socket.receive(ack(host.socket, host.socket.sender.seq.snd_nxt), host.cpu)
            host.cpu.kick()
            host.run(500 * NS)
        host.spent()
        assert not host.socket.writer_waiting
        una, nxt = host.socket.sender.seq.snd_una, host.socket.sender.seq.snd_nxt
        calls, written = writer.calls, host.socket.sender.seq.write_seq
        for number in (nxt - 1000, nxt):
            assert host.socket.receive(ack(host.socket, number), host.cpu) == 100 * NS
        assert (host.socket.sender.seq.snd_una, host.socket.backlog.count) == (una, 2)
        host.run()
        assert host.socket.sender.seq.snd_una == nxt
        booked, times = host.spent()
        assert (booked["tcp_ack"], booked["tcp_receive"]) == (600, 200)
        assert times["softirq"] >= 600
        # and it goes on until the buffer is full
        assert (writer.sleeping, host.socket.owned) == (True, False)
        assert writer.calls > calls
        assert host.socket.sender.seq.write_seq > written

    def test_acks_in_the_backlog_may_make_room_before_it_sleeps(self) -> None:
        host = Host(sender={"wmem_default": 5000, "wmem_max": 5000})
        writer = TcpWriter(host.machine.scheduler, "writer", host.cpu, host.socket, 3000)
        writer.wake_on(host.cpu)
        host.cpu.kick()
        # it copies the fourth segment, for which there is no window
        host.run((600 + 250 + 960 + 3 * 1711 + 130 + 100) * NS)
        assert (host.socket.owned, host.socket.sender.seq.write_seq) == (True, 4000)
        for number in (1000, 2000):
            host.socket.receive(ack(host.socket, number), host.cpu)
        assert host.socket.backlog.count == 2
        host.run()
        assert (writer.wakeups, writer.sleeping) == (1, True)
        assert host.socket.sender.seq.write_seq == 6000
        booked, times = host.spent()
        assert booked["tcp_ack"] == 600
        # what the ACKs let go is work of the next piece
        frames = len(host.wire.sent)
        assert frames == 6
        assert times["softirq"] + times["system"] == (
            600 + 3 * 250 + 6 * 320 + 2 * 300 + frames * 1711
        )

    @pytest.mark.parametrize(
        ("message_bytes", "calls", "written"),
        [(100, 10, 1000), (300, 4, 1200), (999, 2, 1998), (1000, 1, 1000), (2500, 1, 2500)],
    )
    def test_short_messages_are_taken_together_up_to_the_next_segment(
        self, message_bytes: int, calls: int, written: int
    ) -> None:
        host = Host()
        writer = TcpWriter(host.machine.scheduler, "writer", host.cpu, host.socket, message_bytes)
        writer.wake_on(host.cpu)
        host.cpu.kick()
        host.run(601 * NS)
        assert (writer.calls, host.socket.sender.seq.write_seq) == (calls, written)
        booked, _ = host.spent()
        assert (booked["syscall"], booked["application"]) == (250 * calls, 130 * calls)
        assert booked["copy"] == -(-written // 128) * 40

    def test_a_port_that_copies_gets_each_segment_when_it_is_full(self) -> None:
        host = Host()
        host.wire.copies = True
        writer = TcpWriter(host.machine.scheduler, "writer", host.cpu, host.socket, 2500)
        writer.wake_on(host.cpu)
        host.cpu.kick()
        times: list[int] = []
        for _ in range(200):
            host.run(100 * NS)
            times += [host.sim.now // NS] * (len(host.wire.sent) - len(times))
            if len(times) == 3:
                break
        # context switch, call, copy of 1000 bytes, application; frame by frame
        first = 600 + 250 + COPY + 1711 + 1090 + 130
        step = COPY + 1711 + 1090
        assert [times[0] - 100 < first <= times[0], times[1] - 100 < first + step <= times[1]] == [
            True,
            True,
        ]
        assert [frame.end_seq for frame in host.wire.sent[:2]] == [1000, 2000]
