"""Which segments a receiver takes, and how it begins."""

import pytest

from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.receiver import TcpReceiver
from tests.host.parts import MS
from tests.net.tcp.receive.test_acknowledgements import comes, sack_of
from tests.net.tcp.receive.test_receiver import MSS, make, settle, take
from tests.net.tcp.receive.test_versions import make as make_version
from tests.net.tcp.receive.test_versions import settled


class TestBeginning:
    def test_nothing_has_come(self) -> None:
        receiver = make()
        numbers = (receiver.seq.rcv_nxt, receiver.seq.rcv_wup, receiver.seq.copied_seq)
        counts = (receiver.segments, receiver.duplicates, receiver.out_of_order_segments)
        assert numbers == counts == (0, 0, 0)
        modes = (
            receiver.delack.scheduled,
            receiver.delack.pingpong,
            receiver.delack.pushed,
            receiver.delack.pushed_twice,
        )
        assert not any(
            (*modes, receiver.delack.blocked, receiver.delack.ack_now, receiver.delack.no_memory)
        )
        assert (
            receiver.delack.quick,
            receiver.compression.compressed,
            receiver.compression.started,
        ) == (0, 0, False)
        assert (receiver.delack.ato, receiver.delack.timeout_jiffy, receiver.now_us) == (0, -1, 0)
        assert (receiver.readable(), receiver.window.allocated(), receiver.memory.collapsed) == (
            0,
            0,
            0,
        )
        assert receiver.ecn is None
        assert (receiver.out_of_order, receiver.held.duplicate, receiver.sack_blocks()) == (
            [],
            None,
            [],
        )

    def test_times_are_whole_jiffies(self) -> None:
        times = {
            "ato_min_ps": 41 * MS,
            "delack_max_ps": 201 * MS,
            "rto_ps": 3001 * MS,
            "delack_limit_ps": 9 * MS,
            "srtt_ps": 13 * MS,
        }
        receiver = make(**times)
        assert (
            receiver.delack.ato_min,
            receiver.delack.delack_min,
            receiver.delack.delack_max,
        ) == (11, 11, 51)
        assert (
            receiver.delack.rto_jiffies,
            receiver.delack.delack_limit,
            receiver.delack.srtt_jiffies,
        ) == (751, 3, 4)
        assert make(delack_min_ps=5 * MS).delack.delack_min == 2
        # srtt is in eighths of a microsecond
        assert receiver.compression.srtt_us == 8 * 13_000
        assert (make().compression.srtt_us, make(srtt_ps=1).compression.srtt_us) == (0, 1)
        assert min(make().delack.delack_limit, make().delack.srtt_jiffies) > 10**9

    @pytest.mark.parametrize(
        ("options", "rcv_mss"),
        [
            ({}, 536),
            ({"min_rcvmss": 2000}, MSS),
            ({"advmss": 500}, 500),
            ({"advmss": 50}, 88),
            ({"rmem_default": 1000, "rcvbuf_locked": True}, 375),
            ({"rmem_default": 100, "rcvbuf_locked": True}, 88),
        ],
    )
    def test_a_segment_is_taken_for_small_at_first(
        self, options: dict[str, int], rcv_mss: int
    ) -> None:
        assert make(**options).delack.rcv_mss == rcv_mss

    def test_a_syn_s_window_is_not_scaled(self) -> None:
        assert make().syn_window == 4 * MSS
        large = make_version("6.18", rmem_default=1 << 20)
        assert (large.syn_window, large.seq.rcv_wnd > 65_535) == (65_535, True)

    def test_it_begins_at_any_number(self) -> None:
        receiver = make()
        receiver.start(5000, 77)
        assert (receiver.seq.rcv_nxt, receiver.seq.rcv_wup, receiver.seq.copied_seq) == (
            5000,
            5000,
            5000,
        )
        assert (receiver.now_us, receiver.readable()) == (77, 0)
        take(receiver, 100)
        assert receiver.seq.rcv_nxt == 5100

    def test_right_sizing_begins_with_the_connection(self) -> None:
        receiver = make_version("4.13", timestamps=True)
        receiver.start(10**6, 50)
        take(receiver, 30_000, direct=True)
        receiver.window.rtt = 8
        receiver.now_us = 51
        receiver.space_adjust(0)
        assert receiver.window.rcvq_space == 30_000

    def test_each_buffer_size_has_its_own(self) -> None:
        assert make(truesize_overhead=52).sizes.truesize(1) == 1500
        assert make(truesize_overhead=552).sizes.truesize(MSS + 1) == 2 * 2000
        assert make(sizes=SkbSizes(700)).sizes.truesize(1) == 700


