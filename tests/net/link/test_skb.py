"""A frame as it is made, and its copy."""

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import EgressPort, Header, Skb, Station, copy_skb, new_skb
from tests.host.parts import make_machine
from tests.net.parts import Sink

HERE, THERE = Station(0xA), Station(0xB)


def fields(skb: Skb) -> dict[str, object]:
    """What a receiver can tell of it, as the interpreter and the compiled core begin with."""
    names = (
        "endpoint", "seq", "end_seq", "ack", "window", "wire_bytes", "push", "arrival_ps", "sack",
        "tsval", "tsecr", "segment_bytes", "msg_id", "home_node", "writer_node", "toucher",
        "header",
    )  # fmt: skip
    return {name: getattr(skb, name) for name in names}


def test_a_fresh_frame_has_what_it_was_given_and_nothing_else() -> None:
    sink = Sink(Simulator())
    assert fields(new_skb(sink, 5, 6, 7, 8, 90, push=True)) == {
        "endpoint": sink,
        "seq": 5,
        "end_seq": 6,
        "ack": 7,
        "window": 8,
        "wire_bytes": 90,
        "push": True,
        "arrival_ps": 0,
        "sack": None,
        "tsval": -1,
        "tsecr": -1,
        "segment_bytes": 0,
        "msg_id": 0,
        "home_node": 0,
        "writer_node": 0,
        "toucher": None,
        "header": None,
    }


def test_a_copy_has_its_contents_but_has_not_been_anywhere() -> None:
    sim = Simulator()
    sink, cpu = Sink(sim), make_machine(sim).cpus[0]
    skb = new_skb(sink, 5, 6, 7, 8, 90, push=True)
    skb.sack, skb.tsval, skb.tsecr = [(1, 2)], 3, 4
    skb.header = Header(HERE, THERE)
    fresh = fields(new_skb(sink, 5, 6, 7, 8, 90, push=True))
    contents = {"sack": [(1, 2)], "tsval": 3, "tsecr": 4, "header": skb.header}
    skb.arrival_ps, skb.msg_id, skb.segment_bytes = 100, 9, 1000
    skb.home_node, skb.writer_node, skb.toucher = 1, 2, cpu
    copy = copy_skb(skb)
    assert copy is not skb
    assert fields(copy) == fresh | contents


def test_an_endpoint_is_not_quiet_and_has_freed_nothing() -> None:
    sim = Simulator()
    sink = Sink(sim)
    freer: Cpu | None = sink.freer
    assert freer is None
    assert not sink.only_queues(make_machine(sim).cpus[0])


def test_a_header_has_no_hash_before_it_is_computed() -> None:
    header = Header(HERE, THERE, 1, 2, 3, 4)
    assert (header.rss_hash, header.rxhash) == (-1, -1)
    other = header.sent_from(THERE)
    assert (other.source, other.destination) == (THERE, THERE)
    assert (other.source_ip, other.destination_ip) == (1, 2)
    assert (other.source_port, other.destination_port) == (3, 4)
    bare = Header(HERE, THERE)
    assert (bare.source_ip, bare.destination_ip) == (0, 0)
    assert (bare.source_port, bare.destination_port) == (0, 0)


def test_an_address_is_behind_no_outlet_before_it_is_learnt() -> None:
    outlet: EgressPort | None = Station(7).outlet
    assert outlet is None
    assert HERE.mac == 0xA
