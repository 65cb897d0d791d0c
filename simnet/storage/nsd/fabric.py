"""The network between the clients and the servers of a parallel file system.

Each client has one connection to each server: two flows. A client uses one port, and has another in
reserve; a server's ports are a `Lag`. The bus of an adapter is a link of its own if several of its
ports are in use, else the narrower of both bounds the port.

When a link goes, what was in flight is lost. TCP sends it again when its retransmission timer
expires, which helps once there is another way: the timer doubles until then.
"""

from simnet.kernel.component import Component
from simnet.kernel.priority import NIC
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, FlowLink
from simnet.net.fluid.flow_fabric import FlowFabric
from simnet.net.fluid.lag import Address, Lag
from simnet.storage.nsd.model import FabricModel, PortModel

_TO_SERVER, _TO_CLIENT = 0, 1
_LOOK, _TICK, _OVER = 0, 1, 2
_TICK_PS = 10**11
_GPFS_PORT = 1191
# AIX: tcp_ephemeral_low, tcp_ephemeral_high
_EPHEMERAL_LOW, _EPHEMERAL = 32768, 32768
_CLIENT_IP = 0x0A010001
_SERVER_IP = 0x0A010065
_CLIENT_MAC = 0x0002C9000000
_SERVER_MAC = 0x0002C9100000
# adapters of one kind have addresses with gaps
_MAC_STEP = 0x10


