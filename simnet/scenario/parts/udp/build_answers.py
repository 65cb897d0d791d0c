"""Build what answers datagrams: workers, and what their answers leave by and come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.host.costs import SharedLines, cycles_ps
from simnet.net.udp.clients import Answers, Client
from simnet.net.udp.output import UdpOutput
from simnet.net.udp.server import UdpServer
from simnet.scenario.parts.nic.build import tx_choice, tx_queue, tx_rules
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.net.link.skb import Header
    from simnet.net.udp.socket import UdpSocket
    from simnet.scenario.parts.udp.build_sockets import Sockets
    from simnet.scenario.parts.udp.schema import Udp
    from simnet.scenario.system.ground import Ground


class Serving:
    """The workers' answers.

    Args:
        ground: what it is built on.
        given: what the scenario says.
        made: what makes sockets of the host.
        headers: of the flows, as they come.
    """

    def __init__(self, ground: Ground, given: Udp, made: Sockets, headers: list[Header]) -> None:
        self.ground = ground
        self.given = given
        self.made = made
        self.clients = [self._client(header.turned()) for header in headers]  # who asks, by flow
        self.outputs: list[UdpOutput] = []  # by which the workers send
        self.answers: list[Answers] = []  # where theirs come to
        self._memory: dict[str, SharedLines] = {}

    @property
    def refused(self) -> int:
        """Answers that the queueing discipline has refused (`SndbufErrors`)."""
        return sum(one.sndbuf_errors for one in self.outputs)

    @property
    def arrived(self) -> int:
        """Answers that have come to who asked."""
        return sum(one.received for one in self.answers)

    def worker(
        self,
        path: str,
        cpu: Cpu,
        socket: UdpSocket,
        service_ps: int,
        allowed: frozenset[int] | None,
    ) -> UdpServer:
        """Make a worker that answers by a socket.

        What the socket may have on its way is counted for each worker.
        """
        ground, made = self.ground, self.made
        host = ground.effective.host
        port = host.ports[0]
        answers = Answers(ground.sim, f"{path}.answers")
        output = UdpOutput(
            ground.sim,
            f"{path}.output",
            nic=self.clients[0].nic,
            remote=answers,
            header=self.clients[0].header,
            costs=made.costs(port),
            tx_ps=cycles_ps(self.given.sendmsg_cycles, host.cpu.clock_hz),
            length=self.given.answer_bytes,
            overhead_bytes=port.nic.link_overhead_bytes + UDP_HEADERS_BYTES,
            sndbuf=host.kernel.wmem_default_bytes,
            wakeups=made.wakeups(),
        )
        self.outputs.append(output)
        self.answers.append(answers)
        memory = SharedLines(ground.machine.memory, 1)
        return UdpServer(
            ground.machine.scheduler,
            path,
            cpu,
            socket,
            output,
            self.clients,
            sent_lines=self._memory.setdefault(socket.path, memory),
            service_ps=service_ps,
            batch=self.given.batch,
            allowed=allowed,
        )

    def _client(self, header: Header) -> Client:
        ground = self.ground
        given = (ground.ports[0], ground.machine, tx_rules(ground.effective.host), header)
        return Client(
            header, tx_queue(*given, seed=ground.seed), *tx_choice(*given, seed=ground.seed)
        )
