"""A relay on a small machine with a single-queue device on each side."""

from __future__ import annotations

from typing import Any

from simnet.host.interrupt import IrqLine
from simnet.host.machine import Machine
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station, SwitchedPath
from simnet.net.nic.tg3 import Tg3
from simnet.net.remote.hosts import RemoteHosts
from simnet.workload.far_side import FarSide
from simnet.workload.relay_system import Load, Relay, Workers, connect_relay
from tests.host.parts import make_costs, make_machine, make_memory
from tests.net.parts import (
    GIGABIT,
    JIFFY_PS,
    make_socket,
    make_tg3,
    receiver_settings,
    sender_settings,
)

COSTS_NS = {
    "hardirq": 1200,
    "softirq_entry": 200,
    "poll": 300,
    "driver_rx": 700,
    "skb_alloc": 150,
    "skb_free": 100,
    "ip_rx": 300,
    "tcp_rx": 500,
    "backlog": 100,
    "ack_tx": 800,
    "ack_rx": 400,
    "tcp_tx": 1500,
    "tx_completion": 200,
    "wakeup": 700,
    "context_switch": 800,
    "ipi": 500,
    "syscall": 300,
    "copy_line": 20,
    "user_relay": 1000,
    "epoll_event": 150,
}


# TCP of a far host: Linux 2.6.18 with HZ 250
FAR_SENDER = sender_settings(mss=1448, segment_truesize=1850)
FAR_RECEIVER = receiver_settings(advmss=1448)


class RelayRig:
    """The machine `host`, devices `front` and `back`, and the relay between them."""

    def __init__(
        self,
        *,
        connections: int = 4,
        workers: Workers | None = None,
        load: Load | None = None,
        seed: int = 1,
        cpus: int = 4,
        nic: dict[str, Any] | None = None,
        sender: dict[str, Any] | None = None,
        costs_ns: dict[str, int] | None = None,
    ) -> None:
        self.sim = Simulator()
        self.machine: Machine = make_machine(
            self.sim,
            costs=make_costs(**(COSTS_NS if costs_ns is None else costs_ns)),
            memory=make_memory(same_bus_dirty_ps=60_000),
            cores_per_socket=cpus,
        )
        self.latency = LogHistogram()
        self.sender = sender
        self.front, self.nic = self._port("front", 1, nic or {})
        self.back, self.other_nic = self._port("back", min(2, 1 << (cpus - 1)), nic or {})
        self.relay: Relay = connect_relay(
            self.sim,
            self.machine,
            front=self.front,
            back=self.back,
            connections=connections,
            workers=workers or Workers([frozenset({n}) for n in range(cpus)]),
            load=load or Load(rate_mhz=10**7, sizes=[(200, 1)]),
            seed=seed,
        )

    def _port(self, name: str, mask: int, nic: dict[str, Any]) -> tuple[FarSide, Tg3]:
        device = make_tg3(self.sim, self.machine, name=name, **nic)
        device.line = IrqLine(176 + mask, name, self.machine.cpus, mask)
        far = RemoteHosts(self.sim, f"far.{name}", GIGABIT)
        far.path_out = SwitchedPath(
            self.sim, f"{name}.in", device, GIGABIT, 100_000, 2_000_000, per_frame=False
        )
        device.path_out = SwitchedPath(
            self.sim, f"{name}.out", far, GIGABIT, 100_000, 2_000_000, per_frame=False
        )
        here, there = Station(1), Station(2)

        def socket(path: str, coming: Header) -> Any:  # noqa: ARG001 - all are alike
            return make_socket(
                self.sim,
                self.machine,
                device,
                path,
                remote=False,
                sender={"mss": 1448} | (self.sender or {}),
                receiver={"advmss": 1448},
                shared_lines=4,
                latency=self.latency,
            )

        port = FarSide(
            far,
            socket,
            FAR_SENDER,
            FAR_RECEIVER,
            JIFFY_PS,
            90,
            lambda number: Header(there, here, 10 << 24 | number, 1, 1024, 80),
        )
        return port, device

    def run(self, time_ps: int) -> RelayRig:
        """Go on for so long."""
        self.sim.run_until(self.sim.now + time_ps)
        return self

    def drain(self, time_ps: int) -> RelayRig:
        """Create no more messages and let those on their way arrive."""
        assert self.relay.load is not None
        self.relay.load.stop()
        return self.run(time_ps)

    def packets(self) -> int:
        """Packets that both devices have received."""
        return int(self.nic.rx_packets + self.other_nic.rx_packets)
