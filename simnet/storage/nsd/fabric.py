"""The network between the clients and the servers of a parallel file system.

Each client has one connection to each server: two flows. A client uses one port, and has another in
reserve; a server's ports are a `Lag`. The bus of an adapter is a link of its own if several of its
ports are in use, else the narrower of both bounds the port.
"""

from simnet.kernel.component import Component
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, FlowLink
from simnet.net.fluid.flow_fabric import FlowFabric
from simnet.net.fluid.lag import Address, Lag
from simnet.storage.nsd.model import FabricModel, PortModel

_TO_SERVER, _TO_CLIENT = 0, 1
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
    """

    def __init__(self, sim: Simulator, path: str, model: FabricModel, seed: int) -> None:
        super().__init__(sim, path)
        self.model = model
        # what carries messages
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
        self.lags = [self._lag(seed, server) for server in servers]  # the ports of each server
        self.sent_before = [[0] * model.clients for _ in servers]
        self.pairs = [
            [[self._connect(way) for _ in servers] for _ in clients]
            for way in (_TO_SERVER, _TO_CLIENT)
        ]
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


def _port(name: str, port: PortModel, ports: int = 1) -> FlowLink:
    """One direction of a port, and of its adapter's bus if it is the only one in use there."""
    rate = port.goodput_bytes_s
    return FlowLink(name, min(rate, port.bus_bytes_s) if ports == 1 else rate)
