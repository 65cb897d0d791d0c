"""A Chelsio T5 on a machine of its own."""

from collections.abc import Callable
from typing import Any

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.gro import Gro, gro_rules
from simnet.net.link.skb import Endpoint, Skb, new_skb
from simnet.net.nic.cxgb4 import Cxgb4
from tests.host.parts import MS, US, make_costs, make_machine
from tests.net.parts import Line, connect, make_device

SEGMENT = 1448
KERNEL = "3.8"
COSTS = {"hardirq": 500, "poll": 100, "driver_rx": 200, "skb_alloc": 50, "ip_rx": 150}


class Log(Endpoint):
    """Logs (time, first byte, last plus one, PSH) of what is handed up."""

    def __init__(self, sim: Simulator, path: str = "log") -> None:
        super().__init__(sim, path)
        self.log: list[tuple[int, int, int, bool]] = []
        self.seen: Callable[[Skb], None] | None = None

    def receive(self, skb: Skb, cpu: Cpu) -> int:  # noqa: ARG002 - the interface of endpoints
        if self.seen is not None:
            self.seen(skb)
        self.log.append((self.sim.now, skb.seq, skb.end_seq, skb.push))
        return 0

    @property
    def bytes(self) -> list[tuple[int, int]]:
        return [(first, last) for _, first, last, _ in self.log]

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return [(first // SEGMENT, last // SEGMENT) for first, last in self.bytes]


class Bench:
    """A machine with one port."""

    def __init__(
        self,
        *,
        holdoff_ps: int = 5 * US,
        frames: int = 8,
        gro: bool = True,
        weight: int = 64,
        rx_buffers: int = 1023,
        tx_ring: int = 1023,
        tso: bool = False,
        **mode: Any,
    ) -> None:
        """Make it; `mode`: `kernel` is the version, `per_frame` the reference mode."""
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim, "host", make_costs(**COSTS, tx_completion=70), None, cores_per_socket=2
        )
        device = make_device(
            self.sim,
            self.machine,
            rate_bps=10**10,
            weight=weight,
            rx_buffers=rx_buffers,
            tx_ring=tx_ring,
        )
        self.nic = Cxgb4(
            device,
            holdoff_ps=holdoff_ps,
            frames=frames,
            gro=Gro(gro_rules(mode.get("kernel", KERNEL)), enabled=gro),
            tso=tso,
        )
        self.nic.per_frame = mode.get("per_frame", False)
        self.line = Line(self.sim, 50, "eth0", self.machine.cpus, 1)
        self.nic.line = self.line
        connect(self.nic, per_frame=False)
        self.log = Log(self.sim)

    def segment(self, number: int, log: Log | None = None, **options: Any) -> Skb:
        length = options.pop("length", SEGMENT)
        return new_skb(
            log or self.log,
            number * SEGMENT,
            number * SEGMENT + length,
            options.pop("ack", 0),
            0,
            length + 90,
            push=options.pop("push", False),
        )

    def feed(self, *arrivals: tuple[int, Skb]) -> None:
        """Announce frames that will arrive at the given times."""
        for time_ps, skb in arrivals:
            skb.arrival_ps = time_ps
            self.nic.incoming.append(skb)
            self.nic.frames_added()
        self.sim.run_until(arrivals[-1][0] + 10 * MS if arrivals else 0)
