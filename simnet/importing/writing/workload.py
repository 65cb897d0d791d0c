"""Which workload a host's scenario has: one that resembles what was observed, or one by name.

What a port carried while it was observed decides: full frames are streams, in the direction that
has them; small ones are requests. Both are open loads, as fast as observed and no faster: streams
are held to the rate by the switch on their way, requests come at their rate from clients that do
not wait. Where nothing was carried, a test of the network whose output is there is repeated.

A host that is no end of such connections (a router, a receiver of UDP, an end of tunnels) has the
load that it is seen to have, where that can be simulated and the files say how much there is of it.
Where not, the scenario says so and cannot run: nothing else is put in its place.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import tomlkit

from simnet.importing.host import ReadHost
from simnet.importing.rates import NetworkTest, Rates
from simnet.importing.read_nic import ReadNic
from simnet.importing.roles import DATAGRAMS, DISKS, FORWARD, Role, first_of
from simnet.importing.writing import costs, gateway, media, routed
from simnet.importing.writing.models import plain
from simnet.importing.writing.ranked import Note, Rank

# of a frame: from here on mean frames are those of streams, which are full but for ACKs
_FULL_BYTES: Final = 1000
_LEAST_BPS: Final = 10**6
_MOST_BPS: Final = 10**12
_LEAST_PACKETS: Final = 100
_MOST_STREAMS: Final = 32
_MOST_WORKERS: Final = 32
_THREADS: Final = 8
_ASSUMED_CONNECTIONS: Final = 64
_ASSUMED_QPS: Final = 100_000


@dataclass(frozen=True)
class Load:
    """A workload."""

    text: str  # tables of the scenario's file
    test: str = ""  # of the workload
    switch_bps: int = 0  # rate that the switch lets pass; 0 for no limit
    source: str = ""  # the file that shows the load; empty where it is assumed
    notes: tuple[Note, ...] = ()  # how it was derived, a line each
    role: Role | None = None  # what the host is called and why, where it is no end of streams

    @property
    def called(self) -> str:
        """What the host is called; empty where it is an end of streams, or nobody knows."""
        return self.role.title if self.role is not None else ""


@dataclass(frozen=True)
class _Place:
    """What a workload has to know of the host's model."""

    nodes: int  # whose ports carry traffic
    cpus: frozenset[int]  # of the node of the first port
    queues: int  # of that port


def put_first(host: ReadHost, nics: Sequence[ReadNic]) -> tuple[list[ReadNic], tuple[str, ...]]:
    """Return ports in the order in which a load needs them, and those that it cannot do without.

    The one that carries most comes first, or else the one with most interrupts. Of a host that
    forwards the port by which packets leave is the second, and both are needed.
    """
    rates = _carried(host)
    way = routed.way_of(host, rates) if routed.forwards(host, rates) is not None else None
    best = _busiest(rates)
    needed = () if way is None else (way.coming.port, way.leaving.port)
    first = needed or ((best.port,) if best is not None else ())
    place = {name: number for number, name in enumerate(dict.fromkeys(first))}

    def order(nic: ReadNic) -> tuple[int, int]:
        served = sum(queue.served for queue in host.interrupts.get(nic.name, {}).values())
        return place.get(nic.name, len(first)), 0 if first else -served

    return sorted(nics, key=order), needed


def _carried(host: ReadHost) -> list[Rates]:
    """Return what those ports carried that carried anything to speak of.

    More than any link carries is no rate: the counters began anew in between.
    """
    return [
        one
        for one in host.rates
        if max(one.wire_bps, one.rx_packets) < _MOST_BPS and one.wire_bps >= _LEAST_BPS
        if max(one.rx_packets, one.tx_packets) >= _LEAST_PACKETS
    ]


def _busiest(carried: Sequence[Rates]) -> Rates | None:
    return max(carried, key=lambda one: one.wire_bps, default=None)


def load_of(
    host: ReadHost,
    name: str | None,
    *,
    nodes: int,
    cpus: frozenset[int],
    queues: int,
    refused: str = "",
) -> Load:
    """Return the workload of a name, or one like what was observed, or streams.

    Args:
        host: as it was read.
        name: one of `WORKLOADS`; None for what was observed.
        nodes: of the model, whose ports carry traffic.
        cpus: of the node of its first port.
        queues: of that port.
        refused: why the models do not take what was observed.
    """
    place = _Place(nodes, cpus, queues)
    if name is not None:
        return Load(WORKLOADS[name](place), _TEST_OF[name])
    carried = _carried(host)
    rates = _busiest(carried)
    role = _role_of(host, carried)
    if role is not None:
        return _of_role(host, role, carried, nodes, refused)
    if rates is None and host.tests:
        return _repeated(host.tests[0], place)
    if rates is None:
        return _assumed(host, place)
    return _observed(host, rates, place)


