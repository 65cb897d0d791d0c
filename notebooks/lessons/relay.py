"""A relay small enough for a lesson, and probes that note where each packet is worked on.

TCP gets a packet when ``receive(skb, cpu)`` of its socket is called. A probe stands in between and
hands the packet on; nothing else in the system changes by that, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from simnet.net.link.skb import Endpoint
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.run import run

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.host.interrupt import IrqLine
    from simnet.kernel.simulator import Simulator
    from simnet.net.link.skb import Skb
    from simnet.net.tcp.socket import TcpSocket
    from simnet.scenario.system.system import System
    from simnet.study.run.result import Result
    from simnet.workload.relay import RelayWorker

#: few clients, and workers with equal shares of them: what is left differs by CPU alone
SMALL: Final = {"relay.connections": "300", "relay.rate_spread": "1", "relay.balance": "balanced"}
_MS: Final = 10**9
_MOST_OF: Final = 0.99
_WARM_UP_PS: Final = 50 * _MS
_MEASURED_PS: Final = 100 * _MS
_COLUMNS: Final = ("socket", "arrived", "data", "queue", "TCP", "worker")


class _Probe(Endpoint):
    """Stands between IP and TCP of a connection, and notes every packet."""

    def __init__(
        self,
        sim: Simulator,
        socket: TcpSocket,
        line: IrqLine,
        worker: RelayWorker,
        log: list[tuple[Any, ...]],
    ) -> None:
        super().__init__(sim, f"{socket.path}.probe")
        self.socket, self.line, self.worker, self.log = socket, line, worker, log

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        """A packet goes to TCP on a CPU."""
        interrupted = self.line.current_target().cpu_id
        data = skb.end_seq > skb.seq
        places = (interrupted, cpu.cpu_id, self.worker.cpu.cpu_id)
        self.log.append((self.socket.path, skb.arrival_ps, data, *places))
        return self.socket.receive(skb, cpu)

    def fetch(self, data: bool) -> int:  # noqa: FBT001 (from compiled code)
        """The NIC is about to look at the connection: who freed the last buffer?"""
        self.freer = self.socket.freer
        return int(self.socket.fetch(data))


def p99_ms(one: Result) -> float:
    """The 99th percentile of latency of all that was offered; infinite where 1 % has not come."""
    messages = one.messages
    if messages is None or messages.delivered < _MOST_OF * messages.offered:
        return inf
    return (messages.latency_us.p99 or inf) / 1000


@dataclass(frozen=True)
class SmallRelay:
    """A relay with few connections.

    Attributes:
        scenario: of a relay.
    """

    scenario: str

    def measured(
        self,
        tunings: Sequence[str],
        rate: int,
        settings: Mapping[str, str] | None = None,
        ms: int = 150,
    ) -> Result:
        """Run it at so many messages a second, `ms` long after a warm-up of 50 ms."""
        asked = SMALL | {"relay.rate": str(rate)} | dict(settings or {})
        return run(
            self.scenario, tunings=tunings, settings=asked, duration=f"{ms} ms", warm_up="50 ms"
        )

    def probed(
        self, tunings: Sequence[str], settings: Mapping[str, str], tracer: Any = None
    ) -> tuple[System, list[tuple[Any, ...]]]:
        """Build it with a probe in each connection.

        Args:
            tunings: of the scenario.
            settings: more knobs.
            tracer: is told what each CPU does; see `simnet.study.run.trace`.

        Returns:
            The system, and the list that the probes fill: path of the socket, time of arrival in
            ps, whether there is payload, and the CPUs of queue, TCP and worker.
        """
        effective = load(self.scenario, tunings=tunings, settings=SMALL | dict(settings))
        system = build(effective, seed=1, tracer=tracer)
        relay = system.parts["relay"]
        log: list[tuple[Any, ...]] = []
        far_ends = relay.clients, relay.servers
        nics: Sequence[Any] = system.nics
        for port, sides, ends in zip(nics, (relay.fronts, relay.backs), far_ends, strict=True):
            for side, end, worker in zip(sides, ends, relay.handed, strict=True):
                queue = port.queues[port.rss.queue(end.endpoint.header)]
                probe = _Probe(system.env.sim, side.socket, queue.line, relay.workers[worker], log)
                end.endpoint.connect(probe)
        return system, log

    def packets(self, tunings: Sequence[str], settings: Mapping[str, str]) -> pd.DataFrame:
        """Every packet of 100 ms, after 50 ms of warm-up, and the CPUs that worked on it."""
        system, log = self.probed(tunings, settings)
        system.run(_WARM_UP_PS)
        log.clear()
        system.run(_MEASURED_PS)
        return pd.DataFrame(log, columns=list(_COLUMNS))

    def queue_shares(self, tunings: Sequence[str], settings: Mapping[str, str]) -> pd.DataFrame:
        """Which share of connections, and of their packets, each receive queue has, in percent."""
        system, _ = self.probed(tunings, settings)
        relay = system.parts["relay"]
        port: Any = system.nics[0]
        queues = [port.rss.queue(client.endpoint.header) for client in relay.clients]
        clients = pd.DataFrame({"queue": queues, "weight": relay.weights})
        weights = clients.groupby("queue")["weight"]
        found = pd.DataFrame({"connections": weights.count(), "packets": weights.sum()})
        return 100 * found / found.sum()
