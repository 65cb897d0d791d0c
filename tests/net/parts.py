"""A NIC on a machine of its own, and what it is connected to."""

from dataclasses import fields
from typing import Any

from simnet.host.costs import Buffers
from simnet.host.cpu import Cpu
from simnet.host.interrupt import IrqLine
from simnet.host.machine import Machine
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Port, Skb, SwitchedPath, new_skb
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.e1000 import E1000
from simnet.net.nic.e1000e import E1000e
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic
from simnet.net.nic.tg3 import Tg3
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.congestion.cubic import CongestionMaker
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.socket import TcpSocket
from simnet.net.tcp.socket_settings import SocketSettings
from tests.host.parts import MS

US = 10**6
GIGABIT = 10**9
JIFFY_PS = 4 * MS
# at 1 Gbit/s a frame of 125 bytes takes 1 us
US_BYTES = 125


class Sink(Endpoint):
    """Protocol layer that logs (time, CPU, sequence number) and causes `work_ps` of work."""

    def __init__(self, sim: Simulator, path: str = "sink", work_ps: int = 0) -> None:
        super().__init__(sim, path)
        self.work_ps = work_ps
        self.log: list[tuple[int, int, int]] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        self.log.append((self.sim.now, cpu.cpu_id, skb.seq))
        return self.work_ps


class Owner(Sink):
    """A socket whose memory is counted."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "owner")
        self.wmem = 0

    def queued(self, length: int) -> int:
        self.wmem += length
        return 0

    def wfree(self, length: int, cpu: Cpu) -> int:  # noqa: ARG002 - an endpoint's
        self.wmem -= length
        return 0


class Neighbour(Endpoint):
    """Logs when an ARP reply is taken."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim, "neighbour")
        self.log: list[int] = []

    def receive(self, skb: Skb, cpu: Cpu) -> int:  # noqa: ARG002 - an endpoint's
        self.log.append(self.sim.now)
        return 0


