"""A port with several queues on a machine of its own."""

from typing import Any

from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station, SwitchedPath
from simnet.net.nic.multiqueue import MultiqueuePort, XpsMap
from simnet.net.nic.port import Nic
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz, equal_table
from tests.net.parts import GIGABIT, Far, make_bnx2

HERE, THERE = Station(1), Station(2)
SERVER = 0x0A000001


def connection(number: int) -> Header:
    """What comes from client `number`."""
    return Header(THERE, HERE, 0x0A010000 + number, SERVER, 40_000 + number, 80)


def make_port(
    sim: Simulator,
    machine: Machine,
    queues: int = 4,
    *,
    make: Any = make_bnx2,
    tx_queues: int | None = None,
    first: int = 0,
    name: str = "eth0",
    xps: list[list[int]] | None = None,
    **options: Any,
) -> MultiqueuePort:
    """A port whose queue k interrupts CPU k."""
    nics: list[Nic] = [
        make(sim, machine, name=f"{name}-{number}", mask=1 << number % len(machine.cpus), **options)
        for number in range(queues)
    ]
    port = MultiqueuePort(
        sim,
        f"{machine.path}.{name}",
        name,
        nics,
        tx_queues=tx_queues or queues,
        rss=Rss(Toeplitz(MICROSOFT_KEY), equal_table(128, queues - first, first)),
        xps=None if xps is None else XpsMap(len(machine.cpus), xps),
    )
    far = Far(sim, f"{machine.path}.{name}.far")
    port.path_out = SwitchedPath(
        sim, f"{machine.path}.{name}.wire", far, GIGABIT, 0, 0, per_frame=False
    )
    return port
