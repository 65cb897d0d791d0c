"""The ports of home routers interrupt for each frame, and poll again while some come."""

import pytest

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb
from simnet.net.nic.broadcom.bcm4908_enet import Bcm4908Enet
from simnet.net.nic.broadcom.bgmac import Bgmac
from simnet.net.nic.port import Nic
from tests.host.parts import MS, make_machine
from tests.net.parts import US, Line, Sink, asserted_ps, connect, feed, frame, make_device


class Lists(Sink):
    """Logs which list a frame came in."""

    nic: Bgmac

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        self.lists = [*getattr(self, "lists", []), self.nic.list_number]
        return super().receive(skb, cpu)


def made(driver: str, sim: Simulator, rx_buffers: int = 200) -> Nic:
    machine = make_machine(sim)
    device = make_device(sim, machine, rx_buffers=rx_buffers)
    nic = Bgmac(device, 8) if driver == "bgmac" else Bcm4908Enet(device)
    nic.line = Line(sim, 179, "eth0", machine.cpus, 1)
    connect(nic)
    return nic


@pytest.mark.parametrize("driver", ["bgmac", "bcm4908_enet"])
def test_each_frame_that_comes_or_has_left_interrupts(driver: str) -> None:
    sim = Simulator()
    nic, sink = made(driver, sim), Sink(sim)
    feed(nic, sink, [10 * US, 500 * US])
    sim.run_until(MS)
    assert asserted_ps(nic) == [10 * US, 500 * US]
    nic.transmit(frame(sink, wire_bytes=1250))
    nic.flush()
    sim.run_until(2 * MS)
    assert asserted_ps(nic)[2:] == [MS + 10 * US]
    assert nic.tx_packets == 1


def test_bgmac_polls_again_for_what_came_and_does_not_interrupt() -> None:
    sim = Simulator()
    nic, sink = made("bgmac", sim), Sink(sim, work_ps=50 * US)
    feed(nic, sink, [10 * US, 30 * US, 40 * US])
    sim.run_until(MS)
    assert asserted_ps(nic) == [10 * US]
    assert [seq for _, _, seq in sink.log] == [0, 1, 2]


def test_bcm4908_enet_interrupts_again_for_what_its_poll_has_taken() -> None:
    sim = Simulator()
    nic, sink = made("bcm4908_enet", sim), Sink(sim, work_ps=50 * US)
    feed(nic, sink, [10 * US, 30 * US, 40 * US])
    sim.run_until(MS)
    assert len(asserted_ps(nic)) == 2
    assert [seq for _, _, seq in sink.log] == [0, 1, 2]


@pytest.mark.parametrize("driver", ["bgmac", "bcm4908_enet"])
def test_what_finds_no_buffer_is_lost(driver: str) -> None:
    sim = Simulator()
    nic, sink = made(driver, sim, rx_buffers=4), Sink(sim, work_ps=100 * US)
    feed(nic, sink, [10 * US + number for number in range(9)])
    sim.run_until(10 * MS)
    assert (nic.drops, len(sink.log)) == (5, 4)


def test_bgmac_takes_what_had_come_when_it_looked_and_no_more_than_its_weight() -> None:
    sim = Simulator()
    nic, sink = made("bgmac", sim), Sink(sim, work_ps=US)
    feed(nic, sink, [10 * US] * 100 + [40 * US] * 3)
    sim.run_until(10 * MS)
    assert len(sink.log) == 103
    assert nic.drops == 0


def test_frames_go_up_in_lists_of_eight_and_the_rest_of_a_poll() -> None:
    sim = Simulator()
    nic, sink = made("bgmac", sim), Lists(sim)
    assert isinstance(nic, Bgmac)
    sink.nic = nic
    feed(nic, sink, [10 * US] * 19 + [900 * US] * 2)
    sim.run_until(10 * MS)
    numbers = sorted(set(sink.lists))
    assert [sink.lists.count(number) for number in numbers] == [8, 8, 3, 2]
