"""What a program of XDP answers, and what reading a packet costs."""

import pytest

from simnet.host.cache import CacheWays
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Skb, Station, new_skb
from simnet.net.udp.no_ports import NoPorts
from simnet.net.xdp.program import XDP_DROP, XDP_PASS, Xdp, XdpCosts
from tests.host.parts import make_machine


def packet(port: int) -> Skb:
    skb = new_skb(NoPorts(Simulator(), "stack", 0), 0, 18, 0, 0, 84, push=True)
    skb.header = Header(Station(1), Station(0), 1, 2, port, 9)
    return skb


def test_it_acts_on_its_flows_and_lets_the_others_pass() -> None:
    program = Xdp(XDP_DROP, XdpCosts(1), first_port=100, last_port=101, refill=32)
    said = [program.says(packet(port)) for port in (99, 100, 101, 102)]
    assert said == [XDP_PASS, XDP_DROP, XDP_DROP, XDP_PASS]


def test_a_line_that_was_lost_comes_from_memory() -> None:
    cache = CacheWays(64 * 2048, 2, 60_000)
    costs = XdpCosts(run_ps=50_000, line_ps=10_000)
    program = Xdp(XDP_DROP, costs, cache=cache, buffer_bytes=2048, refill=32)
    program.sees(1)
    assert program.read_ps() == 60_000
    assert cache.waiting == 0
    program.sees(64 * 100)
    assert program.read_ps() == 120_000
    without = Xdp(XDP_DROP, costs, refill=32)
    without.sees(10_000)
    assert without.read_ps() == 60_000


def test_a_search_without_a_socket_is_paid() -> None:
    sim = Simulator()
    stack = NoPorts(sim, "stack", 300_000)
    assert stack.receive(packet(1), make_machine(sim).cpus[0]) == 300_000
    assert stack.packets == 1


@pytest.mark.parametrize("name", ["drop", "pass", "tx", "redirect", "tx_full", "redirect_err"])
def test_counters_begin_at_nothing(name: str) -> None:
    assert Xdp(XDP_DROP, XdpCosts(1), refill=1).counters()[name] == 0
