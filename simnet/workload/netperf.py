"""netperf TCP_STREAM, UDP_STREAM, TCP_RR and UDP_RR: netperf on one side, netserver on the other.

Source: netperf 2.4 (nettest_bsd.c). TCP_STREAM: netserver calls recv with a buffer as large as its
receive socket buffer until the peer closes; netperf calls send with messages of one size in a
loop; UDP_STREAM: likewise, in datagrams. TCP_RR and UDP_RR: netperf sends a request and waits for
the response; latency is that round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cython

from simnet.kernel.component import Component
from simnet.net.tcp.process import TcpReader, TcpWriter
from simnet.net.tcp.transaction import TcpTransactor
from simnet.net.udp.transaction import UdpTransactor
from simnet.net.udp.writer import UdpWriter

if TYPE_CHECKING:
    from simnet.host.scheduler import Task
    from simnet.kernel.simulator import Simulator


@cython.final
@cython.cclass
class Netserver(TcpReader):
    """The receiving process."""


@cython.final
@cython.cclass
class Netperf(TcpWriter):
    """The sending process."""


@cython.final
@cython.cclass
class Requester(TcpTransactor):
    """netperf in TCP_RR."""


@cython.final
@cython.cclass
class Responder(TcpTransactor):
    """netserver in TCP_RR."""


@cython.final
@cython.cclass
class DatagramRequester(UdpTransactor):
    """netperf in UDP_RR."""


@cython.final
@cython.cclass
class DatagramResponder(UdpTransactor):
    """netserver in UDP_RR."""


@cython.final
@cython.cclass
class DatagramSender(UdpWriter):
    """netperf in UDP_STREAM."""


class Start(Component):
    """Starts a process at a given time: a shell on the first CPU executes it."""

    def __init__(self, sim: Simulator, path: str, task: Task, time_ps: int) -> None:
        super().__init__(sim, path)
        self.task = task
        sim.at(time_ps, self, 0, 0, 2)

    def on_event(self, kind: int, arg: int) -> None:
        """Make the process runnable where exec puts it."""
        scheduler = self.task.scheduler
        cpu = scheduler.exec_cpu(self.task, scheduler.cpus[0])
        self.task.cpu = cpu
        self.task.wake_on(cpu)
        cpu.kick()