def _assumed(host: ReadHost, place: _Place) -> Load:
    """Return streams to the host, as many as connections that were seen to carry data."""
    seen = host.uses.get("connections")
    count = round(seen.value) if seen is not None and not host.rates else 0
    note = "workload: streams to the host are assumed, as nothing says what it carries"
    if host.rates:
        note = "workload: streams to the host are assumed; its ports carried next to nothing"
    elif seen is not None and count:
        note = (
            f"workload: {seen.source} shows {count:,} connection{'s' * (count > 1)} with data:"
            f" {min(count, _MOST_STREAMS)} to the host, as fast as they can, are assumed, as"
            " nothing says what they carry"
        )
    text = _stream(place, connections=min(max(count, 1), _MOST_STREAMS)) + "assumed = true\n"
    return Load(text, _TEST_OF["stream"], notes=(Note(note, Rank.LOAD),))


def _role_of(host: ReadHost, carried: Sequence[Rates]) -> Role | None:
    """Return what the host does with its packets; None if it is an end of streams, or unknown."""
    router = routed.forwards(host, carried)
    known = bool(carried or host.tests)
    found = [
        one for one in host.roles if one.name not in ({FORWARD, DISKS} if known else {FORWARD})
    ]
    return first_of([*found, *([router] if router is not None else [])])


def _of_role(
    host: ReadHost, role: Role, carried: Sequence[Rates], nodes: int, refused: str
) -> Load:
    """Return the load of a host that is no end of streams."""
    why = refused or role.reason
    rates = _busiest(carried)
    if role.numbers.get("gateway") and not refused:
        return _simulated(role, role.source, *gateway.streams(role, nodes), test=gateway.TEST)
    if role.name == FORWARD and not role.called:
        way = routed.way_of(host, carried)
        if way is not None and way.coming is way.leaving:
            why = why if refused else "that packets leave by the port they came by is not simulated"
        elif way is not None and not refused:
            return _simulated(role, way.coming.source, *routed.packets(role, way, nodes))
    if role.name == DATAGRAMS and not refused:
        why = media.lacking(role, rates)
        if not why:
            source = role.source if rates is None else rates.source
            made = media.datagrams(role, rates, nodes)
            return _simulated(role, source, *made, test=media.test_of(role, rates))
    said = f"; {_said(rates)}" if rates is not None else ""
    note = (
        f"workload: {role.source} shows {role.said}{said}: this is {role.title}, and its load"
        f" cannot be simulated: {why}. No other load stands in its place: --workload stream has"
        " streams"
    )
    table = tomlkit.table()
    table.update({"what": plain(role.title, _LONGEST), "why": plain(why, _LONGEST)})
    document = tomlkit.document()
    document[_NO_LOAD] = table
    return Load(
        f"{costs.workload(_NO_LOAD, _NO_LOAD, nodes)}\n{tomlkit.dumps(document)}",
        _NO_LOAD,
        notes=(Note(note, Rank.NOT_SIMULATED),),
        role=role,
    )


def _simulated(role: Role, source: str, text: str, words: str, test: str = "") -> Load:
    test = test or "forward"
    note = f"workload: {role.source} shows {role.said}: this is {role.title}: {words} ({source})"
    return Load(text, test, source=source, notes=(Note(note, Rank.LOAD),), role=role)


def _said(rates: Rates) -> str:
    """What a port carried, in words."""
    over = f", over {rates.seconds:,.0f} s" if rates.seconds else ""
    return (
        f"{rates.port} received {rates.rx_bytes * 8 / 1e6:,.1f} Mbit/s in {rates.rx_packets:,.0f}"
        f" frames/s and sent {rates.tx_bytes * 8 / 1e6:,.1f} Mbit/s in {rates.tx_packets:,.0f}"
        f" frames/s{over} ({rates.source})"
    )


def _repeated(one: NetworkTest, place: _Place) -> Load:
    streams = min(one.connections, _MOST_STREAMS)
    message = f"{one.message_bytes} B"
    what = "request-response pair" if one.test == "tcp_rr" else "stream"
    how = (
        f"workload: {one.source}: the test of {one.tool} again, {one.test}, {streams}"
        f" {what}{'s' * (streams > 1)} a port{_cut(streams, one.connections)}, {message} a message;"
        " simnet compare says how near the simulation comes"
    )
    text = _stream(place, one.test, streams, message)
    return Load(text, one.test, source=one.source, notes=(Note(how, Rank.LOAD),))


def _cut(simulated: int, seen: int) -> str:
    """What is said where there are more connections than are simulated."""
    return f" in place of {seen:,} connections" if seen > simulated else ""


