"""A port of the host on the bridge: what guests send by it, and what it receives for them."""

import pytest

from simnet.net.link.skb import Skb, new_skb
from simnet.net.virtio.bridge import BridgePort
from simnet.net.virtio.uplink import FromUplink, Uplink
from tests.host.parts import NS, US
from tests.net.nic.connectx import Bench

MSS = 1448
OVERHEAD = 90
BRIDGE = 700 * NS
WAKEUP = 400 * NS


class Recorder(BridgePort):
    """A tap whose worker sleeps, or not."""

    def __init__(self, *, sleeping: bool) -> None:
        self.sleeping = sleeping
        self.frames: list[Skb] = []

    def sleeps(self, skb: Skb) -> bool:  # noqa: ARG002 - the interface of ports
        return self.sleeping

    def enqueue(self, skb: Skb) -> int:
        self.frames.append(skb)
        return 0


def large(bench: Bench, segments: int, *, tail: int = 0) -> Skb:
    """What a guest with TSO sends: so many segments and a shorter one."""
    length = segments * MSS + tail
    skb = new_skb(bench.sink, 1000, 1000 + length, 7, 9, length + OVERHEAD, push=True)
    skb.segment_bytes = MSS if segments > 1 or tail else 0
    return skb


class TestSend:
    @pytest.mark.parametrize(("segments", "tail", "frames"), [(1, 0, 1), (45, 0, 45), (2, 100, 3)])
    def test_the_device_cuts_a_large_segment(self, segments: int, tail: int, frames: int) -> None:
        bench = Bench(tso=True)
        Uplink([bench.nic]).enqueue(large(bench, segments, tail=tail))
        bench.run(1000)
        assert bench.nic.tx.sent == frames
        # each has headers of its own
        assert bench.nic.tx.sent_bytes == segments * MSS + tail + frames * OVERHEAD

    def test_an_acknowledgement_is_a_frame_without_payload(self) -> None:
        bench = Bench()
        Uplink([bench.nic]).enqueue(new_skb(bench.sink, 5, 5, 7, 9, OVERHEAD, push=False))
        bench.run(1000)
        assert (bench.nic.tx.sent, bench.nic.tx.sent_bytes) == (1, OVERHEAD)

    def test_no_thread_wakes(self) -> None:
        bench = Bench()
        assert not Uplink([bench.nic]).sleeps(large(bench, 1))


class TestReceive:
    def received(
        self, *, merges: bool, sleeping: bool = True, frames: int = 5
    ) -> tuple[Bench, Recorder]:
        """Frames that come at once, for a guest."""
        bench = Bench(merges=merges, costs={"wakeup": WAKEUP // NS})
        tap = Recorder(sleeping=sleeping)
        bench.nic.steering = FromUplink(tap, bench.machine.costs, BRIDGE)
        for number in range(frames):
            skb = new_skb(
                bench.sink, number * MSS, (number + 1) * MSS, 0, 0, MSS + OVERHEAD, push=False
            )
            skb.arrival_ps = 100 * US
            bench.nic.incoming.append(skb)
        bench.nic.frames_added()
        bench.run(1000)
        return bench, tap

    def test_what_receive_offload_merged_goes_on_as_one(self) -> None:
        bench, tap = self.received(merges=True)
        (frame,) = tap.frames
        assert (frame.seq, frame.end_seq, frame.segment_bytes) == (0, 5 * MSS, MSS)
        assert frame.wire_bytes == 5 * MSS + OVERHEAD
        assert bench.sink.log == []

    def test_one_that_was_held_alone_is_no_large_one(self) -> None:
        _, tap = self.received(merges=True, frames=1)
        assert [(frame.segment_bytes, frame.wire_bytes) for frame in tap.frames] == [
            (0, MSS + OVERHEAD)
        ]

    def test_without_it_each_frame_goes_alone(self) -> None:
        _, tap = self.received(merges=False)
        assert [(frame.seq, frame.segment_bytes) for frame in tap.frames] == [
            (number * MSS, 0) for number in range(5)
        ]

    def test_the_poll_pays_for_the_bridge_and_for_the_wake_up(self) -> None:
        paid = {}
        for sleeping in (False, True):
            bench, _ = self.received(merges=False, sleeping=sleeping)
            paid[sleeping] = bench.machine.costs.ledger.hypervisor
        assert paid == {False: 5 * BRIDGE, True: 5 * (BRIDGE + WAKEUP)}
