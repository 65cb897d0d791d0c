"""What Linux 5 does on the way to the reader and to the wire: backlog, pages, copies, GSO."""

from typing import Any

import pytest

from simnet.host.cache import CacheWays
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb
from simnet.net.tcp.rules.receiver_version import receiver_rules
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.socket import TcpSocket
from tests.host.parts import NS, make_costs, make_machine, make_memory
from tests.net.parts import make_socket, make_tg3, on_wire, segment

SHARE = 1 << 20
LINES = 8  # of 1000 bytes, 128 bytes each


class Bench:
    """A socket on a machine of two nodes with two CPUs each; caches lose lines at 60 ns each."""

    def __init__(self, version: str = "5.4", *, core_cache: Any = None, **options: Any) -> None:
        self.sim = Simulator()
        memory = make_memory(2, None, local_ps=85_000, remote_ps=140_000, same_bus_dirty_ps=45_000)
        memory.caches.extend(CacheWays(SHARE, 2, 60_000) for _ in range(2))
        memory.core_cache = core_cache
        self.costs = make_costs(
            copy_line=4, skb_free=100, rx_page=600, page_zone=80, tcp_tx=1000, gso=70
        )
        self.machine = make_machine(
            self.sim, "host", self.costs, memory, nodes=2, cores_per_socket=2
        )
        self.nic = make_tg3(self.sim, self.machine)
        self.socket: TcpSocket = make_socket(
            self.sim,
            self.machine,
            self.nic,
            receiver={"rules": receiver_rules(version)},
            low_latency=True,
            **options,
        )
        self.near, self.beside, self.far = self.machine.cpus[:3]

    def frame(self, number: int, **values: Any) -> Skb:
        skb = segment(self.socket, number * 1000)
        skb.toucher = self.near
        for name, value in values.items():
            setattr(skb, name, value)
        return skb

    def waits(self, socket: TcpSocket) -> None:
        """Have a hundred shares wait in the backlog of a socket."""
        socket.owned = True
        socket.receive(self.frame(0, endpoint=socket, end_seq=100 * SHARE), self.near)

    def owned(self, *skbs: Skb) -> list[tuple[int, int]]:
        """Receive while the reader owns the socket; what the backlog has then."""
        self.socket.owned = True
        for skb in skbs:
            self.socket.receive(skb, self.near)
        backlog = self.socket.backlog
        return [(one.seq // 1000, one.end_seq // 1000)
                for one in (backlog.pop() for _ in range(backlog.count))]  # fmt: skip


class TestBacklog:
    def test_from_5_0_on_what_continues_the_last_goes_into_it(self) -> None:
        for version, kept in (("5.0", [(0, 3)]), ("4.20", [(0, 1), (1, 2), (2, 3)])):
            bench = Bench(version)
            assert bench.owned(*(bench.frame(n) for n in range(3))) == kept

    def test_a_hole_begins_another(self) -> None:
        bench = Bench()
        assert bench.owned(*(bench.frame(n) for n in (0, 1, 3, 4))) == [(0, 2), (3, 5)]

    def test_17_fragments_are_the_most(self) -> None:
        bench = Bench()
        assert bench.owned(*(bench.frame(n) for n in range(20))) == [(0, 17), (17, 20)]

    @pytest.mark.parametrize("option", [{"tsval": 7}, {"tsecr": 7}, {"sack": [(9, 10)]}])
    def test_other_options_begin_another(self, option: dict[str, Any]) -> None:
        bench = Bench()
        assert bench.owned(bench.frame(0), bench.frame(1, **option)) == [(0, 1), (1, 2)]

    def test_the_last_one_s_window_and_push_are_those_of_all(self) -> None:
        bench = Bench()
        bench.socket.owned = True
        for skb in (bench.frame(0, window=5, ack=1), bench.frame(1, window=9, push=True)):
            bench.socket.receive(skb, bench.near)
        skb = bench.socket.backlog.pop()
        assert (skb.window, skb.push, skb.ack) == (9, True, 1)


class TestCopy:
    def test_what_does_not_wait_comes_from_the_cache(self) -> None:
        bench = Bench()
        assert bench.socket.rx_costs.copy_ps(bench.near, 1000, 0, 0) == LINES * 4 * NS
        assert bench.costs.ledger.copy_misses == 0

    def test_what_waits_longer_than_the_share_holds_comes_from_memory(self) -> None:
        bench = Bench()
        bench.waits(bench.socket)
        assert bench.socket.rx_costs.copy_ps(bench.near, 1000, 0, 0) == LINES * (4 + 60) * NS
        assert bench.costs.ledger.copy_misses == LINES * 60 * NS

    def test_sockets_of_a_node_share_its_cache(self) -> None:
        bench = Bench()
        other = make_socket(bench.sim, bench.machine, bench.nic, "other")
        bench.waits(other)
        other.rx_costs.copy_ps(bench.near, 1000, 0, 0)
        assert bench.socket.rx_costs.copy_ps(bench.near, 1000, 0, 0) == LINES * (4 + 60) * NS

    def test_another_node_s_cpu_gets_every_line_over_the_link(self) -> None:
        bench = Bench()
        far_ps = LINES * (4 + 60 + 55) * NS
        assert bench.socket.rx_costs.copy_ps(bench.far, 1000, 0, 0) == far_ps
        assert bench.costs.ledger.copy_lines == LINES * (60 + 55) * NS

    def test_what_a_device_writes_to_another_node_s_memory_is_in_no_cache(self) -> None:
        bench = Bench()
        assert bench.socket.rx_costs.copy_ps(bench.far, 1000, 1, 0) == LINES * (4 + 60) * NS


class TestPages:
    def read(self, bench: Bench, reader: Any) -> int:
        bench.socket.receive(bench.frame(0), bench.near)
        return bench.socket.queued_copy_cost_ps(reader, 1000)

    def test_the_reader_gives_two_pages_back(self) -> None:
        bench = Bench(page_bytes=500)
        assert self.read(bench, bench.near) == (LINES * 4 + 100 + 600) * NS
        assert bench.costs.ledger.pages == 600 * NS

    def test_on_another_cpu_it_fetches_the_line_of_each_and_the_zone_gets_them(self) -> None:
        bench = Bench(page_bytes=500)
        assert self.read(bench, bench.beside) == (LINES * 4 + 100 + 600 + 2 * (45 + 80)) * NS
        assert bench.socket.freer is bench.beside


class TestGso:
    @pytest.mark.parametrize(("version", "always"), [("4.16", False), ("4.17", True)])
    def test_tcp_always_makes_large_segments_from_4_17_on(
        self, version: str, *, always: bool
    ) -> None:
        assert sender_rules(version).always_gso == always

    def test_a_large_segment_is_made_once_and_cut_for_each_frame(self) -> None:
        bench = Bench(sender={"tso": True}, gso=True)
        before = bench.nic.transmit_cost_ps(bench.near)
        bench.socket.sender.seq.write(3000, end_of_send=True)
        work = bench.socket.output(bench.near)
        assert len(on_wire(bench.nic)) == 3
        assert work == (1000 + 3 * 70) * NS + 3 * before


class TestSendQueue:
    """A private cache of 1 MiB with a way, some ns from the next; 8 lines a copy."""

    def cost_ns(self, queued: int, line_ns: int = 2) -> int:
        bench = Bench(core_cache=CacheWays(SHARE, 1, line_ns * NS))
        bench.socket.sender.seq.write(queued, end_of_send=True)
        work = bench.socket.tx_costs.copy_ps(bench.machine.cpus[0], 1000)
        assert bench.costs.ledger.copy == work
        return int(work // NS)

    def test_what_the_cache_still_has_is_not_transferred(self) -> None:
        assert self.cost_ns(0) == LINES * (4 - 2)
        assert self.cost_ns(0, line_ns=5) == 0

    def test_what_it_has_lost_is_fetched_and_written_back(self) -> None:
        assert self.cost_ns(100 * SHARE) == LINES * (4 + 2)

    def test_between_it_is_a_matter_of_chance(self) -> None:
        # 632 of 1000 lines are lost: 10 transfers
        assert self.cost_ns(SHARE) == LINES * (4 - 2) + 10 * 2

    def test_other_machines_say_nothing_of_it(self) -> None:
        bench = Bench()
        assert bench.socket.tx_costs.copy_ps(bench.machine.cpus[0], 1000) == LINES * 4 * NS
