"""Receive buffers, transmit ring, queueing discipline, and what the distance of a device costs."""

import pytest

from simnet.host.dma.iommu import DmaDomain, RemappingUnit
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import new_skb
from simnet.net.tcp.rules.sender_version import sender_rules
from tests.host.parts import MS, make_costs, make_machine, make_memory
from tests.net.parts import US, Owner, Sink, feed, frame, make_socket, make_tg3, on_wire


class TestReceiveRing:
    def test_frames_beyond_the_posted_buffers_are_dropped(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim), rx_buffers=4, rx_frames=100, rx_usecs_ps=50 * US)
        sink = Sink(sim)
        feed(nic, sink, [number * US for number in range(1, 11)])
        sim.run_until(MS)
        assert (nic.rx_packets, nic.drops) == (4, 6)
        assert [seq for _, _, seq in sink.log] == [0, 1, 2, 3]

    def test_buffers_come_back_at_the_end_of_each_poll(self) -> None:
        sim = Simulator()
        machine = make_machine(sim, "host", make_costs(driver_rx=2000))
        nic = make_tg3(sim, machine, rx_buffers=4, rx_frames=1, rx_frames_irq=1, weight=2)
        sink = Sink(sim)
        # 2 us a frame: the first poll ends at 5 us, when it hands two buffers back
        feed(
            nic, sink, [US, 2 * US, 3 * US, 4 * US, 4 * US + 1, 5 * US + 1, 5 * US + 2, 5 * US + 3]
        )
        sim.run_until(MS)
        assert [seq for _, _, seq in sink.log] == [0, 1, 2, 3, 5, 6]
        assert nic.drops == 2

    def test_weight_limits_a_poll(self) -> None:
        sim = Simulator()
        machine = make_machine(sim)
        nic = make_tg3(sim, machine, weight=3, rx_frames=10)
        feed(nic, Sink(sim), [number * US for number in range(1, 11)])
        sim.run_until(MS)
        softirqs = machine.cpus[0].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        # 3, 3, 3, 1
        assert (softirqs.polls, softirqs.rounds) == (4, 1)

    def test_budget_limits_a_round(self) -> None:
        sim = Simulator()
        machine = make_machine(sim, netdev_budget=4)
        nic = make_tg3(sim, machine, rx_frames=10)
        feed(nic, Sink(sim), [number * US for number in range(1, 11)])
        sim.run_until(MS)
        softirqs = machine.cpus[0].softirqs
        assert isinstance(softirqs, SoftirqNetRx)
        # 4, 4, 2
        assert (softirqs.rounds, softirqs.time_squeezes) == (3, 2)


class TestTransmitRing:
    def test_frames_follow_each_other_on_the_wire(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim))
        for length in (125, 250, 125):
            nic.transmit(frame(Sink(sim, f"sink{nic.tx.sent}"), wire_bytes=length))
        nic.flush()
        # each is serialised here and once more in the switch
        assert [skb.arrival_ps for skb in on_wire(nic)] == [2 * US, 5 * US, 6 * US]
        assert (nic.tx.sent, nic.tx.sent_bytes) == (3, 500)

    def test_full_ring_leaves_them_to_the_queueing_discipline(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim), tx_ring=4, qdisc_limit=3, tx_frames=2)
        for seq in range(10):
            nic.transmit(frame(Sink(sim, f"sink{seq}"), seq))
        nic.flush()
        assert (nic.tx.sent, nic.qdisc_drops) == (4, 3)
        sim.run_until(MS)
        assert nic.tx.sent == 7
        assert [skb.seq for skb in on_wire(nic)] == list(range(7))

    def test_nothing_overtakes_what_waits(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim), tx_ring=2, tx_frames=1)
        sink = Sink(sim)
        for seq in range(4):
            nic.transmit(frame(sink, seq))
        nic.flush()
        sim.run_until(2 * US + 1)
        nic.transmit(frame(sink, 4))
        nic.flush()
        sim.run_until(MS)
        assert [skb.seq for skb in on_wire(nic)] == list(range(5))

    def test_memory_of_a_socket_is_given_back_once_whoever_has_its_slot_later(self) -> None:
        sim = Simulator()
        nic = make_tg3(sim, make_machine(sim), tx_ring=1, tx_frames=1)
        owner = Owner(sim)
        held = []
        # two slots: an ARP request or a SYN is nobody's memory
        for number, owned in enumerate((1, 0, 0, 1, 1, 0, 0)):
            skb = frame(Sink(sim, f"sink{number}"), number)
            if owned:
                skb.owner = owner
            nic.transmit(skb)
            nic.flush()
            held.append(owner.wmem)
            sim.run_until((number + 1) * MS)
            assert owner.wmem == 0
        assert held == [1, 0, 0, 1, 1, 0, 0]