class Line(IrqLine):
    """An interrupt line that remembers when it was asserted."""

    def __init__(self, sim: Simulator, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.clock = sim
        self.asserted_ps: list[int] = []

    def route(self) -> Cpu:
        self.asserted_ps.append(self.clock.now)
        return super().route()


class Far(Port):
    """The other end of the wire: frames just pile up."""

    def __init__(self, sim: Simulator, path: str = "far") -> None:
        super().__init__(sim, path, 64)

    def frames_added(self) -> int:
        return 0


def connect(nic: Nic, *, per_frame: bool = False) -> Nic:
    """Give a NIC an interrupt line to CPU 0 and a wire."""
    nic.per_frame = per_frame
    far = Far(nic.sim, f"{nic.path}.far")
    nic.path_out = SwitchedPath(nic.sim, f"{nic.path}.wire", far, GIGABIT, 0, 0, per_frame=False)
    return nic


def make_buffers(machine: Machine, skb_lines: int = 0, slab_lines: int = 0) -> Buffers:
    """Buffers whose lines cost nothing unless a test says so."""
    return Buffers(machine.memory, machine.costs.ledger, skb_lines, slab_lines)


def make_device(
    sim: Simulator,
    machine: Machine,
    name: str = "eth0",
    *,
    skb_lines: int = 0,
    slab_lines: int = 0,
    **options: Any,
) -> NetDevice:
    """A gigabit port with a driver's usual rings, whose lines cost nothing."""
    settings: dict[str, Any] = {
        "path": f"{machine.path}.{name}",
        "node": 0,
        "rate_bps": GIGABIT,
        "weight": 64,
        "rx_buffers": 200,
        "tx_ring": 511,
        "descriptor_bytes": 64,
        "qdisc_limit": 1000,
        "queue_lines": 0,
    }
    return NetDevice(
        sim=sim,
        name=name,
        costs=machine.costs,
        memory=machine.memory,
        buffers=make_buffers(machine, skb_lines, slab_lines),
        **(settings | options),
    )


def make_tg3(sim: Simulator, machine: Machine, **options: Any) -> Tg3:
    """A tg3 with the driver's defaults."""
    settings: dict[str, Any] = {
        "rx_usecs_ps": 20 * US,
        "rx_frames": 5,
        "rx_usecs_irq_ps": 20 * US,
        "rx_frames_irq": 5,
        "tx_usecs_ps": 72 * US,
        "tx_frames": 53,
        "tx_usecs_irq_ps": 20 * US,
        "tx_frames_irq": 5,
        "shared_update": False,
    } | options
    per_frame = settings.pop("per_frame", False)
    name = settings.pop("name", "eth0")
    device = {
        key: settings.pop(key)
        for key in (
            "node",
            "weight",
            "rx_buffers",
            "tx_ring",
            "descriptor_bytes",
            "qdisc_limit",
            "skb_lines",
            "slab_lines",
            "queue_lines",
        )
        if key in settings
    }
    nic = Tg3(make_device(sim, machine, name, **device), **settings)
    nic.line = Line(sim, 177, name, machine.cpus, settings.pop("mask", 1))
    connect(nic, per_frame=per_frame)
    return nic


def make_bnx2(sim: Simulator, machine: Machine, **options: Any) -> Bnx2:
    """A vector of a bnx2 with the driver's defaults."""
    settings: dict[str, Any] = {
        "rx_usecs_ps": 18 * US,
        "rx_frames": 12,
        "rx_usecs_irq_ps": 18 * US,
        "rx_frames_irq": 2,
        "tx_usecs_ps": 80 * US,
        "tx_frames": 20,
        "tx_usecs_irq_ps": 18 * US,
        "tx_frames_irq": 2,
        "shared_update": False,
        "clrtick": False,
    } | options
    per_frame = settings.pop("per_frame", False)
    name = settings.pop("name", "eth0")
    device = {
        key: settings.pop(key)
        for key in ("weight", "rx_buffers", "tx_ring", "qdisc_limit", "path", "queue_lines")
        if key in settings
    }
    line = Line(sim, settings.pop("irq", 50), name, machine.cpus, settings.pop("mask", 1))
    nic = Bnx2(make_device(sim, machine, name, **device), **settings)
    nic.line = line
    connect(nic, per_frame=per_frame)
    return nic


def make_e1000e(
    sim: Simulator,
    machine: Machine,
    *,
    interrupt_throttle_rate: int = 3,
    tx_delay_ps: int = 8 * US,
    per_frame: bool = False,
    **options: Any,
) -> E1000e:
    """An 82574 whose throttle adapts."""
    nic = E1000e(
        make_device(sim, machine, descriptor_bytes=16, **options),
        interrupt_throttle_rate=interrupt_throttle_rate,
        tx_delay_ps=tx_delay_ps,
    )
    nic.line = Line(sim, 50, "eth0", machine.cpus, 1)
    connect(nic, per_frame=per_frame)
    return nic


def make_e1000(
    sim: Simulator,
    machine: Machine,
    *,
    weight: int = 64,
    rx_buffers: int = 200,
    tx_ring: int = 511,
    throttle_ps: int = 125 * US,
    tx_delay_ps: int = 64 * US,
    per_frame: bool = False,
) -> E1000:
    """An e1000 with a throttle of 8000 interrupts a second."""
    device = make_device(
        sim, machine, weight=weight, rx_buffers=rx_buffers, tx_ring=tx_ring, descriptor_bytes=16
    )
    nic = E1000(device, throttle_ps=throttle_ps, tx_delay_ps=tx_delay_ps)
    nic.line = Line(sim, 177, "eth0", machine.cpus, 1)
    connect(nic, per_frame=per_frame)
    return nic


def frame(endpoint: Endpoint, seq: int = 0, arrival_ps: int = 0, wire_bytes: int = US_BYTES) -> Skb:
    """A frame that arrives at a given time."""
    skb = new_skb(endpoint, seq, seq + 1, 0, 0, wire_bytes, push=False)
    skb.arrival_ps = arrival_ps
    return skb


def asserted_ps(nic: Nic) -> list[int]:
    """When a NIC asserted its `Line`."""
    assert isinstance(nic.line, Line)
    return nic.line.asserted_ps


def feed(nic: Nic, endpoint: Endpoint, arrivals_ps: list[int]) -> None:
    """Announce frames, numbered from 0, that will arrive at the given times."""
    for seq, arrival_ps in enumerate(arrivals_ps):
        nic.incoming.append(frame(endpoint, seq, arrival_ps))
    nic.frames_added()


def make_congestion(name: str, initial_cwnd: int, **options: Any) -> Congestion:
    return CongestionMaker(name, initial_cwnd, **options).make()


def make_receiver(**options: Any) -> TcpReceiver:
    """A receiver with settings as `receiver_settings` makes them."""
    return TcpReceiver(receiver_settings(**options))


def receiver_settings(**options: Any) -> ReceiverSettings:
    """Those of receivers of segments of 1000 bytes: Linux 2.6 with HZ 250."""
    usual: dict[str, Any] = {
        "advmss": 1000,
        "rmem_default": 87_380,
        "rmem_max": 174_760,
        "max_quickacks": 16,
        "min_rcvmss": 536,
        "truesize_overhead": 300,
        "moderate_rcvbuf": True,
        "window_scaling": True,
    }
    timing: dict[str, Any] = {
        "jiffy_ps": JIFFY_PS,
        "ato_min_ps": 40 * MS,
        "delack_max_ps": 200 * MS,
        "rto_ps": 3000 * MS,
    }
    names = {field.name for field in fields(AckTiming)} & options.keys()
    timing |= {name: options.pop(name) for name in names}
    return ReceiverSettings(timing=AckTiming(**timing), **(usual | options))


def sender_settings(**options: Any) -> SenderSettings:
    """Those of senders of segments of 1000 bytes: Linux 2.6 with HZ 250, a window of 3 segments."""
    usual: dict[str, Any] = {
        "mss": 1000,
        "congestion": CongestionMaker("reno", 3, mss=1460, abc=0, hz=250, rules=SenderRules()),
        "wmem_default": 16_384,
        "wmem_max": 131_072,
        "segment_truesize": 1250,
        "jiffy_ps": JIFFY_PS,
        "rto_min_ps": 200 * MS,
        "rto_init_ps": 3000 * MS,
        "rto_max_ps": 120_000 * MS,
        "tso": False,
        "tso_win_divisor": 3,
        "reordering": 3,
    }
    return SenderSettings(**(usual | options))


def make_sender(*, congestion: Congestion | None = None, **options: Any) -> TcpSender:
    """A sender with such settings, and with a window of its own if one is given."""
    return TcpSender(sender_settings(**options), congestion)


def make_socket(
    sim: Simulator,
    machine: Machine,
    nic: Port,
    path: str = "socket",
    *,
    receiver: dict[str, Any] | None = None,
    sender: dict[str, Any] | None = None,
    remote: bool = True,
    **options: Any,
) -> TcpSocket:
    """An end of a connection whose segments carry 1000 bytes; what it sends is on `nic`'s wire.

    The peer is a `Sink` at the path of the socket with ``.peer``, if it has one.
    """
    usual: dict[str, Any] = {
        "shared_lines": 0,
        "buffers": make_buffers(machine),
        "runqueue_lines": 0,
        "header_bytes": 52,
        "wire_overhead": 38,
        "low_latency": False,
    }
    own: dict[str, Any] = {
        name: options.pop(name) for name in ("timer_cpu", "spread") if name in options
    }
    socket = TcpSocket(
        SocketSettings(
            sim,
            nic=nic,
            costs=machine.costs,
            memory=machine.memory,
            jiffy_ps=JIFFY_PS,
            **(usual | options),
        ),
        path,
        receiver=make_receiver(**(receiver or {})),
        sender=make_sender(**(sender or {})),
        **({"timer_cpu": machine.cpus[0]} | own),
    )
    if remote:
        socket.connect(Sink(sim, f"{path}.peer"))
        socket.sender.open_window(1 << 20)
    return socket


def on_wire(nic: Nic) -> list[Skb]:
    """Take all frames that have been put on the wire."""
    queue = nic.path_out.destination.incoming
    return [queue.pop() for _ in range(queue.count)]


def segment(socket: TcpSocket, seq: int, length: int = 1000, *, push: bool = False) -> Skb:
    """A data segment for a socket."""
    return new_skb(socket, seq, seq + length, 0, 0, length + 90, push=push)


def ack(socket: TcpSocket, number: int, window: int = 1 << 20) -> Skb:
    """A pure ACK for a socket."""
    return new_skb(socket, 0, 0, number, window, 90, push=False)