class NsdFabric(Component):
    """Ports, switch and connections.

    Args:
        model: what it is.
        seed: of the clients' TCP ports.

    Attributes:
        flows: what carries messages.
        lags: the ports of each server.
    """

    def __init__(self, sim: Simulator, path: str, model: FabricModel, seed: int) -> None:
        super().__init__(sim, path)
        self.model = model
        self.flows = FlowFabric(
            sim,
            f"{path}.flows",
            2,
            small_bytes=model.message_bytes,
            pause=model.pause,
            xoff_bytes=model.xoff_bytes,
        )
        clients, servers = range(model.clients), range(model.servers)
        # by direction, then by client or by server and port
        self.client_links = [
            [_port(f"client{c}.{way}", model.client_port) for c in clients] for way in ("tx", "rx")
        ]
        self.server_links = [
            [self._server_ports(f"server{s}", way) for s in servers] for way in ("rx", "tx")
        ]
        self.bus_links = [
            [self._server_buses(f"server{s}", way) for s in servers] for way in ("rx", "tx")
        ]
        self.lags = [self._lag(seed, server) for server in servers]
        self.sent_before = [[0] * model.clients for _ in servers]
        self.standby = [1] * model.clients
        self.pairs = [
            [[self._connect(way) for _ in servers] for _ in clients]
            for way in (_TO_SERVER, _TO_CLIENT)
        ]
        self.looking = [False] * model.servers
        for client in clients:
            for server in servers:
                self._lead(client, server)

    def _server_ports(self, name: str, way: str) -> list[FlowLink]:
        model = self.model
        return [
            _port(f"{name}.port{port}.{way}", model.server_port, model.adapter_ports)
            for port in range(model.server_ports)
        ]

    def _server_buses(self, name: str, way: str) -> list[FlowLink]:
        model = self.model
        if model.adapter_ports == 1:
            return []
        rate = model.server_port.bus_bytes_s
        return [
            FlowLink(f"{name}.pcie{adapter}.{way}", rate)
            for adapter in range(model.server_adapters)
        ]

    def _lag(self, seed: int, server: int) -> Lag:
        model = self.model
        path = f"{self.path}.server{server}"
        luck = stream(seed, f"{path}.ports")
        end = Address(_SERVER_MAC + server * _MAC_STEP, _SERVER_IP + server, _GPFS_PORT)
        clients = [
            Address(
                _CLIENT_MAC + c * _MAC_STEP, _CLIENT_IP + c, _EPHEMERAL_LOW + luck.below(_EPHEMERAL)
            )
            for c in range(model.clients)
        ]
        return Lag(
            self.sim, path, model.lag_mode, model.xmit_hash_policy, model.server_ports, end, clients
        )

    def _connect(self, way: int) -> Flow:
        model = self.model
        frame_ps = 8 * 10**12 * model.client_port.frame_bytes // model.client_port.rate_bps
        wires_ps = model.switch_latency_ps + 2 * model.cable_delay_ps
        return self.flows.connect(
            way,
            window_bytes=model.window_bytes,
            round_trip_ps=model.round_trip_ps,
            latency_ps=frame_ps + wires_ps + model.client_stack_ps + model.server_stack_ps,
            most_bytes_s=model.connection_bytes_s,
        )

    # -- ways -----------------------------------------------------------------------------

    def _lead(self, client: int, server: int) -> None:
        """Lead both flows of a connection by the ports that are theirs now."""
        lag, model = self.lags[server], self.model
        for way in (_TO_SERVER, _TO_CLIENT):
            port = lag.receive_port(client) if way == _TO_SERVER else lag.transmit_port(client)
            if port < 0:
                continue
            ends = [self.server_links[way][server][port]]
            if self.bus_links[way][server]:
                bus = self.bus_links[way][server][port // model.adapter_ports]
                ends = [*ends, bus] if way == _TO_SERVER else [bus, *ends]
            near = self.client_links[way][client]
            links = [near, *ends] if way == _TO_SERVER else [*ends, near]
            flow = self.pairs[way][client][server]
            if flow.links != links:
                self.flows.route(flow, links, 1 if way == _TO_SERVER else len(ends))

    def connections(self, *, to_client: bool) -> list[Flow]:
        """All flows of one direction, by client and then by server."""
        return [flow for flows in self.pairs[int(to_client)] for flow in flows]

    def rebalance(self) -> None:
        """balance-alb: assign ports anew, as the timer would have since traffic came last."""
        clients = range(self.model.clients)
        for server, lag in enumerate(self.lags):
            sent = [self.pairs[_TO_CLIENT][client][server].bytes for client in clients]
            before = self.sent_before[server]
            lag.rebalance([sent[client] - before[client] for client in clients])
            self.sent_before[server] = sent
            for client in clients:
                self._lead(client, server)

    # -- failures -------------------------------------------------------------------------

    def fail_port(self, server: int, port: int) -> None:
        """Pull the cable of a server's port."""
        self._cable(server, port, up=False)
        gone = {self.server_links[way][server][port] for way in (_TO_SERVER, _TO_CLIENT)}
        for client in range(self.model.clients):
            for way in (_TO_SERVER, _TO_CLIENT):
                flow = self.pairs[way][client][server]
                if gone.intersection(flow.links):
                    self.flows.stall(flow, self.model.retransmit_ps)
            # the switch knows at once, the server when it looks
            self._lead(client, server)

    def restore_port(self, server: int, port: int) -> None:
        """Plug the cable in again."""
        self._cable(server, port, up=True)

    def _cable(self, server: int, port: int, *, up: bool) -> None:
        lag = self.lags[server]
        if not 0 <= port < len(lag.slaves) or lag.slaves[port].carrier == up:
            raise ValueError(f"{self.path}: server {server} has no such port {port}")
        if not up and sum(other.carrier for other in lag.slaves) == 1:
            raise ValueError(f"{self.path}: port {port} is the last of server {server}")
        lag.slaves[port].carrier = up
        for way in (_TO_SERVER, _TO_CLIENT):
            self.server_links[way][server][port].up = up
        look_ps = (self.sim.now // self.model.miimon_ps + 1) * self.model.miimon_ps
        self.sim.at(look_ps, self, _LOOK, server, NIC)

    def fail_client_port(self, client: int) -> None:
        """Pull the cable of a client's port: the one in reserve takes over.

        Raises:
            ValueError: there is none.
        """
        if not self.standby[client]:
            raise ValueError(f"{self.path}: client {client} has no port in reserve")
        self.standby[client] = 0
        for way in (_TO_SERVER, _TO_CLIENT):
            self.client_links[way][client].up = False
            for flow in self.pairs[way][client]:
                self.flows.stall(flow, self.model.retransmit_ps)
        self.sim.after(self.model.failover_ps, self, _OVER, client, NIC)

    def on_event(self, kind: int, arg: int) -> None:
        """The MII monitor looks, balance-alb's timer ticks, or a reserve port takes over."""
        if kind == _OVER:
            for way in (_TO_SERVER, _TO_CLIENT):
                self.client_links[way][arg].up = True
            return
        lag = self.lags[arg]
        again = lag.tick() if kind == _TICK else lag.look() and lag.mode == "balance-alb"
        if again and not (kind == _LOOK and self.looking[arg]):
            self.looking[arg] = True
            self.sim.at((self.sim.now // _TICK_PS + 1) * _TICK_PS, self, _TICK, arg, NIC)
        elif kind == _TICK:
            self.looking[arg] = False
        for client in range(self.model.clients):
            self._lead(client, arg)


def _port(name: str, port: PortModel, ports: int = 1) -> FlowLink:
    """One direction of a port, and of its adapter's bus if it is the only one in use there."""
    rate = port.goodput_bytes_s
    return FlowLink(name, min(rate, port.bus_bytes_s) if ports == 1 else rate)
