"""Build a host with a program of XDP on its first port, and the generator behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from simnet.errors import InputError
from simnet.host.cache import CacheWays
from simnet.host.costs import cycles_ps, whole_ns
from simnet.kernel.random import stream
from simnet.net.link.ethernet import AROUND_BYTES, UNCOUNTED_BYTES
from simnet.net.link.skb import Header, Station
from simnet.net.nic.multiqueue import MultiqueuePort, queues_of
from simnet.net.nic.pcie_slot import TLP_BYTES, PcieSlot
from simnet.net.remote.generator import FrameCounter, PacketGenerator
from simnet.net.udp.no_ports import NoPorts
from simnet.net.xdp.program import XDP_DROP, XDP_PASS, XDP_REDIRECT, XDP_TX, Xdp, XdpCosts
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.network.join import join
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.schema import DATAGRAM_HEADERS_BYTES
from simnet.scenario.parts.xdp.columns import XdpCounts
from simnet.scenario.parts.xdp.drivers import DRIVERS
from simnet.scenario.parts.xdp.schema import Xdp as Given
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System

_VERDICTS: Final = {"drop": XDP_DROP, "pass": XDP_PASS, "tx": XDP_TX, "redirect": XDP_REDIRECT}
_PERMILLE: Final = 1000
# of the curve of lines lost
_STEPS: Final = 16
_OWN: Final = 0x0A000001
_SENDER: Final = 0x0A010001
_FIRST_PORT: Final = 100
_PORTS: Final = 65_000
_DESTINATION_PORT: Final = 9
_DESTINATION_PORTS: Final = 2**16 - _DESTINATION_PORT
_FCS_BYTES: Final = UNCOUNTED_BYTES - AROUND_BYTES
# what a card writes of completions at a time
_MESSAGE_BYTES: Final = 64
_BITS: Final = 8


@dataclass(frozen=True)
class _Program:
    """What the program has answered, as a flow."""

    built: XdpBuilt
    frame_bytes: int
    latency_kind: str = "one-way"

    @property
    def delivered(self) -> int:
        return self.frame_bytes * self.built.answered()

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """No packet is timed."""
        return ()


@dataclass(frozen=True)
class XdpBuilt:
    """What was made, and its counters."""

    programs: tuple[Xdp, ...]  # one a receive queue, alike
    generator: PacketGenerator  # of the packets
    nic: Any  # the first port
    stack: NoPorts  # where what passes ends
    action: str  # what the program does
    far: tuple[FrameCounter, ...]  # behind each port

    def _sum(self, name: str) -> int:
        return sum(one.counters()[name] for one in self.programs)

    def discards(self) -> int:
        """Frames that the card discarded."""
        return sum(one.discards for one in queues_of(self.nic))

    def answered(self) -> int:
        """Packets with which the program has done as it says."""
        return self._sum(self.action)

    def drops(self) -> tuple[DropCount, ...]:
        """What was lost behind the program."""
        return (
            DropCount("slot", self.nic.name, self.discards()),
            DropCount("ring for XDP", self.nic.name, self._sum("tx_full")),
            DropCount("other port", self.nic.name, self._sum("redirect_err")),
        )

    def messages(self) -> MessageCounts:
        """Packets; what the program drops has been dealt with."""
        return MessageCounts(self.generator.sent, self.answered(), 0)

    def counts(self) -> XdpCounts:
        """All counters."""
        return XdpCounts(
            sent=self.generator.sent,
            drop=self._sum("drop"),
            passed=self._sum("pass"),
            tx=self._sum("tx"),
            redirect=self._sum("redirect"),
            slot=self.discards(),
            ring=self.nic.drops,
            tx_full=self._sum("tx_full"),
            redirect_err=self._sum("redirect_err"),
            no_ports=self.stack.packets,
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put host, program and generator together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.xdp
    if given is None:
        message = "a configuration without a program of XDP"
        raise ValueError(message)
    far = tuple(FrameCounter(ground.sim, f"behind.{port.name}") for port in ground.ports)
    for port, end in zip(ground.ports, far, strict=True):
        join(ground, port, end, end)
    clock_hz = effective.host.cpu.clock_hz
    stack = NoPorts(ground.sim, "stack", cycles_ps(given.receive_cycles, clock_hz))
    model = effective.host.ports[0].nic
    driver = DRIVERS[model.driver]
    programs = _attach(ground, given)
    wire_bytes = given.frame_bytes + AROUND_BYTES
    generator = PacketGenerator(
        ground.sim,
        "generator",
        path_out=far[0].path_out,
        endpoint=stack,
        headers=_headers(ground, given),
        payload_bytes=given.frame_bytes - DATAGRAM_HEADERS_BYTES - _FCS_BYTES,
        wire_bytes=wire_bytes,
        rate=given.rate or model.link_rate_bps // _BITS // wire_bytes,
        luck=stream(seed, "generator") if given.arrivals == "poisson" else None,
    )
    built = XdpBuilt(programs, generator, ground.ports[0], stack, given.action, far)
    names = {
        "slot": driver.discarded,
        "ring": model.ring_counter,
        "tx_full": driver.full.get(given.action, ""),
        "action": "passed" if given.action == "pass" else given.action,
    }
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [("program", built.nic.name, _Program(built, given.frame_bytes))],
        {"xdp": built},
        drops=built.drops,
        messages=built.messages,
        offers=NetworkPath(effective, ground.machine, ground.ports),
        counters={"xdp": built.counts, "xdp_names": lambda: names},
        ground=ground,
    )


def _attach(ground: Ground, given: Given) -> tuple[Xdp, ...]:
    """Attach the program to each queue of the first port."""
    host = ground.effective.host
    model, cpu = host.ports[0].nic, host.cpu
    driver = DRIVERS[model.driver]

    def ps(of_cycles: int) -> int:
        return cycles_ps(of_cycles, cpu.clock_hz)

    def waited(time_ps: int) -> int:
        return whole_ns(time_ps * given.stall_permille // _PERMILLE)

    memory = cpu.memory
    costs = XdpCosts(
        run_ps=ps(given.run_cycles),
        tx_ps=ps(given.tx_cycles),
        redirect_ps=ps(given.redirect_cycles),
        clean_ps=ps(given.clean_cycles),
        line_ps=waited(memory.llc_latency_ps),
    )
    cache = None
    if cpu.llc_bytes:
        share_bytes = cpu.llc_bytes * cpu.ddio_ways // cpu.llc_ways
        cache = CacheWays(
            max(share_bytes // driver.buffer_bytes, 1) * driver.buffer_bytes,
            cpu.ddio_ways,
            waited(memory.local_latency_ps - memory.llc_latency_ps),
            _STEPS,
        )
    message_bytes = _MESSAGE_BYTES + TLP_BYTES
    done_bytes = message_bytes // (driver.compressed if given.cqe_compress else driver.completions)
    slot = PcieSlot(
        host.machine.io_bandwidth_bps // _BITS,
        given.frame_bytes - _FCS_BYTES + TLP_BYTES + done_bytes,
        2 * TLP_BYTES + message_bytes // driver.completions,
        given.card_buffer_ps,
    )
    targets = queues_of(ground.ports[1]) if given.action == "redirect" else []
    first = _FIRST_PORT
    last = first + (given.acts_on or _PORTS) - 1
    programs = []
    for channel in queues_of(ground.ports[0]):
        program = Xdp(
            _VERDICTS[given.action],
            costs,
            first_port=first,
            last_port=last,
            cache=cache,
            buffer_bytes=driver.buffer_bytes,
            refill=driver.refill(host.kernel.version, model.napi_weight),
            counted=driver.counted,
        )
        program.targets = targets
        channel.xdp = program
        channel.slot = slot
        channel.clean_ps = costs.clean_ps
        programs.append(program)
    for channel in targets:
        channel.clean_ps = costs.clean_ps
    return tuple(programs)


def _headers(ground: Ground, given: Given) -> list[Header]:
    """The flows: each has a source port of its own, and comes to the queue that it is to.

    Raises:
        InputError: the hash key brings nothing to some queue.
    """
    here, there = Station(0), Station(1)
    port = ground.ports[0]
    chosen = port if isinstance(port, MultiqueuePort) and given.spread == "queues" else None
    queues = len(queues_of(port))
    found = []
    destination = 0
    for number in range(given.flows):
        for _ in range(_DESTINATION_PORTS):
            to = _DESTINATION_PORT + destination % _DESTINATION_PORTS
            header = Header(there, here, _SENDER, _OWN, _FIRST_PORT + number, to)
            if chosen is None or chosen.rx_queue(header) == number % queues:
                break
            destination += 1
        else:
            message = f"no port is hashed to queue {number % queues} of {port.name}"
            expected = 'expected another ethtool -X hkey, or xdp.spread = "hash"'
            raise InputError(f"{message}: {expected}", key="xdp.spread")
        found.append(header)
    return found