class TestWhatCounts:
    """`tcp_sequence`; a window of 5792 bytes from 10000 on, of which 1000 have come."""

    def receiver(self, version: str = "2.6.18") -> TcpReceiver:
        receiver = make(rules=None) if version == "2.6.18" else make_version(version)
        receiver.start(9000)
        comes(receiver, 9000, 10_000)
        receiver.ack_sent()
        comes(receiver, 10_000, 11_000)
        return receiver

    def test_a_segment_from_the_last_ack_to_the_end_of_the_window(self) -> None:
        receiver = self.receiver()
        end = 10_000 + receiver.seq.rcv_wnd
        for seq, end_seq, counts in (
            (9000, 9999, False),
            (9000, 10_000, True),
            (end, end + 1, True),
            (end + 1, end + 2, False),
        ):
            assert receiver.seq.acceptable(seq, end_seq) == counts

    @pytest.mark.parametrize(("version", "taken"), [("6.16", True), ("6.17", False)])
    def test_one_that_goes_beyond_it(self, version: str, taken: bool) -> None:  # noqa: FBT001
        receiver = self.receiver(version)
        end = 10_000 + receiver.seq.rcv_wnd
        assert receiver.seq.acceptable(end - 1, end)
        assert receiver.seq.acceptable(end - 1, end + 1) == taken
        # unless the reader has got everything
        receiver.copied(2000, 0)
        assert receiver.seq.acceptable(end - 1, end + 1)

    def test_what_is_old_is_answered_at_once_with_its_range(self) -> None:
        receiver = settle(make())
        receiver.start(50_000)
        base = receiver.seq.rcv_nxt
        receiver.delack.data_sent(0)
        assert receiver.delack.pingpong
        assert comes(receiver, base - 3000, base - 2000)
        assert (receiver.held.duplicate, receiver.duplicates) == ((base - 3000, base - 2000), 1)
        assert (receiver.delack.quick, receiver.delack.pingpong, receiver.delack.scheduled) == (
            16,
            False,
            True,
        )
        assert sack_of(receiver, dsack=True) == [(base - 3000, base - 2000)]
        # what is before the last ACK, though in part
        assert comes(receiver, base - 3000, base - 1)
        assert receiver.held.duplicate == (base - 3000, base - 1)

    def test_what_is_beyond_the_window_is_answered_without_a_range(self) -> None:
        receiver = settle(make())
        end = receiver.seq.rcv_wup + receiver.seq.rcv_wnd
        assert comes(receiver, end + 1, end + 2)
        assert (receiver.held.duplicate, receiver.duplicates, receiver.delack.quick) == (None, 0, 0)
        assert (receiver.delack.scheduled, receiver.out_of_order) == (True, [])
        receiver.ack_sent()
        # at its very end: as `tcp_data_queue` has it, with quick ACKs
        assert comes(receiver, end, end + 1)
        assert (receiver.delack.quick, receiver.out_of_order) == (16, [])

    def test_a_part_that_is_old_is_reported_and_the_rest_taken(self) -> None:
        receiver, number = settled("2.6.18")
        base = 1000 * number
        comes(receiver, base, base + 1000)
        assert comes(receiver, base + 400, base + 1400)
        assert receiver.held.duplicate == (base + 400, base + 1000)
        assert (receiver.seq.rcv_nxt, receiver.duplicates) == (base + 1400, 1)
        # the next segment says nothing of it
        comes(receiver, base + 1400, base + 1500)
        assert receiver.held.duplicate is None

    def test_counters_add_up(self) -> None:
        receiver, number = settled("6.18")
        base, before = 1000 * number, receiver.segments
        for first, last in ((0, 1), (2, 3), (2, 3), (0, 1), (1, 2), (5, 6)):
            comes(receiver, base + 1000 * first, base + 1000 * last)
        assert receiver.segments - before == 6
        assert (receiver.duplicates, receiver.out_of_order_segments) == (2, 3)
        assert receiver.seq.rcv_nxt == base + 3000
