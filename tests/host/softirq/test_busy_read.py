"""A reader that polls: what its socket knows, and when the device interrupts meanwhile."""

from typing import Any

import pytest

from simnet.host.cpu import Cpu
from simnet.host.softirq.busy_read import BusyRead, busy_loop_over
from simnet.host.softirq.softirq import Napi
from simnet.net.link.skb import Skb
from simnet.net.nic.intel.i40e import I40e
from tests.host.parts import NS, US
from tests.net.nic.connectx import Bench, Poller
from tests.net.parts import Sink, feed

UNIT = 1024 * NS


@pytest.mark.parametrize(
    ("from_ps", "now", "over"),
    [
        (0, 51 * UNIT - 1, False),
        (0, 51 * UNIT, True),
        (UNIT - 1, 51 * UNIT - 1, False),
        (UNIT - 1, 51 * UNIT, True),
        (UNIT, 51 * UNIT, False),
    ],
)
def test_time_is_counted_in_units_of_1024_ns(from_ps: int, now: int, over: bool) -> None:  # noqa: FBT001
    assert busy_loop_over(from_ps, now, 50) == over
    assert BusyRead(50).over(from_ps, now) == over


class I40eBench(Bench):
    chip = I40e
    defaults: dict[str, Any] = {  # noqa: RUF012 - as in its base
        "tso": False,
        "rx_itr_ps": 20 * US,
        "tx_itr_ps": 20 * US,
        "intrl_ps": 0,
        "adaptive_rx": False,
        "adaptive_tx": False,
    }


class Marking(Sink):
    """A socket that is told who has taken its packets."""

    busy = BusyRead(50)

    def receive(self, skb: Skb, cpu: Cpu) -> int:
        self.busy.mark(cpu)
        return super().receive(skb, cpu)


def test_a_socket_learns_the_instance_that_has_taken_its_last_packet() -> None:
    bench = I40eBench()
    socket = Marking(bench.sim, "socket")
    feed(bench.nic, socket, [10 * US])
    bench.run(30)
    assert [number for _, _, number in socket.log] == [0]
    assert socket.busy.napi is bench.napi


def test_a_device_of_another_kind_has_no_instance() -> None:
    bench = I40eBench()
    assert Napi(bench.sim, "backlog", 64).instance_of() is None
    assert bench.nic.instance_of() is bench.napi


@pytest.mark.parametrize(("rearms", "interrupts"), [(False, [10, 60]), (True, [10, 60, 90])])
def test_interrupts_of_a_driver_that_arms_them_anyway_come_while_a_process_polls(
    rearms: bool,  # noqa: FBT001
    interrupts: list[int],
) -> None:
    bench = I40eBench()
    bench.nic.rearms = rearms
    poller = Poller(bench, budget=8, prefer=False)
    bench.feed(10, 60, 70, 90)
    bench.run(40)
    poller.begin(200, for_frames=False)
    bench.run(150)
    # the first of them comes while the vector is still armed
    assert bench.delivered == [0, 1, 2, 3]
    assert bench.asserted_us == interrupts
    bench.run(300)
    assert bench.cpu.times()["softirq_ps"] < 3 * US


def test_polls_that_find_nothing_are_time_that_was_waited() -> None:
    bench = I40eBench()
    poller = Poller(bench, budget=8, prefer=False)
    bench.feed(60, 61, 62)
    poller.begin(100, for_frames=False)
    bench.run(100)
    waited = bench.cpu.waited_ps
    # a poll that takes a frame: itself, the driver's and the stack's work
    assert 100 * US - 3 * (100 + 200 + 300) * NS - US < waited < 100 * US - 3 * 500 * NS
