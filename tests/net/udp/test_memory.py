"""How much a datagram socket holds: the model beside what a kernel's sockets held."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.net.udp.memory import SocketMemory, UdpPages
from simnet.net.udp.rules import UdpRules, udp_rules

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "validation" / "live" / "udp-6.18.json").read_text("utf-8")
)
PAGE = 4096
MANY = 1 << 40


def memory(rcvbuf: int, version: str = "6.18", limit: int = MANY, most: int = MANY) -> SocketMemory:
    return SocketMemory(udp_rules(version), UdpPages(limit, most), rcvbuf)


def held(socket: SocketMemory, truesize: int, sent: int) -> int:
    count = 0
    for _ in range(sent):
        if not socket.full(truesize) and socket.charge(truesize):
            count += 1
    return count


def test_a_socket_holds_what_the_kernel_held() -> None:
    rows = RECORDED["held"]
    assert len(rows) >= 60
    for row in rows:
        socket = memory(row["rcvbuf"], RECORDED["kernel"])
        assert held(socket, row["truesize"], row["sent"]) == row["held"], row
        assert row["sent"] - row["held"] == row["RcvbufErrors"] == row["InErrors"]


@pytest.mark.parametrize(
    ("version", "count"), [("4.10", 92), ("4.11", 93), ("6.12", 93), ("6.17", 93), ("6.18", 92)]
)
def test_from_4_11_up_to_6_17_one_more_was_queued_beyond_the_buffer(
    version: str, count: int
) -> None:
    assert held(memory(212_992, version), 2304, 200) == count


def test_before_4_13_each_datagram_gives_its_memory_back() -> None:
    socket = memory(212_992, "4.10")
    assert held(socket, 2304, 3) == 3
    assert socket.release(2304, more=True)
    assert socket.rmem_alloc == 2 * 2304


@pytest.mark.parametrize("version", ["5.4", "6.18"])
def test_one_datagram_alone_is_always_queued(version: str) -> None:
    assert held(memory(1, version), 2304, 5) == 1


def test_earlier_kernels_have_another_path() -> None:
    with pytest.raises(InputError, match=r"expected 4\.10 or later"):
        udp_rules("4.9")


def test_a_reader_with_more_to_read_gives_memory_back_by_quarters() -> None:
    socket = memory(4000)
    held(socket, 500, 8)
    assert [socket.release(500, more=True) for _ in range(4)] == [False, True, False, True]
    assert socket.rmem_alloc == 2000
    assert socket.release(500, more=False)
    assert socket.rmem_alloc == 1500


def test_pages_of_all_sockets_together_are_limited() -> None:
    pages = UdpPages(4, 8)
    first, second = (SocketMemory(UdpRules(), pages, 1 << 20) for _ in range(2))
    assert held(first, 2048, 100) == 8
    # below udp_rmem_min another socket still gets something, up to the third value
    assert held(second, 2048, 100) == 2
    assert pages.allocated == 5
    assert first.release(2048 * 8, more=False)
    assert pages.allocated == 2


@given(st.integers(1, 300_000), st.integers(1, 5000), st.lists(st.booleans(), max_size=300))
def test_memory_is_conserved(rcvbuf: int, truesize: int, steps: list[bool]) -> None:
    socket, waiting = memory(rcvbuf), 0
    for comes in steps:
        if comes:
            waiting += held(socket, truesize, 1)
        elif waiting:
            waiting -= 1
            if socket.release(truesize, waiting > 0):
                assert 0 < socket.forward_alloc <= PAGE
        assert socket.rmem_alloc == waiting * truesize + socket.forward_deficit
        assert socket.rmem_alloc + socket.forward_alloc == socket.pages.allocated * PAGE
        assert socket.forward_alloc >= 0
