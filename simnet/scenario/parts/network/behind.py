"""The hosts behind a port of a server, and how connections with them are made."""

from typing import Final

from simnet.kernel.histogram import LogHistogram
from simnet.net.link.skb import Header, Station
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.steering.steering import SocketFlowTable
from simnet.net.tcp.socket import TcpSocket
from simnet.scenario.parts.network.join import join
from simnet.scenario.parts.nic.build import send_by, tx_rules
from simnet.scenario.parts.tcp.build import (
    frame_overhead_bytes,
    receiver_settings,
    sender_settings,
    socket_maker,
)
from simnet.scenario.system.ground import Ground
from simnet.time_units import PS_PER_S
from simnet.workload.far_side import FarSide

# net.ipv4.ip_local_port_range
FIRST_LOCAL_PORT: Final = 32768
LOCAL_PORTS: Final = 61000 - FIRST_LOCAL_PORT


class HostsBehind:
    """What is behind one port of the machine: as many hosts as the addresses say.

    Args:
        ground: the machine with its ports.
        number: of the port; the peer of the same number says what each of the hosts is.
        path: component path of the hosts.
        flows: where the machine's sockets record the CPUs that use them; None: nowhere.
    """

    def __init__(
        self, ground: Ground, number: int, path: str, flows: SocketFlowTable | None = None
    ) -> None:
        effective = ground.effective
        self.ground = ground
        self.host = effective.host
        self.own_port = self.host.ports[number]
        self.nic = ground.ports[number]
        self.far_host = effective.peers[number]
        self.far_port = self.far_host.ports[0]
        self.latency = LogHistogram()
        self._sockets = socket_maker(
            self.host,
            self.own_port,
            ground.machine,
            self.nic,
            seed=ground.seed,
            far=self.far_port,
            latency=self.latency,
            flows=flows,
        )
        self._rules = tx_rules(self.host)
        self.here, self.there = Station(2 * number), Station(2 * number + 1)
        self.far = RemoteHosts(ground.sim, path, self.far_port.nic.link_rate_bps)
        join(ground, self.nic, self.far, self.far)

    def header(self, connection: int) -> Header:
        """Addresses of the frames that come from there."""
        raise NotImplementedError

    def side(self, *, service_ps: int = 0) -> FarSide:
        """What a workload needs to know of it."""
        return FarSide(
            far=self.far,
            make_socket=self.socket,
            sender=sender_settings(self.far_host, self.far_port, self.own_port),
            receiver=receiver_settings(self.far_host, self.far_port),
            jiffy_ps=PS_PER_S // self.far_host.kernel.hz,
            overhead_bytes=frame_overhead_bytes(self.far_host),
            make_header=self.header,
            service_ps=service_ps,
        )

    def socket(self, path: str, coming: Header) -> TcpSocket:
        """The machine's end of a connection; `coming` has the addresses of what comes on it."""
        ground = self.ground
        socket = self._sockets.make(f"{path}.socket")
        socket.header = coming.turned()
        send_by(self.nic, socket, ground.machine, self._rules, socket.header, seed=ground.seed)
        return socket
