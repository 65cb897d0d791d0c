"""The transmit queue of a socket: by hash, or by the CPU that sends, and kept while it matters.

Source: net/core/dev.c (`dev_pick_tx`, `skb_tx_hash`, `get_xps_queue`) and net/ipv4/tcp_output.c
(`tcp_transmit_skb`) of Linux 2.6.32 to 3.10. The socket keeps its queue (`sk_tx_queue_mapping`).
With XPS it is chosen anew only while nothing can be overtaken (`ooo_okay`).
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.net.link.skb import Header, Port, Skb
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.port import Nic
from simnet.net.steering.flow_hash import jhash2_3words
from simnet.net.steering.tx_queue_rules import TxQueueRules
from simnet.net.tcp.socket import TcpSocket


def socket_hash(
    header: Header, secret: cython.longlong, hashrnd: cython.longlong
) -> cython.longlong:
    """Return the hash that spreads a socket's packets over queues, 32 bits.

    It is `jhash_1word(sk->sk_hash, hashrnd)`; sk_hash is `inet_ehashfn`. Both are Jenkins' second
    hash, as before 2.6.38; his third, which came then, is no more and no less even.

    Args:
        header: of what the socket sends.
        secret: `inet_ehash_secret`, 32 bits.
        hashrnd: the device layer's own random number, 32 bits.
    """
    ports: cython.longlong = header.source_port
    ports = ports << 16 | header.destination_port
    sk_hash: cython.longlong = jhash2_3words(header.source_ip, header.destination_ip, ports, secret)
    return jhash2_3words(sk_hash, 0, 0, hashrnd)


@cython.final
@cython.cclass
class SocketQueue(Port):
    """What a socket of a port with several queues sends by.

    Args:
        path: component path.
        port: the port.
        socket: the socket, whose `nic` this becomes.
        rules: of the kernel.
        word: hash of the socket, 32 bits; see `socket_hash`.
    """

    port: MultiqueuePort = None
    socket: TcpSocket = None
    rule_steers: cython.bint = False
    rule_waits: cython.bint = False
    word: cython.longlong = 0
    hashed: cython.int = 0
    number: cython.int = 0  # the queue
    queue: Nic = None
    posted: cython.longlong = 0
    moves: cython.longlong = 0  # how often it has changed

    def __init__(
        self, path: str, port: MultiqueuePort, socket: TcpSocket, rules: TxQueueRules, word: int
    ) -> None:
        super().__init__(socket.sim, path, port.weight, port.node)
        self.port = port
        self.socket = socket
        self.rule_steers = rules.steers
        self.rule_waits = rules.waits_for_completion
        self.word = word
        self.hashed = self.word * port.tx_queues >> 32 if rules.several else 0
        self.number = self.hashed
        self.queue = port.queues[self.number]
        self.domain = self.queue.domain
        socket.leave_by(self)

    def _pick(self, cpu: Cpu) -> cython.int:
        """`dev_pick_tx` with XPS."""
        number: cython.int = self.port.xps.queue(cpu.cpu_id, self.word)
        if number < 0:
            number = self.hashed
        if number != self.number and self._ooo_okay():
            self.number = number
            self.queue = self.port.queues[number]
            self.posted = 0
            self.moves += 1
        return 0

    def _ooo_okay(self) -> cython.bint:
        """Whether the next packet may go another way: none that went before can come later."""
        if self.rule_waits:
            return self.queue.tx.reclaimed >= self.posted
        return self.socket.board.in_flight() <= self.socket.staged.count

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """Choose the queue for what `cpu` sends next; return what one frame costs."""
        if self.rule_steers and self.port.xps is not None:
            self._pick(cpu)
        return self.queue.transmit_cost_ps(cpu)

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a frame; call `flush` after the last of a burst."""
        self.queue.transmit(skb)
        if self.rule_waits:
            self.posted = self.queue.tx.sent + self.queue.qdisc.count
            if self.queue.egress is not None:
                self.posted += self.queue.egress.waiting()
        return 0

    def flush(self) -> cython.int:
        """End of a burst."""
        return self.queue.flush()
