"""All the hosts behind one port: one link out, and frames in as they arrive."""

from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, SwitchedPath, new_skb
from simnet.net.remote.hosts import RemoteHosts
from tests.host.parts import US
from tests.net.parts import GIGABIT, US_BYTES, Far, Sink, frame


class Fetched(Sink):
    """Remembers what it was asked to fetch for."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim)
        self.asked: list[bool] = []

    def fetch(self, data: bool) -> int:  # noqa: FBT001 - as every endpoint
        self.asked.append(data)
        return 0

    def receive(self, skb: Skb, cpu: Cpu | None) -> int:
        assert cpu is None
        self.log.append((self.sim.now, 0, skb.seq))
        return 0


def test_hosts_send_one_after_another_by_their_link() -> None:
    sim = Simulator()
    hosts, far, sink = RemoteHosts(sim, "hosts", GIGABIT), Far(sim), Sink(sim)
    wire = SwitchedPath(sim, "wire", far, GIGABIT, 0, 0, per_frame=False)
    hosts.path_out = wire
    assert hosts.path_out is wire
    sim.run_until(5 * US)
    for seq in range(3):
        hosts.uplink.send(frame(sink, seq, wire_bytes=US_BYTES))
    arrived = [far.incoming.pop() for _ in range(far.incoming.count)]
    # stored by the switch, and sent on
    assert [skb.arrival_ps for skb in arrived] == [7 * US, 8 * US, 9 * US]
    assert hosts.counters() == {"received": 0, "sent": 3}


def test_frames_are_received_when_they_arrive() -> None:
    sim = Simulator()
    hosts, end = RemoteHosts(sim, "hosts", GIGABIT), Fetched(sim)
    # two at once; the third carries no data
    for seq, length, at in ((1, 1, 3), (2, 1, 3), (3, 0, 7), (4, 1, 9)):
        skb = new_skb(end, seq, seq + length, 0, 0, 90, push=False)
        skb.arrival_ps = at * US
        hosts.incoming.append(skb)
        hosts.frames_added()
    assert end.asked == [True]
    sim.run_until(8 * US)
    assert end.log == [(3 * US, 0, 1), (3 * US, 0, 2), (7 * US, 0, 3)]
    assert end.asked == [True, False, True]
    assert hosts.counters() == {"received": 3, "sent": 0}
    # one that was lost on the way: the event finds nothing
    hosts.drop_in_flight(sim.now)
    sim.run_until(20 * US)
    assert hosts.counters() == {"received": 3, "sent": 0}
    skb = new_skb(end, 5, 6, 0, 0, 90, push=False)
    skb.arrival_ps = 21 * US
    hosts.incoming.append(skb)
    hosts.frames_added()
    sim.run_until(30 * US)
    assert end.log[-1] == (21 * US, 0, 5)
    assert hosts.counters() == {"received": 4, "sent": 0}
