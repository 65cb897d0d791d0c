"""Build ports, which may have several queues, and what their sockets send by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from simnet.kernel.random import stream
from simnet.net.nic.multiqueue import MultiqueuePort, XpsMap
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.rss import MICROSOFT_KEY, Rss, Toeplitz, block_table, equal_table
from simnet.net.steering.tx_queue_rules import TxQueueRules, tx_queue_rules
from simnet.net.tcp.socket_queue import SocketQueue, socket_hash
from simnet.scenario.core.knobs import OF_QUEUES
from simnet.scenario.parts.host.build import make_buffers, make_spread
from simnet.scenario.parts.nic.flow_steering import FlowSteering
from simnet.scenario.parts.nic.queues import Multiqueue, Queues
from simnet.scenario.parts.nic.schema import BusLatency, Rings, Slot
from simnet.scenario.parts.qdisc.build import queue_above
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.kernel.simulator import Simulator
    from simnet.net.link.skb import Header
    from simnet.net.nic.port import Nic
    from simnet.net.tcp.socket import TcpSocket
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.parts.network.schema import Switch

_WORD = 1 << 32


def make_nic(
    sim: Simulator,
    machine: Machine,
    host: Host,
    port: Port,
    *,
    switch: Switch,
    seed: int,
    per_frame: bool,
    queue: int | None = None,
) -> Nic:
    """One port, or one queue of it, with its driver and interrupt line.

    Args:
        sim: the simulation.
        machine: of the host.
        host: its configuration.
        port: the port's.
        switch: what the port is cabled to.
        seed: of all random streams.
        per_frame: one event per frame (the reference) instead of batches.
        queue: number of the queue, of a port with several.
    """
    model = port.nic
    path, name = f"{machine.path}.{port.name}", port.name
    if queue is not None:
        # as the drivers name their vectors in /proc/interrupts
        path, name = f"{path}.queue{queue}", f"{name}-{queue}"
    device = NetDevice(
        sim=sim,
        path=path,
        name=name,
        node=port.node,
        costs=machine.costs,
        memory=machine.memory,
        rate_bps=model.link_rate_bps,
        weight=model.napi_weight,
        descriptor_bytes=model.descriptor_bytes,
        qdisc_limit=host.kernel.txqueuelen,
        buffers=make_buffers(host, machine),
        queue_lines=host.kernel.netdev_lines,
        jiffy_ps=PS_PER_S // host.kernel.hz,
    )
    if isinstance(model, Rings):
        device = replace(device, rx_buffers=model.rx_buffers_posted, tx_ring=model.tx_ring)
    if isinstance(model, BusLatency):
        device = replace(device, fetch_ps=model.fetch_latency_ps, dma_ps=model.dma_latency_ps)
    cpus = port.smp_affinity
    if queue is not None:
        cpus = port.set_of(queue, "queue_affinity") or cpus
    slot = Slot(
        device=device,
        machine=machine,
        kernel=host.kernel,
        switch=switch,
        seed=seed,
        queue=queue or 0,
        own={
            name: getattr(model, name, None) if value is None else value
            for name in OF_QUEUES["rx"]
            for value in (port.set_of(queue or 0, name),)
        },
        irq_cpus=cpus,
    )
    nic: Nic = model.make(slot)
    nic.per_frame = per_frame
    nic.spread = make_spread(host, nic.path, seed)
    if port.name in machine.domains:
        nic.map_in(machine.domains[port.name], model.remapped_permille)
    queue_above(nic, host, port, queue=queue or 0, seed=seed)
    mask = sum(1 << cpu for cpu in cpus)
    nic.line = machine.apic.line(port.irq_of(queue or 0), name, mask, port.node)
    return nic


def make_port(
    sim: Simulator,
    machine: Machine,
    host: Host,
    port: Port,
    *,
    switch: Switch,
    seed: int,
    per_frame: bool,
) -> Nic | MultiqueuePort:
    """A port with as many queues as it has, each with its interrupt line; see `make_nic`.

    Queue k receives by ring k and sends by ring k; its interrupt is `port.irq_of(k)`.
    """
    model = port.nic
    made = partial(
        make_nic, sim, machine, host, port, switch=switch, seed=seed, per_frame=per_frame
    )
    queues = max(model.rx_queues, model.tx_queues) if isinstance(model, Queues) else 1
    if not isinstance(model, Queues) or queues == 1:
        return made()
    whole = MultiqueuePort(
        sim,
        f"{machine.path}.{port.name}",
        port.name,
        [made(queue=queue) for queue in range(queues)],
        tx_queues=model.tx_queues,
        rss=_rss(model) if isinstance(model, Multiqueue) else None,
        xps=XpsMap(len(machine.cpus), port.xps_cpus) if any(port.xps_cpus) else None,
        rules=model.rules() if isinstance(model, FlowSteering) else None,
    )
    model.complete(whole)
    return whole


def _rss(model: Multiqueue) -> Rss:
    """The driver's key and its table."""
    key = MICROSOFT_KEY
    if model.rss_key != "microsoft":
        key = bytes.fromhex(model.rss_key.replace(":", ""))
    first = 1 if model.rss_default_queue and model.rx_queues > 1 else 0
    table = equal_table(model.rss_table_entries, model.rss_spread, first)
    if model.rss_in_blocks and not model.rss_equal:
        table = block_table(model.rss_table_entries, model.rx_queues)
    return Rss(_toeplitz(key), table)


