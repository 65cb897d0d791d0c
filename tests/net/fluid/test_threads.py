"""Flows that a thread reads: what it has not taken stays in the socket, a window at most."""

from typing import Any

import pytest

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, FlowLink, Message, MessageReceiver, new_message
from simnet.net.fluid.flow_fabric import FlowFabric

US = 10**6
MB = 10**6


class Thread(MessageReceiver):
    """Works a time on each message."""

    def __init__(self, sim: Simulator, work_ps: int, path: str = "thread") -> None:
        super().__init__(sim, path)
        self.work_ps = work_ps
        self.got: list[tuple[int, Any]] = []
        self.sent: list[tuple[int, Any]] = []

    def message_arrived(self, message: Message) -> int:
        self.got.append((self.sim.now // US, message.tag))
        if self.work_ps:
            self.sim.after(self.work_ps, self, 0, 0, 1)
        return int(self.work_ps > 0)

    def message_sent(self, message: Message) -> int:
        self.sent.append((self.sim.now // US, message.tag))
        return 0

    def on_event(self, _kind: int, _arg: int) -> None:
        self.fabric.read_next(self.flow)

    fabric: FlowFabric
    flow: Flow


class Net(Component):
    """One link of 100 bytes a microsecond, flows over it, the first read by a thread."""

    def __init__(self, *, window: int, work_ps: int = 50 * US, small: int = 0) -> None:
        super().__init__(Simulator(), "net")
        self.fabric = FlowFabric(self.sim, "flows", 1, small_bytes=small, pause=False, xoff_bytes=0)
        self.link = FlowLink("link", 100 * MB)
        self.thread = Thread(self.sim, work_ps)
        self.flow = self.add(window)
        self.flow.threaded = True
        self.thread.fabric, self.thread.flow = self.fabric, self.flow

    def add(self, window: int) -> Flow:
        """Another flow over the link, a window of it a hair's time."""
        flow = self.fabric.connect(0, window_bytes=window, round_trip_ps=1, latency_ps=0)
        self.fabric.route(flow, [self.link], 1)
        return flow

    def send(self, *sizes: int) -> list[tuple[int, Any]]:
        """Send messages by the first flow; when they are handed over, in microseconds."""
        for number, size in enumerate(sizes):
            self.fabric.send(self.flow, new_message(size, self.thread, 0, number))
        self.sim.run_until(10**10)
        return self.thread.got


@pytest.mark.parametrize(
    ("window", "second_us"),
    [
        # all but a window follows when the thread reads on, 50 us after the first message came
        (200, 10 + 50 + 8),
        (999, 10 + 50 + 0),
        (1, 10 + 50 + 9),
        # all of it is in the socket by then
        (1000, 10 + 50),
        (5000, 10 + 50),
    ],
)
def test_a_window_of_the_next_message_comes_while_the_thread_works(
    window: int, second_us: int
) -> None:
    net = Net(window=window)
    assert net.send(1000, 1000) == [(10, 0), (second_us, 1)]


def test_a_receiver_that_takes_no_time_stops_nobody() -> None:
    assert Net(window=200, work_ps=0).send(1000, 1000, 1000) == [(10, 0), (20, 1), (30, 2)]


def test_a_thread_that_is_done_before_the_window_is_full_stops_nobody() -> None:
    assert Net(window=200, work_ps=US).send(1000, 1000) == [(10, 0), (20, 1)]


def test_messages_in_the_socket_are_taken_one_by_one_and_make_room_one_by_one() -> None:
    net = Net(window=400)
    # the second and the third are in the socket from 13 us on, and 100 bytes of the fourth; when
    # the second is taken another 150 follow, when the third is, another 150
    assert net.send(1000, 150, 150, 1000) == [(10, 0), (60, 1), (110, 2), (160 + 6, 3)]


def test_a_small_message_waits_in_the_socket_too() -> None:
    net = Net(window=400, small=50)
    net.fabric.send(net.flow, new_message(1000, net.thread, 0, "large"))
    net.sim.run_until(20 * US)
    net.fabric.send(net.flow, new_message(10, net.thread, 0, "small"))
    net.sim.run_until(10**10)
    assert net.thread.got == [(10, "large"), (60, "small")]


def test_a_closed_window_leaves_the_link_to_others() -> None:
    net = Net(window=200)
    other = net.add(200)
    got = Thread(net.sim, 0, "other")
    for number in range(2):
        net.fabric.send(net.flow, new_message(1000, net.thread, 0, number))
    net.sim.run_until(15 * US)
    assert net.flow.shut
    net.fabric.send(other, new_message(1000, got, 0, "other"))
    net.sim.run_until(10**10)
    assert got.got == [(25, "other")]
    assert net.thread.got[1] == (68, 1)


def test_its_sender_hears_when_a_message_has_left() -> None:
    net = Net(window=200, small=50)
    net.send(1000, 1000, 10)
    assert net.thread.sent == [(10, 0), (68, 1), (68, 2)]
