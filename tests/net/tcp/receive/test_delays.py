"""How long a receiver leaves an ACK to a timer, to an answer, or to the reader."""

import pytest

from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.rules.receiver_version import ReceiverRules
from tests.host.parts import MS, US
from tests.net.tcp.receive.test_acknowledgements import comes
from tests.net.tcp.receive.test_receiver import MSS, RTO, make, settle, take
from tests.net.tcp.receive.test_versions import make as make_version
from tests.net.tcp.receive.test_versions import settled


class TestDelay:
    @pytest.mark.parametrize(
        ("now", "due"), [(0, 19), (1, 19), (18, 19), (19, 19), (20, 39), (45, 59)]
    )
    def test_a_scan_of_all_connections_begins_at_multiples_of_its_period(
        self, now: int, due: int
    ) -> None:
        receiver = make(rules=ReceiverRules(segments_per_ack=2, scan_jiffies=20))
        assert not take(receiver, MSS, now)
        assert receiver.delack.schedule_timer(now) == receiver.delack.timeout_jiffy == due

    def test_every_jiffy_is_a_period_too(self) -> None:
        receiver = make(rules=ReceiverRules(segments_per_ack=2, scan_jiffies=1))
        take(receiver)
        assert receiver.delack.schedule_timer(7) == 7

    def test_every_second_segment_whatever_its_size(self) -> None:
        receiver = make(rules=ReceiverRules(segments_per_ack=2, scan_jiffies=20), sack=False)
        answers = []
        for length in (10, 10, MSS, 10, 10, 10):
            answers.append(take(receiver, length))
            if answers[-1]:
                receiver.ack_sent()
        assert answers == [False, True] * 3
        # a read sends nothing by itself
        take(receiver, 10, push=True)
        assert not receiver.delack.due_after_copy(1)
        assert receiver.delack.holds(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1) is False
        receiver.ack_sent()
        assert receiver.delack.holds(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1)
        assert not receiver.delack.holds(receiver.seq.rcv_nxt + 1, receiver.seq.rcv_nxt + 2)
        comes(receiver, receiver.seq.rcv_nxt + 100, receiver.seq.rcv_nxt + 200)
        receiver.ack_sent()
        assert not receiver.delack.holds(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1)
        # old data, or beyond the window, are answered at once
        assert comes(receiver, receiver.seq.rcv_nxt - 5, receiver.seq.rcv_nxt)

    def test_every_segment(self) -> None:
        receiver = make(rules=ReceiverRules(segments_per_ack=1))
        for _ in range(3):
            assert take(receiver, 10)
            receiver.ack_sent()
        end = receiver.seq.rcv_wup + receiver.seq.rcv_wnd
        assert comes(receiver, end, end + 1)

    @pytest.mark.parametrize(
        ("delay", "scale"), [({"seq": 0, "end": 1448}, True), ({"seq": 0, "end": 1449}, False)]
    )
    def test_an_ack_is_left_to_the_next_segment_up_to_a_full_one(
        self,
        delay: dict[str, int],
        scale: bool,  # noqa: FBT001
    ) -> None:
        receiver = settle(make())
        seq, end = (receiver.seq.rcv_nxt + delay[name] for name in ("seq", "end"))
        assert receiver.delack.holds(seq, end) == scale
        assert not receiver.delack.holds(seq + 1, end)
        take(receiver, MSS, RTO + 1)
        receiver.ack_sent()
        assert not receiver.delack.holds(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1)
        receiver.delack.set_quickack(0)
        assert receiver.delack.holds(receiver.seq.rcv_nxt, receiver.seq.rcv_nxt + 1)

    @pytest.mark.parametrize(
        ("limit_ms", "srtt_ms", "due"),
        [(0, 0, 50), (16, 0, 4), (200, 0, 50), (0, 48, 12), (0, 4, 10)],
    )
    def test_at_most_delack_max_the_round_trip_and_the_route_s_limit(
        self, limit_ms: int, srtt_ms: int, due: int
    ) -> None:
        receiver = settle(make(delack_limit_ps=limit_ms * MS, srtt_ps=srtt_ms * MS))
        take(receiver)
        for _ in range(5):
            receiver.delack.expired()
        assert receiver.delack.ato == 320
        take(receiver, 10, push=True)
        receiver.delack.expired()
        assert receiver.delack.schedule_timer(100) == 100 + due

    def test_no_longer_than_it_is_set_for(self) -> None:
        receiver = settle(make())
        take(receiver, 100, push=True)
        assert receiver.delack.schedule_timer(0) == 10
        # a quarter of ato before
        assert [receiver.delack.schedule_timer(now) for now in (7, 8)] == [10, 0]
        assert receiver.delack.timeout_jiffy == 10
        receiver.ack_sent()
        assert receiver.delack.schedule_timer(8) == 18

    def test_a_timer_that_finds_nothing(self) -> None:
        receiver = settle(make())
        receiver.delack.schedule_timer(0)
        assert not receiver.delack.expired()
        assert receiver.delack.timeout_jiffy == -1
        assert receiver.delack.ato == 10

    def test_ato_stays_below_the_timeout(self) -> None:
        receiver = settle(make(rto_ps=72 * MS))
        take(receiver)
        seen = []
        for _ in range(2):
            assert receiver.delack.expired()
            seen.append(receiver.delack.ato)
        assert seen == [18, 18]
        # a gap of 17 jiffies: half of 18 and 17
        take(receiver, 10, 17)
        assert receiver.delack.ato == 18

    def test_a_timer_that_ends_interactive_mode_begins_with_the_least(self) -> None:
        receiver = settle(make())
        take(receiver)
        receiver.delack.expired()
        receiver.delack.set_quickack(0)
        assert receiver.delack.ato == 20
        assert receiver.delack.expired()
        assert (receiver.delack.ato, receiver.delack.pingpong) == (10, False)

    @pytest.mark.parametrize(("version", "blocked"), [("5.9", True), ("5.10", False)])
    def test_a_timer_that_finds_the_socket_owned(self, version: str, blocked: bool) -> None:  # noqa: FBT001
        receiver = make_version(version)
        receiver.delack.found_owned()
        assert receiver.delack.blocked == blocked

    @pytest.mark.parametrize(("version", "jiffies"), [("4.7", 0), ("4.8", 1)])
    def test_a_timer_may_be_a_jiffy_late_from_4_8_on(self, version: str, jiffies: int) -> None:
        assert make_version(version).delack.timer_jiffies == jiffies