@cache
def _toeplitz(key: bytes) -> Toeplitz:
    """The hash is a value: one object serves all ports with a key."""
    return Toeplitz(key)


def send_by(
    port: Nic | MultiqueuePort,
    socket: TcpSocket,
    machine: Machine,
    rules: TxQueueRules,
    header: Header,
    *,
    seed: int,
    name: str = "queue",
) -> None:
    """Have a socket send by a port, and by the queue of it that the host's kernel picks.

    Args:
        port: what `make_port` made.
        socket: of the host.
        machine: the host.
        rules: `tx_rules` of the host.
        header: of what the socket sends.
        seed: of all random streams.
        name: of what chooses the queue, below the socket's path.
    """
    if not isinstance(port, MultiqueuePort):
        socket.leave_by(port)
        return
    word = socket_hash(header, *_secrets(seed, machine.path))
    SocketQueue(f"{socket.path}.{name}", port, socket, rules, word)


def tx_queue(
    port: Nic | MultiqueuePort, machine: Machine, rules: TxQueueRules, header: Header, *, seed: int
) -> Nic:
    """The queue that datagrams of a flow leave by: the hash chooses. XPS is not followed."""
    if not isinstance(port, MultiqueuePort):
        return port
    word = socket_hash(header, *_secrets(seed, machine.path))
    found: Nic = port.queues[word * port.tx_queues >> 32 if rules.several else 0]
    return found


def tx_choice(
    port: Nic | MultiqueuePort, machine: Machine, rules: TxQueueRules, header: Header, *, seed: int
) -> tuple[MultiqueuePort | None, int]:
    """Where the CPU that sends chooses a packet's queue (XPS) the port, else None; and the hash."""
    if not rules.steers or not isinstance(port, MultiqueuePort) or port.xps is None:
        return None, 0
    return port, socket_hash(header, *_secrets(seed, machine.path))


def tx_rules(host: Host) -> TxQueueRules:
    """How the sockets of a host choose their queues."""
    return _tx_rules(host.kernel.version, host.kernel.xps)


@cache
def _tx_rules(version: str, steers: bool) -> TxQueueRules:  # noqa: FBT001 - of a cache
    return replace(tx_queue_rules(version), steers=steers)


@cache
def _secrets(seed: int, machine: str) -> tuple[int, int]:
    """What a kernel draws when it boots: one for all sockets, one for all devices."""
    drawn = stream(seed, f"{machine}.tx_hash")
    return drawn.below(_WORD), drawn.below(_WORD)
