"""One device of a server, the hosts behind it, and connections with them."""

from dataclasses import dataclass
from typing import Any

import cython

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.tcp.endpoint import TcpEndpoint
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.socket import TcpSocket


@cython.final
@cython.cclass
@dataclass(frozen=True)
class FarSide:
    """A device, and what is behind it."""

    # the hosts behind it; both paths between it and the device are the caller's to make
    far: RemoteHosts
    # (component path, addresses in the frames from there) gives the machine's end. Its `nic`
    # is set; its `remote` and windows are set here. Let all sockets share one `latency`
    # histogram: one of their own takes 57 KiB.
    make_socket: Any
    # of TCP's two halves on a far host, by its kernel's rules
    sender: SenderSettings
    receiver: ReceiverSettings
    jiffy_ps: int  # of the far hosts
    overhead_bytes: int  # what a segment from there takes on the wire beyond its payload
    make_header: Any  # (number) gives the addresses in the frames from there
    service_ps: int = 0  # from a frame's arrival at a far host to its processing by TCP there

    def connect(self, sim: Simulator, number: cython.int, application: Any, path: str) -> TcpSocket:
        """Make both ends of a connection, established; return the machine's.

        Args:
            sim: the simulation.
            number: of the connection.
            application: what uses the far end; its `endpoint` is set.
            path: component path of the connection.
        """
        header: Header = self.make_header(number)
        socket: TcpSocket = self.make_socket(path, header)
        end: TcpEndpoint = TcpEndpoint(
            sim,
            f"{path}.far",
            sender=TcpSender(self.sender),
            receiver=TcpReceiver(self.receiver),
            application=application,
            path_out=self.far.uplink,
            jiffy_ps=self.jiffy_ps,
            overhead_bytes=self.overhead_bytes,
            service_ps=self.service_ps,
        )
        application.endpoint = end
        end.connect(socket)
        socket.connect(end)
        end.header = header
        end.sender.open_window(socket.receiver.offered_by_syn())
        socket.sender.open_window(end.receiver.offered_by_syn())
        return socket
