"""Which socket of a group gets a flow."""

from collections import Counter

from simnet.net.link.skb import Header, Station
from simnet.net.udp.reuseport import chosen, reciprocal_scale

HERE, THERE = Station(0), Station(1)


def header(number: int) -> Header:
    return Header(THERE, HERE, 0x0A010001 + number, 0x0A000001, 40_000, 5000)


def test_a_word_is_scaled_to_the_number_of_sockets() -> None:
    assert [reciprocal_scale(word, 4) for word in (0, 0x3FFFFFFF, 0x40000000, 0xFFFFFFFF)] == [
        0,
        0,
        1,
        3,
    ]


def test_a_flow_always_has_the_same_socket_and_flows_are_spread() -> None:
    counts = Counter(chosen(header(number), 0x1234, 4) for number in range(2000))
    assert sorted(counts) == [0, 1, 2, 3]
    assert min(counts.values()) > 400
    assert chosen(header(7), 0x1234, 4) == chosen(header(7), 0x1234, 4)
    assert len({chosen(header(7), secret, 64) for secret in range(200)}) > 30
