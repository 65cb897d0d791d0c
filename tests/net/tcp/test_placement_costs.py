"""What sending, completing and waking cost where several CPUs take turns; on one, nothing more."""

from typing import Any

import pytest

from simnet.host.ledger import PLACEMENT
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.process import TcpReader
from tests.host.parts import MS, NS, make_costs, make_machine, make_memory
from tests.net.parts import US, Sink, frame, make_buffers, make_socket, make_tg3, segment

LINES = {
    "local_ps": 100 * NS,
    "same_bus_dirty_ps": 125 * NS,
    "remote_ps": 300 * NS,
    "remote_dirty_ps": 500 * NS,
    "mmio_write_ps": 200 * NS,
    "mmio_hop_ps": 70 * NS,
}
QUEUE_LINES, SKB_LINES, SLAB_LINES, RUNQUEUE_LINES = 4, 3, 2, 5
# the doorbell
HERE_NS = 200
# with one link more, the descriptor's line and the header's
FAR_NS = HERE_NS + 70 + 2 * (300 - 100)


class Host:
    """Two nodes of two CPUs each; eth0 is at node 0, and CPU 0 has its interrupt."""

    def __init__(self, **cost_ns: int) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "host",
            make_costs(**cost_ns),
            make_memory(2, None, **LINES),
            nodes=2,
            cores_per_socket=2,
        )
        self.cpus = self.machine.cpus
        self.ledger = self.machine.costs.ledger
        self.nic = make_tg3(
            self.sim,
            self.machine,
            queue_lines=QUEUE_LINES,
            skb_lines=SKB_LINES,
            slab_lines=SLAB_LINES,
        )
        self.sink = Sink(self.sim)

    def send_ns(self, cpu: int) -> int:
        """Cost of handing one frame over."""
        return int(self.nic.transmit_cost_ps(self.cpus[cpu])) // NS

    def send(self, *cpus: int) -> None:
        """Send frames, each written by one of these CPUs, and let them be completed."""
        for cpu in cpus:
            skb = frame(self.sink)
            skb.toucher = self.cpus[cpu]
            self.nic.transmit(skb)
        self.nic.flush()
        self.sim.run_until(self.sim.now + MS)

    def booked_ns(self, work: Any) -> dict[str, int]:
        """What `work()` adds to the ledger, in ns."""
        before = self.ledger.work()
        work()
        after = self.ledger.work()
        return {
            name: (after[name] - before[name]) // NS
            for name in after
            if after[name] != before[name]
        }


@pytest.mark.parametrize("overlap", [1, 2])
def test_a_copy_keeps_several_lines_on_their_way(overlap: int) -> None:
    sim = Simulator()
    machine = make_machine(
        sim,
        "host",
        make_costs(overlap, copy_line=10),
        make_memory(2, None, **LINES),
        nodes=2,
        cores_per_socket=2,
    )
    socket = make_socket(sim, machine, make_tg3(sim, machine))
    # eight lines, each 200 ns farther away
    far_ps = 8 * (300 - 100) * NS // overlap
    assert socket.rx_costs.copy_ps(machine.cpus[0], 1000, 0, 0) == 8 * 10 * NS
    assert socket.rx_costs.copy_ps(machine.cpus[0], 1000, 1, 1) == 8 * 10 * NS + far_ps


class TestSending:
    def test_doorbell_and_lines_pay_the_way_to_the_device(self) -> None:
        host = Host()
        assert [host.send_ns(0), host.send_ns(0)] == [HERE_NS, HERE_NS]
        assert host.booked_ns(lambda: host.send_ns(0)) == {"tcp_send": HERE_NS}
        host = Host()
        assert [host.send_ns(2), host.send_ns(2)] == [FAR_NS, FAR_NS]
        assert host.booked_ns(lambda: host.send_ns(2)) == {
            "tcp_send": HERE_NS,
            "device_lines": FAR_NS - HERE_NS,
        }

    def test_the_queue_follows_who_sends(self) -> None:
        host = Host()
        host.send_ns(0)
        assert host.send_ns(1) == HERE_NS + QUEUE_LINES * 125
        assert host.send_ns(2) == FAR_NS + QUEUE_LINES * 500
        assert host.booked_ns(lambda: host.send_ns(1)) == {
            "tcp_send": HERE_NS,
            "socket_lines": QUEUE_LINES * 500,
        }

    def test_buffers_come_from_the_cpu_that_completed_earlier_ones(self) -> None:
        host = Host()
        host.send(0)
        assert host.send_ns(0) == HERE_NS
        # the queue was where the completion was, too
        assert host.send_ns(3) == FAR_NS + (QUEUE_LINES + SKB_LINES) * 500
        assert host.booked_ns(lambda: host.send_ns(3))["skb_lines"] == SKB_LINES * 500