class TestMapping:
    """A socket keeps what it sends in fragments of 32 KiB; headers have a buffer of their own."""

    FRAGMENT = 32 << 10

    def maps(self, *parts: int) -> tuple[int, int]:
        """Buffers mapped, and unmapped in the end, of a frame that is cut into such parts."""
        sim = Simulator()
        machine = make_machine(sim)
        nic = make_tg3(sim, machine, tx_frames=1)
        unit = RemappingUnit(sim, machine.memory, 0)
        ledger = machine.costs.ledger
        domain = DmaDomain(unit, ledger, map_ps=0, unmap_ps=0, strict=True, cpus=1)
        nic.map_in(domain, 0)
        socket = make_socket(sim, machine, nic, sender={"rules": sender_rules("5.4")})
        seq = 0
        for length in parts:
            skb = new_skb(Sink(sim, f"sink{seq}"), seq, seq + length, 0, 0, 1000, push=False)
            skb.owner = socket
            nic.tx.part = seq > 0
            nic.transmit(skb)
            seq += length
        nic.flush()
        sim.run_until(MS)
        return domain.maps, unit.invalidations

    @pytest.mark.parametrize(
        ("parts", "buffers"),
        [
            ((1,), 2),
            ((FRAGMENT,), 2),
            ((FRAGMENT + 1,), 3),
            # the parts lie in the fragments one behind the other
            ((FRAGMENT - 1, 1), 2),
            ((FRAGMENT - 1, 1, 1), 3),
            ((FRAGMENT, FRAGMENT), 3),
        ],
    )
    def test_a_frame_has_the_fragments_that_all_its_parts_fill(
        self, parts: tuple[int, ...], buffers: int
    ) -> None:
        assert self.maps(*parts) == (buffers, buffers)


class TestDistance:
    @pytest.mark.parametrize(
        ("node", "expected_ns"),
        [
            # handler with two register writes; poll with the status block; frame with header
            # and half a line of descriptors; three register writes at the end
            (0, 1000 + 2 * 200 + 500 + 2000 + 3 * 200),
            (1, 1000 + 2 * 270 + 200 + (500 + 200) + (2000 + 200 + 100) + 3 * 270),
        ],
    )
    def test_one_frame_costs_more_from_afar(self, node: int, expected_ns: int) -> None:
        sim = Simulator()
        machine = make_machine(
            sim,
            "host",
            make_costs(hardirq=1000, poll=500, driver_rx=1500, ip_rx=300, skb_alloc=200),
            make_memory(
                2,
                None,
                local_ps=100_000,
                remote_ps=300_000,
                mmio_write_ps=200_000,
                mmio_hop_ps=70_000,
            ),
            nodes=2,
        )
        nic = make_tg3(sim, machine, rx_frames=1, node=node)
        feed(nic, Sink(sim), [US])
        sim.run_until(MS)
        times = machine.cpus[0].times()
        assert times["irq_ps"] + times["softirq_ps"] == expected_ns * 1000
        # five registers, the status block twice, header and descriptors
        far = (5 * 70 + 2 * 200 + 200 + 100) * 1000 if node else 0
        assert machine.costs.ledger.work()["device_lines"] == far

    def test_second_poll_of_a_ring_finds_buffers_where_it_polls(self) -> None:
        """Buffers are allocated by the CPU that polled last."""
        sim = Simulator()
        machine = make_machine(sim, nodes=2)
        nic = make_tg3(sim, machine, rx_frames=1, node=1)
        homes = []

        class Homes(Sink):
            def receive(self, skb: object, cpu: object) -> int:  # noqa: ARG002
                homes.append((skb.home_node, skb.writer_node))  # type: ignore[attr-defined]
                return 0

        feed(nic, Homes(sim), [US, 2 * US])
        sim.run_until(MS)
        assert homes == [(1, 1), (0, 1)]