def _observed(host: ReadHost, rates: Rates, place: _Place) -> Load:
    connections = host.uses.get("connections", host.uses.get("established"))
    count = round(connections.value) if connections is not None else 0
    bulk = (rates.rx_size >= _FULL_BYTES, rates.tx_size >= _FULL_BYTES)
    said = _said(rates)
    if any(bulk):
        streams = min(max(count, 1), _MOST_STREAMS)
        text = _stream(place, _TESTS[bulk], streams)
        bps = round(rates.wire_bps)
        held = f"which the switch holds to {bps / 1e6:,.1f} Mbit/s"
        many = f"{streams} stream{'s' * (streams > 1)}{_cut(streams, count)}"
        how = f"{many} {_WORDS[bulk]}, {held}"
        notes = (Note(f"workload: {said}: {how}", Rank.LOAD),)
        return Load(text, _TESTS[bulk], bps, rates.source, notes)
    qps = max(round(min(rates.rx_packets, rates.tx_packets)), 1)
    key, value = _record(rates, qps)
    text = _memcached(place, qps, count or _ASSUMED_CONNECTIONS)
    text += f'key = "{key} B"\nvalue = "{value} B"\n'
    how = (
        f"small frames: {qps:,} requests/s of memcached, of {_GET_BYTES + key} B with answers of"
        f" {_VALUE_BYTES + key + value} B"
    )
    notes = (Note(f"workload: {said}: {how}", Rank.LOAD),)
    return Load(text, _TEST_OF["memcached"], source=rates.source, notes=notes)


def _record(rates: Rates, qps: int) -> tuple[int, int]:
    """Return bytes of a key and of a value with which requests and answers are as long as seen."""
    asked = (rates.rx_bytes - _HEADERS_BYTES * rates.rx_packets) / qps
    answered = (rates.tx_bytes - _HEADERS_BYTES * rates.tx_packets) / qps
    key = min(max(round(asked) - _GET_BYTES, 1), _LONGEST_KEY)
    return key, max(round(answered) - _VALUE_BYTES - key, 1)


# by whether received and sent frames are full
_TESTS: Final = {
    (True, False): "netserver",
    (False, True): "netperf",
    (True, True): "bidirectional",
}
_WORDS: Final = {
    (True, False): "to the host",
    (False, True): "from the host",
    (True, True): "both ways",
}


def _stream(
    place: _Place, test: str = "netserver", connections: int = 1, message: str = "64 KiB"
) -> str:
    return _STREAM.format(test=test, nodes=place.nodes, message=message, connections=connections)


def _requests(place: _Place) -> str:
    return _STREAM.format(test="tcp_rr", nodes=place.nodes, message="1 B", connections=1)


def _memcached(
    place: _Place, qps: int = _ASSUMED_QPS, connections: int = _ASSUMED_CONNECTIONS
) -> str:
    first, count = _longest_run(sorted(place.cpus))
    threads = min(_THREADS, max(connections, 1))
    return _MEMCACHED.format(
        nodes=place.nodes,
        qps=qps,
        workers=min(count, place.queues, _MOST_WORKERS),
        first=first,
        threads=threads,
        connections=-(-connections // threads),
    )


def _longest_run(cpus: Sequence[int]) -> tuple[int, int]:
    """Return first and number of the most CPUs with consecutive numbers."""
    best, start = (cpus[0], 1), cpus[0]
    for before, cpu in itertools.pairwise(cpus):
        start = start if cpu == before + 1 else cpu
        best = max(best, (start, cpu - start + 1), key=lambda run: run[1])
    return best


_LONGEST: Final = 300
# of a frame: Ethernet, IP, TCP with its time stamp
_HEADERS_BYTES: Final = 14 + 20 + 32
# get K; VALUE K 0 N, V, END, with three digits of N
_GET_BYTES: Final = 6
_VALUE_BYTES: Final = 18 + 3
_LONGEST_KEY: Final = 250
_NO_LOAD: Final = "unsimulated"
_STREAM: Final = """\
[workload]
type = "streams"
test = "{test}"
nodes = {nodes}
message = "{message}"
connections = {connections}
peers_simulated = "machines"
"""
_MEMCACHED: Final = """\
[workload]
type = "memcached"
test = "memcached"
nodes = {nodes}
message = "1 B"

[memcached]
qps = {qps}
workers = {workers}
first_cpu = {first}
hosts = 1
threads = {threads}
connections = {connections}
client_kernel = "2 us"
client_read = "2 us"
client_write = "2 us"
"""
WORKLOADS: Final[Mapping[str, Callable[[_Place], str]]] = {
    "stream": _stream,
    "rr": _requests,
    "memcached": _memcached,
}
"""What a user may name."""
_TEST_OF: Final = {"stream": "netserver", "rr": "tcp_rr", "memcached": "memcached"}
