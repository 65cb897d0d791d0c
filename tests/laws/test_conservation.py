"""Nothing appears from nowhere and nothing gets lost: frames, bytes, CPU time."""

from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.socket import TcpSocket
from tests.house.examples import examples
from tests.laws.machines import MS, HostPlan, Lab, NicPlan, Plan, StreamPlan, cpu_count
from tests.laws.strategies import plans

EXAMPLES = examples(150)
looks = st.lists(st.integers(1, 12 * MS), min_size=1, max_size=4)


def at_times(plan: Plan, gaps_ps: list[int], **options: Any) -> Iterator[Lab]:
    """Stop a machine at several instants."""
    lab = Lab(plan, **options)
    for gap_ps in gaps_ps:
        yield lab.run(gap_ps)


def handed_over(sockets: Iterable[Any]) -> int:
    """Frames that sockets have got from their port."""
    return sum(s.softirq_processed + s.backlogged + s.ucopy.prequeued for s in sockets)


def produced(sockets: Iterable[Any]) -> int:
    """Frames that sockets have given to their port, probes of closed windows left out."""
    return sum(
        s.acks_sent + s.sender.output.segments + s.sender.output.retransmissions - s.staged.count
        for s in sockets
    )


@settings(max_examples=EXAMPLES)
@given(plans, looks)
def test_frames_are_on_the_wire_in_a_ring_dropped_or_handed_over(
    plan: Plan, gaps_ps: list[int]
) -> None:
    for lab in at_times(plan, gaps_ps):
        for wire in lab.wires:
            nic, peer = wire.nic, wire.peer
            assert wire.back.frames == nic.rx_packets + nic.drops + nic.incoming.count
            assert wire.out.frames == nic.tx.sent
            assert wire.out.bytes == nic.tx.sent_bytes
            if peer is not None:
                assert wire.out.frames == peer.rx_packets + peer.drops + peer.incoming.count
                assert wire.back.frames == peer.tx.sent
                assert 0 <= peer.rx_packets - handed_over(wire.far) <= wire.plan.peer_nic.rx_buffers
            elif wire.plan.directions == (False,):
                (end,) = wire.far
                assert wire.out.frames == end.receiver.segments + end.unread_bytes
                assert wire.back.frames == end.acks_sent
            assert 0 <= nic.rx_packets - handed_over(wire.ends) <= wire.plan.nic.rx_buffers
            assert 0 <= nic.qdisc.count <= plan.host.txqueuelen
            probes = nic.tx.sent + nic.qdisc_drops + nic.qdisc.count - produced(wire.ends)
            assert 0 <= probes <= len(wire.ends) * (1 + lab.sim.now // (plan.host.rto_min_ms * MS))
            assert probes == 0 or not all(wire.plan.directions)


@settings(max_examples=EXAMPLES)
@given(plans, looks)
def test_cpu_time_adds_up_to_elapsed_time(plan: Plan, gaps_ps: list[int]) -> None:
    modes = ("user_ps", "system_ps", "softirq_ps", "irq_ps", "idle_ps")
    for lab in at_times(plan, gaps_ps):
        hosts = 1 + (len(lab.wires) if plan.whole_peer else 0)
        assert len(lab.cpus) == cpu_count(plan.host) + (hosts - 1) * cpu_count(plan.peer)
        for cpu in lab.cpus:
            times = cpu.times()
            assert sum(times[mode] for mode in modes) == lab.sim.now
            assert min(times.values()) >= 0


@settings(max_examples=EXAMPLES)
@given(plans, looks)
def test_every_tick_is_counted_once(plan: Plan, gaps_ps: list[int]) -> None:
    tick_ps = 10**12 // plan.host.hz
    for lab in at_times(plan, gaps_ps):
        for cpu in lab.system.machine.cpus:
            times = cpu.times()
            counted = sum(count for name, count in times.items() if name.endswith("_ticks"))
            first_ps = (cpu.cpu_id * 7919 % 64) * tick_ps // 64 + 1
            passed = max(0, (lab.sim.now - first_ps) // tick_ps + 1)
            # one that falls into a hard interrupt is seen when it is over
            assert passed - 1 - times["irq_ps"] // tick_ps <= counted <= passed
            assert times["irq_ticks"] == 0


@settings(max_examples=EXAMPLES)
@given(plans, looks)
def test_bytes_stay_in_order(plan: Plan, gaps_ps: list[int]) -> None:
    for lab in at_times(plan, gaps_ps):
        for end, sender in zip(lab.receivers, lab.senders, strict=True):
            receiver = end.receiver
            assert 0 <= end.delivered <= receiver.seq.copied_seq <= receiver.seq.rcv_nxt
            assert sender.seq.snd_una <= receiver.seq.rcv_nxt <= sender.seq.write_seq
            assert sender.seq.snd_una <= sender.seq.snd_nxt <= sender.seq.write_seq
            # nobody sends beyond what was offered (probes of a closed window are old data)
            assert receiver.seq.rcv_nxt <= receiver.seq.rcv_wup + receiver.seq.rcv_wnd
            assert (receiver.window.queue.memory == 0) == (receiver.readable() == 0)
            if isinstance(end, TcpSocket):
                assert end.delivered == receiver.seq.copied_seq
                # no recv returns more than it was asked for
                reader: Any = end.reader
                assert end.delivered <= (reader.calls + 1) * reader.recv_bytes


STREAM_BYTES = 60_000


def backs_off(sender: Any, plan: Plan) -> bool:
    """Whether timeouts double where one buffer receives, and two segments come at once.

    Without timestamps no retransmission's ACK tells a round trip (Karn's rule). With them, the ACK
    of one that had arrived before echoes the first transmission's: the wait passes for a round
    trip.
    """
    if not sender.output.timestamps and sender.timer.backoff > 4 and sender.timer.rto_jiffy > 0:
        return True
    buffers = [nic.rx_buffers for stream in plan.streams for nic in (stream.nic, stream.peer_nic)]
    return min(buffers) == 1 and bool(sender.timeouts > 4 and sender.timer.rto_jiffy > 0)


def test_timestamps_end_the_backoff() -> None:
    """One receive buffer: each flight but its first segment is lost, and sent again."""
    tiny = NicPlan(throttle=True, rx_frames=1, rx_usecs=300, rx_usecs_irq=72, rx_buffers=1)
    host = HostPlan(
        cores=1, cost_permille=6000, dear_cost="wakeup", dear_permille=20_000, rto_min_ms=4
    )
    stream = StreamPlan(message=700, recv=100, nic=tiny)
    plan = Plan(host=host, peer=HostPlan(cores=1), streams=(stream,), rate_mbps=10_000)
    lab = Lab(plan, stop_after=STREAM_BYTES).run(60_000 * MS)
    (socket,), (sender,) = lab.receivers, lab.senders
    assert sender.output.retransmissions > 10
    assert socket.delivered == sender.seq.write_seq >= STREAM_BYTES


@settings(max_examples=EXAMPLES)
@given(plans.filter(lambda plan: plan.whole_peer))
def test_all_that_was_sent_arrives(plan: Plan) -> None:
    lab = Lab(plan, stop_after=STREAM_BYTES)
    pairs = list(zip(lab.receivers, lab.senders, strict=True))
    for _ in range(400):
        lab.run(500 * MS)
        if all(end.delivered == sender.seq.write_seq >= STREAM_BYTES for end, sender in pairs):
            break
    for socket, sender in pairs:
        if backs_off(sender, plan):
            return
        assert socket.delivered == sender.seq.write_seq >= STREAM_BYTES
    # at rest nothing is left anywhere
    lab.run(1000 * MS)
    for wire in lab.wires:
        for nic, path, sockets in (
            (wire.nic, wire.back, wire.ends),
            (wire.peer, wire.out, wire.far),
        ):
            assert nic.rx_packets == handed_over(sockets) == path.frames - nic.drops
            assert nic.tx.sent + nic.qdisc_drops >= produced(sockets)
            assert nic.qdisc.count == 0
            assert not nic.scheduled
            for socket in sockets:
                assert socket.receiver.readable() == socket.receiver.window.allocated() == 0
                assert (
                    socket.ucopy.prequeue.count == socket.backlog.count == socket.staged.count == 0
                )


@settings(max_examples=EXAMPLES // 3)
@given(plans.filter(lambda plan: not plan.whole_peer))
def test_a_port_never_stands_still_for_good(plan: Plan) -> None:
    """Of two streams, one may starve the other's acknowledgements where buffers are very few."""
    lab = Lab(plan).run(50 * MS)
    for _ in range(2):
        before = delivered(lab)
        for _ in range(100):
            lab.run(200 * MS)
            if all(now > then for now, then in zip(delivered(lab), before, strict=True)):
                break
        else:
            raise AssertionError(before)


def delivered(lab: Lab) -> list[int]:
    """Payload that was delivered at either end of each wire."""
    receivers = iter(lab.receivers)
    return [sum(next(receivers).delivered for _ in wire.ends) for wire in lab.wires]
