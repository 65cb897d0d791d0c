"""netperf TCP_STREAM: who calls what, and how fast a stream is where nothing is in its way."""

from dataclasses import replace

import pytest

from tests.laws.machines import MS, HostPlan, Lab, NicPlan, Plan, StreamPlan

# CPUs that cost next to nothing, and a receive buffer of 174760 bytes
FREE = HostPlan(cost_permille=20, rto_init_ms=200)
LINE_RATE_BPS = 10**9 * 1448 // 1538


def goodput_bps(lab: Lab, length_ps: int = 30 * MS) -> float:
    """Measure after the start."""
    lab.run(15 * MS)
    before = delivered(lab)
    lab.run(length_ps)
    return 8 * (delivered(lab) - before) * 10**12 / length_ps


def delivered(lab: Lab) -> int:
    return sum(int(socket.delivered) for socket in lab.receivers)


@pytest.mark.parametrize("whole_peer", [True, False])
class TestStream:
    def test_reaches_line_rate_where_cpus_are_free(self, whole_peer: bool) -> None:  # noqa: FBT001
        lab = Lab(Plan(host=FREE, peer=FREE, whole_peer=whole_peer))
        assert goodput_bps(lab) == pytest.approx(LINE_RATE_BPS, rel=0.01)

    def test_timestamps_cost_twelve_bytes_a_segment(self, whole_peer: bool) -> None:  # noqa: FBT001
        free = replace(FREE, timestamps=False)
        lab = Lab(Plan(host=free, peer=free, whole_peer=whole_peer))
        assert goodput_bps(lab) == pytest.approx(10**9 * 1460 / 1538, rel=0.01)

    def test_jumbo_frames_carry_more(self, whole_peer: bool) -> None:  # noqa: FBT001
        stream = StreamPlan(nic=NicPlan(mtu=9000), peer_nic=NicPlan(mtu=9000))
        free = replace(FREE, sndbuf=131_072)
        lab = Lab(Plan(host=free, peer=free, streams=(stream,), whole_peer=whole_peer))
        assert goodput_bps(lab) == pytest.approx(10**9 * 8948 / 9038, rel=0.01)

    @pytest.mark.parametrize("message", [64, 1448, 8192, 262_144])
    def test_message_size_does_not_matter_where_calls_cost_nothing(
        self,
        whole_peer: bool,  # noqa: FBT001
        message: int,
    ) -> None:
        stream = StreamPlan(message=message)
        lab = Lab(Plan(host=FREE, peer=FREE, streams=(stream,), whole_peer=whole_peer))
        assert goodput_bps(lab) == pytest.approx(LINE_RATE_BPS, rel=0.01)

    def test_small_messages_cost_the_sender_its_time(self, whole_peer: bool) -> None:  # noqa: FBT001
        # a send of 64 bytes costs 3 us of system calls and more
        slow = HostPlan(cores=1, dear_cost="syscall", dear_permille=10_000)
        stream = StreamPlan(message=64)
        lab = Lab(Plan(host=FREE, peer=slow, streams=(stream,), whole_peer=whole_peer))
        assert goodput_bps(lab) < 64 * 8 / 3e-6

    def test_receiver_acknowledges_every_other_segment(self, whole_peer: bool) -> None:  # noqa: FBT001
        lab = Lab(Plan(host=FREE, peer=FREE, whole_peer=whole_peer)).run(20 * MS)
        (socket,) = lab.receivers
        before = socket.acks_sent, socket.receiver.segments
        lab.run(30 * MS)
        acks, segments = (socket.acks_sent - before[0], socket.receiver.segments - before[1])
        assert acks == pytest.approx(segments / 2, rel=0.02)

    def test_window_limits_it(self, whole_peer: bool) -> None:  # noqa: FBT001
        """65535 bytes in a round trip of 2 ms are 262 Mbit/s."""
        host = replace(FREE, window_scaling=False, moderate_rcvbuf=False)
        prompt = NicPlan(rx_frames=1, rx_frames_irq=1)
        plan = Plan(
            host=host,
            peer=replace(FREE, sndbuf=131_072),
            streams=(StreamPlan(nic=prompt, peer_nic=prompt),),
            switch_us=1000,
            whole_peer=whole_peer,
        )
        window = 65_535 // 1448 * 1448
        # two frames to an ACK, each twice on the wire, make a round trip a little longer
        lab = Lab(plan).run(30 * MS)
        assert 0.9 < goodput_bps(lab) / (8 * window / 2e-3) < 0.98


def test_streams_start_when_their_seed_says() -> None:
    lab = Lab(Plan(streams=(StreamPlan(), StreamPlan())))
    first: dict[int, int] = {}
    while len(first) < 2:
        lab.run(MS // 100)
        for number, sender in enumerate(lab.senders):
            if sender.seq.write_seq and number not in first:
                first[number] = lab.sim.now
    assert first[0] != first[1]
    assert max(first.values()) <= 2 * MS
