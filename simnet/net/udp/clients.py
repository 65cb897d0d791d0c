"""Where the answers to datagrams go: far hosts of which only the answers' arrival is noted."""

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Skb
from simnet.net.nic.multiqueue import MultiqueuePort
from simnet.net.nic.port import Nic


@cython.final
@cython.cclass
class Client:
    """One address and port that asks, as the answering host sends to it.

    Source: net/core/dev.c (`netdev_pick_tx`, `get_xps_queue`) of Linux 6.12. A socket that is not
    connected keeps no queue: each packet has that of the CPU that sends (XPS), else of its hash.
    """

    header: Header = None  # of answers
    nic: Nic = None  # the queue by the hash
    port: MultiqueuePort | None = None  # the port, where a CPU chooses the queue; else None
    word: cython.longlong = 0  # the hash, 32 bits

    def __init__(self, header: Header, nic: Nic, port: MultiqueuePort | None, word: int) -> None:
        self.header = header
        self.nic = nic
        self.port = port
        self.word = word

    def queue(self, cpu: Cpu) -> Nic:
        """By which `cpu` sends to it."""
        number: cython.int = -1
        found: Nic = self.nic
        if self.port is not None:
            number = self.port.xps.queue(cpu.cpu_id, self.word)
            if number >= 0:
                found = self.port.queues[number]
        return found


@cython.final
@cython.cclass
class Answers(Endpoint):
    """The answers of one worker, as they come to who asked."""

    received: cython.longlong = 0  # answers, of `received_bytes`
    received_bytes: cython.longlong = 0
    # histogram of the time from a request's being sent to its answer's arrival, in ps
    latency: LogHistogram = None

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.latency = LogHistogram()

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Note an answer; `tsecr` is when its request was sent."""
        self.received += 1
        self.received_bytes += skb.end_seq - skb.seq
        self.latency.add(self.sim.now - skb.tsecr)
        return 0
