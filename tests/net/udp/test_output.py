"""What a socket sends: its memory, and whom that wakes."""

import pytest

from simnet.host.scheduler import Task, Wakeups
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.udp.output import UdpOutput, sent_truesize
from simnet.net.udp.socket import UdpCosts
from tests.host.parts import LINE_BYTES, MS, NS, make_costs, make_machine
from tests.net.parts import Sink, make_buffers, make_tg3, on_wire

LENGTH = 1000


class Sleeper(Task):
    """Sleeps until it is woken."""

    woken = 0

    def step(self, cpu: object) -> None:  # noqa: ARG002 - as every task
        self.woken += 1
        self.sleep()


def made(
    sndbuf: int, *, tx_ring: int = 511, qdisc: int = 1000, checksums: bool = False
) -> tuple[UdpOutput, Sleeper]:
    sim = Simulator()
    costs = make_costs(skb_alloc=100, copy_line=10, csum_line=7, wakeup=700)
    machine = make_machine(sim, "host", costs)
    nic = make_tg3(sim, machine, tx_ring=tx_ring, qdisc_limit=qdisc)
    output = UdpOutput(
        sim,
        "output",
        nic=nic,
        remote=Sink(sim),
        header=Header(Station(0), Station(1)),
        costs=UdpCosts(
            costs,
            machine.memory,
            make_buffers(machine),
            rx_ps=0,
            recv_ps=0,
            checksum_by_cpu=checksums,
            page_bytes=0,
        ),
        tx_ps=900 * NS,
        length=LENGTH,
        overhead_bytes=66,
        sndbuf=sndbuf,
        wakeups=Wakeups(costs, machine.memory, 0),
    )
    output.writer = writer = Sleeper(machine.scheduler, "writer", machine.cpus[0])
    return output, writer


# as `ss -m` shows them on x86-64: kmalloc of 512, 1024, 2048 and 4096 bytes
@pytest.mark.parametrize(
    ("length", "truesize"), [(1, 768), (133, 768), (134, 1280), (1000, 2304), (1472, 2304)]
)
def test_a_datagram_is_charged_by_whole_slabs(length: int, truesize: int) -> None:
    assert sent_truesize(length) == truesize


def test_memory_is_the_sender_s_until_the_driver_frees_it_and_half_of_it_wakes_him() -> None:
    output, writer = made(4 * sent_truesize(LENGTH))
    cpu = writer.cpu
    while output.room():
        assert output.send_ps(cpu) == (900 + 100 + -(-LENGTH // LINE_BYTES) * 10) * NS
        output.send(cpu)
    assert output.out_datagrams == 4
    assert output.wmem_alloc == output.sndbuf
    output.wait()
    truesize = sent_truesize(LENGTH)
    assert output.wfree(LENGTH, cpu) == 0
    assert output.wmem_alloc == 3 * truesize
    assert output.wfree(LENGTH, cpu) == 700 * NS
    assert not output.waiting
    assert output.wfree(LENGTH, cpu) == 0
    output.sim.run_until(MS)
    assert (writer.woken, output.waits) == (1, 1)


def test_a_checksum_that_the_device_does_not_compute_is_the_sender_s() -> None:
    plain, writer = made(1 << 20)
    summed, _ = made(1 << 20, checksums=True)
    lines = -(-LENGTH // LINE_BYTES)
    assert summed.send_ps(writer.cpu) - plain.send_ps(writer.cpu) == lines * 7 * NS


def test_who_frees_a_frame_pays_for_waking_its_sender() -> None:
    output, writer = made(sent_truesize(LENGTH))
    output.send(writer.cpu)
    (skb,) = on_wire(output.nic)
    assert skb.toucher is writer.cpu
    assert not output.room()
    output.wait()
    assert output.nic.tx.free(writer.cpu) == 700 * NS
    assert output.room()


def test_the_driver_frees_what_the_device_has_sent() -> None:
    output, writer = made(1 << 20)
    for _ in range(3):
        output.send(writer.cpu)
    output.sim.run_until(10 * MS)
    assert output.wmem_alloc == 0


def test_what_the_queue_refuses_is_counted_and_given_back() -> None:
    output, writer = made(1 << 30, tx_ring=16, qdisc=5)
    for _ in range(30):
        output.send(writer.cpu)
    assert (output.out_datagrams, output.sndbuf_errors) == (21, 9)
    assert output.wmem_alloc == 21 * output.truesize
