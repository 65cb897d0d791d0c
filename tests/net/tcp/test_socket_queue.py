"""Which queue of its port a socket sends by."""

from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.net.steering.tx_queue_rules import TxQueueRules, tx_queue_rules
from simnet.net.tcp.socket import TcpSocket
from simnet.net.tcp.socket_queue import SocketQueue, socket_hash
from tests.host.parts import MS, make_machine
from tests.net.nic.queues import connection, make_port
from tests.net.parts import ack, make_socket

RULES = TxQueueRules()


class Pair:
    """A socket on a machine of four CPUs, and the port that it sends by."""

    def __init__(self, rules: TxQueueRules = RULES, **options: Any) -> None:
        self.sim = Simulator()
        self.machine = make_machine(self.sim, cores_per_socket=4)
        self.port = make_port(self.sim, self.machine, **options)
        self.socket = make_socket(self.sim, self.machine, self.port.queues[0])
        word = socket_hash(connection(5), 1, 2)
        self.queue = SocketQueue("socket.queue", self.port, self.socket, rules, word)

    def write(self, cpu: int, length: int = 100) -> int:
        """Send a message from a CPU; return the queue that it goes by."""
        sent = [nic.tx.sent for nic in self.port.queues]
        self.socket.sender.seq.write(length, end_of_send=True)
        self.socket.output(self.machine.cpus[cpu])
        changed = [
            number for number, nic in enumerate(self.port.queues) if nic.tx.sent != sent[number]
        ]
        assert len(changed) == 1
        return changed[0]

    def by_cpu(self) -> list[int]:
        """Send a message from each CPU, one at a time; return the queues that they go by."""
        queues = []
        for cpu in range(4):
            queues.append(self.write(cpu))
            self.acknowledge()
        return queues

    def acknowledge(self) -> None:
        """The far end has got everything."""
        everything = ack(self.socket, self.socket.sender.seq.snd_nxt)
        self.socket.receive(everything, self.machine.cpus[0])


EACH_ITS_OWN = [[0], [1], [2], [3]]


class TestSocketQueue:
    @pytest.mark.parametrize(
        ("version", "several", "steers", "waits"),
        [
            ("2.6.18", False, False, False),
            ("2.6.26", False, False, False),
            ("2.6.27", True, False, False),
            ("2.6.37", True, False, False),
            ("3.9", True, True, False),
            ("2.6.32", True, False, False),
            ("2.6.38", True, True, False),
            ("3.10", True, True, True),
        ],
    )
    def test_rules_by_version(
        self, version: str, *, several: bool, steers: bool, waits: bool
    ) -> None:
        assert tx_queue_rules(version) == TxQueueRules(several, steers, waits)

    @pytest.mark.parametrize(
        ("word", "number"), [(0, 0), ((1 << 30) - 1, 0), (1 << 30, 1), ((1 << 32) - 1, 3)]
    )
    def test_a_hash_is_a_place_among_the_queues_for_sending(self, word: int, number: int) -> None:
        pair = Pair()
        queue = SocketQueue("other", pair.port, pair.socket, RULES, word)
        assert (queue.number, queue.moves) == (number, 0)
        one = SocketQueue("one", pair.port, pair.socket, tx_queue_rules("2.6.18"), word)
        assert one.number == 0

    def test_a_change_of_queue_is_counted_once(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        begin = pair.queue.number
        moves = [pair.queue.moves]
        for cpu in (begin, (begin + 1) % 4, (begin + 1) % 4, (begin + 2) % 4):
            pair.write(cpu)
            pair.acknowledge()
            moves.append(pair.queue.moves)
        assert moves == [0, 0, 1, 1, 2]

    def test_without_several_queues_in_the_kernel_all_goes_by_the_first(self) -> None:
        pair = Pair(tx_queue_rules("2.6.18"), xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [0, 0, 0, 0]

    def test_by_hash_the_sending_cpu_does_not_matter(self) -> None:
        pair = Pair(tx_queue_rules("2.6.32"), xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [pair.queue.number] * 4

    def test_the_hash_uses_all_queues_for_sending_and_no_other(self) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        port = make_port(sim, machine, 6, tx_queues=4)
        chosen = set()
        for number in range(60):
            socket = make_socket(sim, machine, port.queues[0], f"socket{number}")
            word = socket_hash(connection(number), 3, 4)
            queue = SocketQueue(f"queue{number}", port, socket, RULES, word)
            assert socket.nic is queue
            chosen.add(queue.number)
        assert chosen == {0, 1, 2, 3}

    def test_with_xps_the_sending_cpu_chooses(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert pair.by_cpu() == [0, 1, 2, 3]

    def test_while_anything_is_in_flight_the_socket_keeps_its_queue(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert pair.write(2) == 2
        assert pair.write(1, 1000) == 2
        pair.acknowledge()
        assert pair.write(1) == 1
        moves = pair.queue.moves
        pair.acknowledge()
        assert pair.write(1) == 1
        assert pair.queue.moves == moves

    def test_a_cpu_of_no_queue_sends_by_hash(self) -> None:
        pair = Pair(xps=[[0], [], [2], []])
        hashed = pair.queue.number
        assert pair.write(0) == 0
        pair.acknowledge()
        assert pair.write(3) == hashed

    def test_later_kernels_wait_until_the_ring_has_been_reclaimed(self) -> None:
        pair = Pair(tx_queue_rules("3.10"), xps=EACH_ITS_OWN)
        assert pair.write(2) == 2
        pair.acknowledge()
        # acknowledged, but the completion has not been seen
        assert pair.write(1) == 2
        pair.sim.run_until(MS)
        pair.acknowledge()
        assert pair.write(1) == 1

    def test_an_acknowledgement_goes_the_way_of_its_cpu(self) -> None:
        pair = Pair(xps=EACH_ITS_OWN)
        assert isinstance(pair.socket, TcpSocket)
        pair.socket.send_ack(pair.machine.cpus[3])
        assert pair.port.queues[3].tx.sent == 1
