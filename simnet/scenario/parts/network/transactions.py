"""Build the two processes of a connection with requests and responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simnet.kernel.random import stream
from simnet.workload.netperf import Requester, Responder, Start

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.net.link.skb import Header
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.net.tcp.socket import TcpSocket
    from simnet.scenario.core.effective import Flow
    from simnet.scenario.core.files import Workload
    from simnet.scenario.parts.steering.build import HostSteering


@dataclass(frozen=True)
class FlowEnds:
    """The two machines that a flow joins."""

    flow: Flow  # its configuration
    # the system, and its port
    machine: Machine
    nic: Nic | MultiqueuePort
    # likewise at the other end
    peer: Machine
    peer_nic: Nic | MultiqueuePort
    peer_steering: HostSteering | None  # of the peer
    headers: tuple[Header, Header]  # of what the system sends, and of what its peer does
    allowed: frozenset[int] | None  # CPUs that the system's process may run on; None for all
    begin_ps: int  # when it begins


@dataclass(frozen=True)
class End:
    """One end of a connection."""

    machine: Machine  # where it is
    socket: TcpSocket  # of the connection
    allowed: frozenset[int] | None  # CPUs that its process may run on; None for all


def make_transactions(
    flow: Flow, workload: Workload, asking: End, answering: End, *, seed: int, begin_ps: int
) -> tuple[Requester, Responder]:
    """Return the process that sends requests, and the one that answers them.

    Args:
        flow: the connection.
        workload: what an answer takes, and how long the asking process thinks.
        asking: where requests come from.
        answering: where they go.
        seed: of all random streams.
        begin_ps: when the first request is sent.
    """
    path = f"flow.{flow.name}.netserver"
    server = Responder(
        answering.machine.scheduler,
        path,
        answering.machine.cpus[0],
        answering.socket,
        (flow.recv_bytes,),
        flow.message_bytes,
        begins=False,
        allowed=answering.allowed,
        service_ps=workload.service_ps,
    )
    Start(server.sim, f"{path}.start", server, 0)
    path = f"flow.{flow.name}.netperf"
    client = Requester(
        asking.machine.scheduler,
        path,
        asking.machine.cpus[0],
        asking.socket,
        workload.writes_bytes or (flow.message_bytes,),
        flow.recv_bytes,
        begins=True,
        allowed=asking.allowed,
        think=(workload.think_ps, stream(seed, f"{path}.think")) if workload.think_ps else None,
    )
    Start(client.sim, f"{path}.start", client, begin_ps)
    return client, server
