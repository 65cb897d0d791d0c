"""The port of a remote host at which a stream begins and another ends."""

from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Port, Skb, SwitchedPath, new_skb
from simnet.net.remote.link import RemoteLink, RemotePort
from tests.host.parts import NS, US
from tests.net.parts import GIGABIT, US_BYTES, Far, Sink, frame


class End(Port):
    """Counts how often it was told of frames."""

    told = 0

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path, 64)

    def frames_added(self) -> int:
        self.told += 1
        return 0

    def numbers(self) -> list[int]:
        """Acknowledgement or sequence numbers of what has come."""
        frames = [self.incoming.pop() for _ in range(self.incoming.count)]
        return [skb.ack or skb.seq for skb in frames]


def skb(sink: Sink, number: int, *, data: bool) -> Skb:
    if data:
        return new_skb(sink, number, number + 1, 0, 0, 90, push=False)
    return new_skb(sink, 0, 0, number, 0, 90, push=False)


@given(st.lists(st.lists(st.booleans(), max_size=6), max_size=6))
def test_data_go_to_the_receiver_and_acknowledgements_to_the_sender(
    bursts: list[list[bool]],
) -> None:
    sim = Simulator()
    sink = Sink(sim)
    sender, receiver = End(sim, "sender"), End(sim, "receiver")
    port = RemotePort(sim, "port", sender, receiver)
    number = 0
    expected: dict[bool, list[int]] = {True: [], False: []}
    for burst in bursts:
        for data in burst:
            number += 1
            expected[data].append(number)
            port.incoming.append(skb(sink, number, data=data))
        port.frames_added()
        assert port.incoming.count == 0
    assert receiver.numbers() == expected[True]
    assert sender.numbers() == expected[False]
    # nobody is told of what is not theirs
    assert receiver.told == sum(any(burst) for burst in bursts)
    assert sender.told == sum(not all(burst) for burst in bursts)


def test_ends_of_streams_share_the_link() -> None:
    sim = Simulator()
    link, far, sink = RemoteLink(GIGABIT), Far(sim), Sink(sim)
    link.path_out = SwitchedPath(sim, "wire", far, 8 * 10**12, 0, 0, per_frame=False)
    for seq, now_ps in enumerate((10 * US, 10 * US, 11 * US, 20 * US)):
        link.send(frame(sink, seq), now_ps)
    arrived = [far.incoming.pop() for _ in range(4)]
    # 125 bytes take 1 us, and 125 ps on the wire beyond, which is as fast as it may be
    assert [(s.seq, (s.arrival_ps - US_BYTES) // NS) for s in arrived] == [
        (0, 11_000),
        (1, 12_000),
        (2, 13_000),
        (3, 21_000),
    ]


def test_what_waits_has_not_left() -> None:
    sim = Simulator()
    link, sink = RemoteLink(GIGABIT), Sink(sim)
    link.path_out = SwitchedPath(sim, "wire", Far(sim), 8 * 10**12, 0, 0, per_frame=False)
    assert link.waiting_bytes(0) == 0
    link.send(frame(sink, 0), 10 * US)
    link.send(frame(sink, 1), 10 * US)
    # a byte takes 8 ns, and one that has left in part has not left
    later = {10 * US: 250, 10 * US + 1: 250, 10 * US + 8 * NS: 249, 12 * US - 8 * NS: 1}
    later |= {12 * US - 1: 1, 12 * US: 0, 13 * US: 0}
    assert {at: link.waiting_bytes(at) for at in later} == later