class TestCompletion:
    def test_costs_no_lines_where_the_frames_were_sent(self) -> None:
        host = Host(tx_completion=150)
        host.send_ns(0)
        booked = host.booked_ns(lambda: host.send(0, 0))
        assert booked["completion"] == 2 * 150
        assert not booked.keys() & PLACEMENT

    def test_fetches_the_queue_once_and_each_buffer_from_who_wrote_it(self) -> None:
        host = Host(tx_completion=150)
        host.send_ns(2)
        booked = host.booked_ns(lambda: host.send(1, 0, 2))
        assert booked["completion"] == 3 * 150
        assert booked["socket_lines"] == QUEUE_LINES * 500
        # the same bus; the same CPU; the other node, to whose slab it goes back
        assert booked["skb_lines"] == SKB_LINES * 125 + (SKB_LINES + SLAB_LINES) * 500
        assert "device_lines" not in booked

    def test_takes_the_time_that_it_books(self) -> None:
        host = Host(tx_completion=150, hardirq=700)
        host.send_ns(2)
        booked = host.booked_ns(lambda: host.send(2))
        times = host.cpus[0].times()
        assert times["softirq_ps"] + times["irq_ps"] == sum(booked.values()) * NS


class TestReceiving:
    def wakeup_ns(self, reader_cpu: int) -> int:
        """Hand a segment over on CPU 0 to a reader that sleeps elsewhere; cost of waking it."""
        host = Host(wakeup=500)
        socket = make_socket(host.sim, host.machine, host.nic, runqueue_lines=RUNQUEUE_LINES)
        cpu = host.cpus[reader_cpu]
        reader = TcpReader(
            host.machine.scheduler, "reader", cpu, socket, 4000, frozenset({reader_cpu})
        )
        reader.wake_on(cpu)
        cpu.kick()
        host.sim.run_until(MS)
        return host.booked_ns(lambda: socket.receive(segment(socket, 0), host.cpus[0]))["wakeup"]

    def test_waking_on_another_cpu_fetches_its_run_queue(self) -> None:
        assert [self.wakeup_ns(cpu) for cpu in range(4)] == [
            500,
            500 + RUNQUEUE_LINES * 125,
            500 + RUNQUEUE_LINES * 500,
            500 + RUNQUEUE_LINES * 500,
        ]

    @pytest.mark.parametrize(
        ("reader_cpu", "read_ns", "reuse_ns"),
        [
            (0, 0, 0),
            (1, SKB_LINES * 125, SKB_LINES * 125),
            (2, (SKB_LINES + SLAB_LINES) * 500, SKB_LINES * 500),
        ],
    )
    def test_buffers_travel_to_the_reader_and_back(
        self, reader_cpu: int, read_ns: int, reuse_ns: int
    ) -> None:
        host = Host()
        buffers = make_buffers(host.machine, SKB_LINES, SLAB_LINES)
        socket = make_socket(host.sim, host.machine, host.nic, buffers=buffers)
        skb = segment(socket, 0)
        skb.toucher = host.cpus[0]

        def read() -> None:
            socket.process_cost_ps(skb, host.cpus[reader_cpu], copying=False)

        assert host.booked_ns(read).get("skb_lines", 0) == read_ns
        # the port's next frame goes into what was freed there
        host.nic.incoming.append(frame(socket, 0, host.sim.now + US))
        host.nic.frames_added()
        booked = host.booked_ns(lambda: host.sim.run_until(MS))
        assert booked.get("skb_lines", 0) == reuse_ns
