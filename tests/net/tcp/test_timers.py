"""Retransmission, window-probe and delayed-ACK timers of a socket: when, and what is sent."""

from typing import Any

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import MS, make_machine
from tests.net.parts import ack, make_socket, make_tg3, on_wire, segment

JIFFY = 4 * MS


class End:
    """One end of a connection whose peer is the test."""

    def __init__(self, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim)
        self.cpu = self.machine.cpus[0]
        self.nic = make_tg3(self.sim, self.machine)
        self.socket: TcpSocket = make_socket(self.sim, self.machine, self.nic, **options)

    def write(self, segments: int) -> list[int]:
        self.socket.sender.seq.write(segments * 1000, end_of_send=True)
        self.socket.output(self.cpu)
        return self.sent()

    def sent(self) -> list[int]:
        """Return the first bytes' numbers of the segments sent since the last call."""
        return [skb.seq for skb in on_wire(self.nic)]

    def receive(self, skb: Skb) -> None:
        self.socket.receive(skb, self.cpu)

    def wait(self, until_ps: int) -> list[tuple[int, int]]:
        """Simulate; return when which segments were sent, to the jiffy."""
        log = []
        while self.sim.now < until_ps:
            self.sim.run_until(min(until_ps, (self.sim.now // JIFFY + 1) * JIFFY))
            log += [(self.sim.now // JIFFY, skb.seq) for skb in on_wire(self.nic)]
        return log


class TestRetransmission:
    def test_first_loss_waits_no_longer_than_measured_round_trips_say(self) -> None:
        end = End()
        assert end.write(3) == [0, 1000, 2000]
        end.sim.run_until(2 * JIFFY)
        end.receive(ack(end.socket, 1000))
        # 2 jiffies round trip, 50 at least, though the timer was set to 3 s at the beginning
        assert end.wait(1000 * MS)[0] == (2 + 52 + 1, 1000)

    def test_without_an_answer_3_s_then_twice_as_long(self) -> None:
        end = End()
        end.write(1)
        assert end.wait(30_000 * MS) == [(751, 0), (751 + 1501, 0), (751 + 1501 + 3001, 0)]

    def test_acks_put_it_off(self) -> None:
        end = End()
        end.write(3)
        for number in (1, 2):
            end.sim.run_until(number * 2 * JIFFY)
            end.receive(ack(end.socket, number * 1000))
        # srtt is 2, and the last ACK came in jiffy 4
        assert end.wait(1000 * MS)[0] == (4 + 52 + 1, 2000)

    def test_not_while_a_process_owns_the_socket(self) -> None:
        end = End()
        end.write(1)
        end.socket.lock(end.cpu)
        assert end.wait(3100 * MS) == []
        end.socket.unlock(end.cpu)
        assert end.wait(3200 * MS) == [(776, 0)]

    def test_all_acknowledged_nothing_is_sent(self) -> None:
        end = End()
        end.write(2)
        end.receive(ack(end.socket, 2000))
        assert end.wait(10_000 * MS) == []

    def test_timeout_shorter_than_the_copy_that_precedes_sending(self) -> None:
        end = End(sender={"rto_init_ps": 4 * MS, "rto_min_ps": 4 * MS})
        end.socket.sender.seq.write(1000, end_of_send=True)
        end.socket.stage(end.cpu)
        end.sim.run_until(20 * MS)
        end.socket.send_staged()
        assert end.sent() == [0]
        assert end.wait(40 * MS)[0] == (6, 0)


class TestWindowProbes:
    def test_lost_window_update_does_not_stop_the_stream(self) -> None:
        end = End()
        end.write(3)
        end.sim.run_until(2 * JIFFY)
        end.receive(ack(end.socket, 3000, window=0))
        assert end.write(5) == []
        # the update that nobody received would have come here; probes are old data
        probes = end.wait(1500 * MS)
        assert probes == [(55, 2999), (55 + 105, 2999), (55 + 105 + 209, 2999)]
        end.receive(ack(end.socket, 3000))
        # idle for so long, it starts again from the initial window
        assert end.sent() == [3000, 4000, 5000]

    def test_small_window_is_used_in_the_end(self) -> None:
        end = End()
        end.write(3)
        end.sim.run_until(2 * JIFFY)
        end.receive(ack(end.socket, 3000, window=400))
        assert end.write(5) == []
        assert end.wait(300 * MS) == [(55, 3000)]
        assert end.socket.sender.seq.snd_nxt == 3400

    def test_peer_answers_a_probe_at_once(self) -> None:
        end = End()
        end.receive(segment(end.socket, 0))
        end.sent()
        end.receive(segment(end.socket, 999, 1))
        (answer,) = on_wire(end.nic)
        assert (answer.ack, answer.seq, answer.end_seq) == (1000, 0, 0)


class TestDelayedAck:
    def test_lone_segment_is_acknowledged_after_ato(self) -> None:
        end = End()
        now = self.warm_up(end)
        end.receive(segment(end.socket, now))
        start = end.sim.now // JIFFY
        ato = end.socket.receiver.delack.ato
        assert [at for at, _ in end.wait(end.sim.now + 1000 * MS)] == [start + ato + 1]
        assert end.socket.delack.delayed_acks == 1

    def test_not_while_a_process_owns_the_socket(self) -> None:
        end = End()
        now = self.warm_up(end)
        end.receive(segment(end.socket, now))
        end.socket.lock(end.cpu)
        assert end.wait(end.sim.now + 1000 * MS) == []
        assert end.socket.receiver.delack.blocked
        # a blocked timer makes the next copy or segment acknowledge
        assert end.socket.after_copy(end.cpu, 1) >= 0
        assert len(end.sent()) == 1

    @staticmethod
    def warm_up(end: End) -> int:
        """Use up the quick ACKs; return the next sequence number."""
        for number in range(400):
            end.receive(segment(end.socket, number * 1000))
            end.socket.read_queue(1000)
        while end.socket.receiver.delack.quick or end.socket.receiver.delack.scheduled:
            end.socket.send_ack(end.cpu)
        end.sent()
        return int(end.socket.receiver.seq.rcv_nxt)
