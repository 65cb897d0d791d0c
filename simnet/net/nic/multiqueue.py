"""A port with several queues: one link, and for each queue a ring, an interrupt and a NAPI.

Received frames are sorted by flow rules, if there are any, and else by RSS as soon as they are
announced, each with its arrival time, and from then on are the queue's. Frames to be sent leave in
the order in which they are posted, whatever ring they are posted to: how the chip's engine takes
turns among rings within a microsecond changes no more than that.

Source: drivers/net/bnx2.c of Linux 2.6.32; Documentation/networking/scaling.txt.
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.interrupt import IrqLine
from simnet.kernel.compiled import Array, Public
from simnet.kernel.queue import lowest_bit
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Path, Port, Skb
from simnet.net.nic.port import Nic
from simnet.net.nic.rss import Rss
from simnet.net.steering.flow_rules import FlowRules

if TYPE_CHECKING:
    from collections.abc import Sequence

_ONE: cython.longlong = 1
# queues that one announcement of frames has gone to are bits of the words of `touched`
_WORD_BITS: cython.int = 32


@cython.final
@cython.cclass
class XpsMap:
    """Which transmit queues each CPU sends by (`/sys/class/net/eth0/queues/tx-N/xps_cpus`).

    Args:
        cpus: how many the machine has.
        masks: the CPUs of each queue; may be empty.
    """

    starts: Array[cython.longlong] = None
    queues: Array[cython.longlong] = None

    def __init__(self, cpus: int, masks: Sequence[Sequence[int]]) -> None:
        mapped = [[queue for queue, mask in enumerate(masks) if cpu in mask] for cpu in range(cpus)]
        self.starts = array("q", [0, *accumulate(len(queues) for queues in mapped)])
        # never empty, which a view of it may not be
        self.queues = array("q", [*(queue for queues in mapped for queue in queues), -1])

    def queue(self, cpu: cython.int, word: cython.longlong) -> cython.int:
        """`get_xps_queue`: the queue for a CPU, by a hash of 32 bits among several; -1: none."""
        start: cython.longlong = self.starts[cpu]
        count: cython.longlong = self.starts[cpu + 1] - start
        number: cython.int = -1
        if count > 0:
            number = self.queues[start + (word * count >> 32)]
        return number


@cython.final
@cython.cclass
class MultiqueuePort(Port):
    """A port with several queues.

    Args:
        sim: the simulation.
        path: component path.
        name: interface name (eth0).
        queues: each with its line; all on the same node.
        tx_queues: how many of them, from the first, are for sending.
        rss: which queue receives a frame; None where what is before the port says it.
        xps: which queue each CPU sends by; None for none.
        rules: what is asked before RSS; None for none.

    Raises:
        ValueError: no queue, or more for sending than there are.
    """

    name: Any = None
    queues: list[Any] = None
    tx_queues: cython.int = 0
    rss: Rss = None
    xps: Public[XpsMap] = None
    rules: Public[FlowRules] = None
    touched: Array[cython.longlong] = None

    def __init__(
        self,
        sim: Simulator,
        path: str,
        name: str,
        queues: list[Nic],
        *,
        tx_queues: int,
        rss: Rss | None,
        xps: XpsMap | None = None,
        rules: FlowRules | None = None,
    ) -> None:
        if not 0 < tx_queues <= len(queues):
            message = f"{path}: {len(queues)} queues, {tx_queues} of them for sending"
            raise ValueError(message)
        super().__init__(sim, path, queues[0].weight, queues[0].node)
        self.name = name
        self.queues = list(queues)
        self.tx_queues = tx_queues
        self.rss = rss
        self.xps = xps
        self.rules = rules
        self.touched = array("q", [0]) * (1 + (len(queues) - 1) // _WORD_BITS)
        for queue in queues:
            queue.tx.serializer = queues[0].tx.serializer

    # -- what a Nic has, too --------------------------------------------------------------------

    @property
    def path_out(self) -> Path:
        """Where what all queues send goes."""
        return self.queues[0].path_out

    @path_out.setter
    def path_out(self, path: Path) -> None:
        for queue in self.queues:
            queue.path_out = path

    @property
    def per_frame(self) -> bool:
        """Whether each arrival is looked at."""
        return bool(self.queues[0].per_frame)

    @property
    def lines(self) -> list[IrqLine]:
        """The queues' interrupt lines."""
        return [queue.line for queue in self.queues]

    @property
    def uncounted_bytes(self) -> int:
        """See `Nic.uncounted_bytes`."""
        return self.queues[0].uncounted_bytes

    @property
    def rx_packets(self) -> int:
        """Frames received by all queues."""
        return sum(queue.rx_packets for queue in self.queues)

    @property
    def rx_bytes(self) -> int:
        """Bytes received by all queues."""
        return sum(queue.rx_bytes for queue in self.queues)

    @property
    def tx_packets(self) -> int:
        """Frames sent by all queues."""
        return sum(queue.tx_packets for queue in self.queues)

    @property
    def tx_bytes(self) -> int:
        """Bytes sent by all queues."""
        return sum(queue.tx_bytes for queue in self.queues)

    @property
    def drops(self) -> int:
        """Frames that found no buffer in their queue's ring."""
        return sum(queue.drops for queue in self.queues)

    @property
    def qdisc_drops(self) -> int:
        """Frames that found no room in their queue's queueing discipline."""
        return sum(queue.qdisc_drops for queue in self.queues)

    def out_of_order(self) -> tuple[int, ...]:
        """No queue has a reorder window."""
        return ()

    def advance(self, now: cython.longlong) -> cython.int:
        """Bring all queues up to `now`."""
        nic: Nic
        for nic in self.queues:
            nic.advance(now)
        return 0

    def obey_rules(self) -> FlowRules:
        """Ask rules before RSS from now on, if it was none so far; return them."""
        if self.rules is None:
            self.rules = FlowRules()
        return self.rules

    # -- receive --------------------------------------------------------------------------------

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`: sort them."""
        skb: Skb
        nic: Nic
        number: cython.int
        word: cython.int
        left: cython.longlong
        while self.incoming.count > 0:
            skb = self.incoming.pop()
            number = -1
            if self.rules is not None:
                number = self.rules.take(skb.header)
            if number < 0:
                number = self.rss.queue(skb.header)
            nic = cython.cast(Nic, self.queues[number])
            nic.incoming.append(skb)
            word = number // _WORD_BITS
            self.touched[word] = self.touched[word] | _ONE << number % _WORD_BITS
        for word in range(len(self.touched)):
            left = self.touched[word]
            self.touched[word] = 0
            while left != 0:
                number = word * _WORD_BITS + lowest_bit(left)
                nic = cython.cast(Nic, self.queues[number])
                nic.frames_added()
                left &= left - 1
        return 0

    def rx_queue(self, header: Header | None) -> cython.int:
        """The queue that a frame with this header is put into: by a rule, or by RSS."""
        number: cython.int = -1
        if self.rules is not None:
            number = self.rules.queue(header)
        return number if number >= 0 else self.rss.queue(header)

    def frames_lost(self) -> cython.int:
        """Frames that were announced will not come."""
        nic: Nic
        for nic in self.queues:
            nic.frames_lost()
        return 0

    def drop_in_flight(self, now: cython.longlong) -> cython.longlong:
        """The cable is pulled: lose what has not arrived by `now`; return how many frames."""
        nic: Nic
        lost: cython.longlong = 0
        for nic in self.queues:
            lost += nic.drop_in_flight(now)
        return lost

    # -- transmit -------------------------------------------------------------------------------

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a frame of no socket: it goes by the first queue."""
        nic: Nic = self.queues[0]
        return nic.transmit(skb)

    def flush(self) -> cython.int:
        """End of a burst of no socket."""
        nic: Nic = self.queues[0]
        return nic.flush()

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What a frame of no socket costs from `cpu`."""
        nic: Nic = self.queues[0]
        return nic.transmit_cost_ps(cpu)


def queues_of(port: Any) -> list[Any]:
    """The queues of a port, by number; the port itself where it is one."""
    return list(port.queues) if isinstance(port, MultiqueuePort) else [port]
