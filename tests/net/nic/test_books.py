"""What one frame costs by each driver, booked by mechanism, from near and from another node."""

import pytest

from simnet.host.cpu import Cpu
from simnet.net.link.skb import Skb
from simnet.net.nic.bnx2 import Bnx2
from simnet.net.nic.cxgb4 import Cxgb4
from simnet.net.nic.e1000 import E1000
from simnet.net.nic.e1000e import E1000e
from simnet.net.nic.port import Nic
from simnet.net.nic.tg3 import Tg3
from tests.host.parts import MS
from tests.net.nic.chips import CHIPS, Bench
from tests.net.parts import US, Sink, feed

# handler: registers and, from another node, the status block
HANDLER = {Tg3: (2, 1), E1000: (2, 1), E1000e: (2, 1), Bnx2: (0, 0), Cxgb4: (0, 0)}
# registers at the end of a poll
REGISTERS = {Tg3: 3, E1000: 3, E1000e: 3, Bnx2: 3, Cxgb4: 1}


@pytest.mark.parametrize("chip", CHIPS)
class TestReceive:
    def expected(self, chip: type[Nic], *, far: bool) -> dict[str, int]:
        registers, lines = HANDLER[chip]
        expected = {
            "hardirq": 1000 + registers * 200,
            "softirq": 40 + 500 + REGISTERS[chip] * 200,
            "driver": 1500 + 200 + 300,
        }
        if far:
            # handler; status block; header and half a line of descriptors; registers
            device = registers * 70 + lines * 200 + 200 + (200 + 100) + REGISTERS[chip] * 70
            expected["device_lines"] = device
        return expected

    @pytest.mark.parametrize("node", [0, 1])
    def test_one_frame(self, chip: type[Nic], node: int) -> None:
        bench = Bench(chip, node=node)
        sink = Sink(bench.sim)
        feed(bench.nic, sink, [US])
        bench.sim.run_until(MS)
        assert len(sink.log) == 1
        assert bench.booked() == self.expected(chip, far=node == 1)

    def test_buffers_are_where_the_cpu_is_that_polled_last(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=1)
        homes: list[tuple[int, int, object]] = []

        class Homes(Sink):
            def receive(self, skb: Skb, cpu: Cpu) -> int:
                homes.append((skb.home_node, skb.writer_node, skb.toucher))
                return super().receive(skb, cpu)

        feed(bench.nic, Homes(bench.sim), [US, 100 * US])
        bench.sim.run_until(MS)
        # at first where the device is
        assert homes == [(1, 1, bench.near), (0, 1, bench.near)]

    def test_a_sender_elsewhere_does_not_change_what_a_poll_costs(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=1)
        feed(bench.nic, Sink(bench.sim), [US])
        bench.sim.run_until(US + US // 2)
        # the handler runs on one node while the other one sends
        ledger = bench.machine.costs.ledger
        before = ledger.work()
        bench.nic.transmit_cost_ps(bench.far)
        sent = {name: ps - before[name] for name, ps in ledger.work().items()}
        bench.sim.run_until(MS)
        work = {name: (ps - sent[name]) // 1000 for name, ps in ledger.work().items()}
        assert {name: ns for name, ns in work.items() if ns} == self.expected(chip, far=True)

    def test_buffers_that_another_cpu_has_freed_are_fetched_from_it(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, skb_lines=3)
        sink = Sink(bench.sim)
        sink.freer = bench.far
        feed(bench.nic, sink, [US, 2 * US])
        bench.sim.run_until(MS)
        assert bench.booked()["skb_lines"] == 2 * 3 * 410

    def test_buffers_freed_here_cost_nothing(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, skb_lines=3)
        sink = Sink(bench.sim)
        sink.freer = bench.near
        feed(bench.nic, sink, [US, 2 * US])
        bench.sim.run_until(MS)
        assert "skb_lines" not in bench.booked()


@pytest.mark.parametrize("chip", CHIPS)
class TestTransmit:
    @pytest.mark.parametrize("node", [0, 1])
    def test_descriptor_header_and_doorbell(self, chip: type[Nic], node: int) -> None:
        bench = Bench(chip, node=node, queue_lines=5, skb_lines=3)
        doorbells = 2 if chip is Bnx2 else 1
        device = (doorbells * 70 + 200 + 200) * node
        assert bench.nic.transmit_cost_ps(bench.near) == (doorbells * 200 + device) * 1000
        ledger = bench.machine.costs.ledger
        assert ledger.tcp_send == doorbells * 200_000
        assert ledger.device_lines == device * 1000
        assert ledger.socket_lines == ledger.skb_lines == 0

    def test_the_queues_lines_travel_with_the_sender(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, queue_lines=5)
        near, far = (bench.nic.transmit_cost_ps(cpu) for cpu in (bench.near, bench.far))
        # from there the doorbell is one link away, descriptors and header are on the way back
        doorbells = 2 if chip is Bnx2 else 1
        assert far - near == (5 * 410 + doorbells * 70 + 200 + 200) * 1000
        assert bench.nic.transmit_cost_ps(bench.far) == far - 5 * 410_000
        assert bench.machine.costs.ledger.socket_lines == 5 * 410_000


INTERRUPTING = [Tg3, Bnx2, E1000, E1000e]


@pytest.mark.parametrize("chip", INTERRUPTING)
class TestCompletion:
    def test_reclaiming_here_what_was_sent_here(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, queue_lines=5, skb_lines=3, slab_lines=2)
        bench.nic.transmit_cost_ps(bench.near)
        bench.send(bench.near, 2)
        work = bench.machine.costs.ledger.work()
        assert work["completion"] == 2 * 90_000
        assert work["socket_lines"] == work["skb_lines"] == 0
        assert work["softirq"] == (40 + 500 + 3 * 200) * 1000

    def test_reclaiming_here_what_was_sent_there(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, queue_lines=5, skb_lines=3, slab_lines=2)
        bench.nic.transmit_cost_ps(bench.far)
        ledger = bench.machine.costs.ledger
        before = ledger.work()
        bench.send(bench.far, 2)
        work = {name: ps - before[name] for name, ps in ledger.work().items() if ps - before[name]}
        assert work == {
            "hardirq": (1000 + HANDLER[chip][0] * 200) * 1000,
            "softirq": (40 + 500 + 3 * 200) * 1000,
            "completion": 2 * 90_000,
            "socket_lines": 5 * 410_000,
            "skb_lines": 2 * (3 + 2) * 410_000,
        }
        times = bench.near.times()
        assert times["irq_ps"] + times["softirq_ps"] == sum(work.values())

    def test_the_next_frame_is_allocated_from_what_was_reclaimed(self, chip: type[Nic]) -> None:
        bench = Bench(chip, node=0, skb_lines=3)
        fresh = [bench.nic.transmit_cost_ps(cpu) for cpu in (bench.near, bench.far)]
        bench.send(bench.near, 2)
        assert bench.nic.transmit_cost_ps(bench.near) == fresh[0]
        assert bench.nic.transmit_cost_ps(bench.far) == fresh[1] + 3 * 410_000


class TestTransmissionReclaims:
    """The cxgb4 driver reclaims when it sends."""

    def test_what_was_sent_there(self) -> None:
        bench = Bench(Cxgb4, node=0, skb_lines=3, slab_lines=2)
        fresh = bench.nic.transmit_cost_ps(bench.near)
        bench.send(bench.far, 2)
        ledger = bench.machine.costs.ledger
        assert bench.nic.transmit_cost_ps(bench.near) == fresh + 2 * (90 + (3 + 2) * 410) * 1000
        assert (ledger.completion, ledger.skb_lines) == (2 * 90_000, 2 * (3 + 2) * 410_000)
        bench.send(bench.near, 2)
        assert bench.nic.transmit_cost_ps(bench.near) == fresh + 2 * 90_000
        # the far CPU takes a buffer that the near one freed
        far = bench.nic.transmit_cost_ps(bench.far)
        assert far == fresh + (70 + 200 + 200 + 3 * 410) * 1000