class TestAnswers:
    @pytest.mark.parametrize(("late", "interactive"), [(9, True), (10, False)])
    def test_within_ato_of_the_last_segment(self, late: int, interactive: bool) -> None:  # noqa: FBT001
        receiver = settle(make(), 100)
        take(receiver, MSS, 1000)
        assert receiver.delack.ato == 10
        receiver.delack.data_sent(1000 + late)
        assert receiver.delack.pingpong == interactive

    def test_three_of_them_from_5_1_on_each_time(self) -> None:
        receiver, _ = settled("5.4")
        take(receiver, 100)
        for _ in range(2):
            for interactive in (False, False, True, True):
                receiver.delack.data_sent(0)
                assert receiver.delack.pingpong == interactive
            receiver.delack.set_quickack(1)


class TestHeldBack:
    """ACKs for segments ahead of a hole, from 4.18 on."""

    def test_a_hole_that_moves_is_another(self) -> None:
        receiver, number = settled("6.18")
        base = 1000 * number
        answers = [comes(receiver, base + 1000 * n, base + 1000 * n + 1000) for n in (1, 2, 3, 4)]
        assert answers == [True, True, True, False]
        assert receiver.compression.started
        # all of it is acknowledged when the hole is filled
        assert comes(receiver, base, base + 1000)
        receiver.ack_sent()
        assert receiver.compression.compressed == 0
        base += 5000
        answers = [comes(receiver, base + 1000 * n, base + 1000 * n + 1000) for n in range(1, 6)]
        assert answers == [True, True, True, False, False]
        assert receiver.compression.compressed == 2
        assert receiver.delack.expired()

    def test_not_without_sack(self) -> None:
        receiver, number = settled("6.18", sack=False)
        base = 1000 * number
        answers = [comes(receiver, base + 1000 * n, base + 1000 * n + 1000) for n in range(1, 6)]
        assert answers == [True] * 5

    @pytest.mark.parametrize(
        ("rtt_us", "srtt_us", "delay_us"),
        [
            (1000, 0, 150),
            (1000, 400, 120),
            (400, 1000, 120),
            (18_000, 0, 1000),
            (20_000, 0, 1100),
            (20_001, 0, 1100),
            (0, 0, 100),
        ],
    )
    def test_for_a_twentieth_of_the_round_trip_up_to_a_millisecond(
        self, rtt_us: int, srtt_us: int, delay_us: int
    ) -> None:
        receiver = make_version("6.18", srtt_ps=srtt_us * US)
        receiver.window.rtt = 8 * rtt_us
        assert receiver.compression.delay_ps(receiver.window.rtt) == delay_us * US


class TestReader:
    @pytest.mark.parametrize(
        ("left", "free", "due"),
        # 20000 bytes of window at most; whole segments of 1000
        [
            (10_000, 20_000, True),
            (10_001, 20_000, False),
            (5000, 10_000, True),
            (5000, 9999, False),
            (5001, 10_001, False),
            (0, 1000, True),
            (0, 999, False),
        ],
    )
    def test_a_window_update_goes_when_it_is_twice_what_is_left(
        self, left: int, free: int, *, due: bool
    ) -> None:
        rules = ReceiverRules(adv_win_scale=62, whole_buffer=True)
        receiver = make(
            rules=rules,
            sizes=SkbSizes(1, part_bytes=1),
            rmem_default=20_000,
            advmss=1000,
            min_rcvmss=1000,
            max_quickacks=0,
            window_scaling=False,
            rcvbuf_locked=True,
        )
        comes(receiver, 0, free - left)
        comes(receiver, free - left, 20_000 - left)
        receiver.ack_sent()
        receiver.copied(free - left, 0)
        assert receiver.seq.rcv_wnd == left
        assert receiver.delack.due_after_copy(1) == due
        assert not receiver.delack.due_after_copy(0)

    def test_reading_moves_what_is_unread(self) -> None:
        receiver = settle(make())
        for _ in range(3):
            take(receiver, 1000, direct=False)
        assert (receiver.readable(), receiver.window.allocated()) == (3000, 3 * 1904)
        receiver.copied(1500, 0)
        assert (receiver.readable(), receiver.window.allocated()) == (1500, 2 * 1904)
        receiver.copied(500, 0)
        assert (receiver.readable(), receiver.window.allocated()) == (1000, 1904)
        receiver.copied(1000, 0)
        assert (receiver.readable(), receiver.window.allocated()) == (0, 0)

    def test_each_read_may_size_the_buffer(self) -> None:
        receiver = make()
        receiver.copied(0, 0)
        for _ in range(40):
            take(receiver, direct=False)
            receiver.copied(MSS, 1 if receiver.seq.rcv_nxt == 40 * MSS else 0)
            receiver.ack_sent()
        # the first byte of the last segment's read, 39 segments after the first
        assert receiver.window.rcvq_space >= 2 * 39 * MSS
