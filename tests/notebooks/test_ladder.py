"""What is recorded of a conversation, and that the picture has all of it."""

from matplotlib.figure import Figure
from matplotlib.text import Annotation

from lessons.ladder import Segment, ladder, record
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from tests.host.parts import MS, US

PATH = PathOptions(rate_bps=10**10, delay_ps=2 * MS)


def stall() -> list[Segment]:
    run = TcpPath(PATH, TcpOptions(), Requester((100, 200), 10, 2), Responder(300, 10))
    segments = record(run)
    run.run_for(1000 * MS)
    return segments


def bulk(**path: int) -> tuple[TcpPath, list[Segment]]:
    options = PathOptions(rate_bps=10**9, delay_ps=1 * MS, **path)
    run = TcpPath(options, TcpOptions(), BulkSource(100_000), Sink(), seed=3)
    run.forward.numbers = MessageNumbers()
    run.forward.element = ReorderWindow(run.sim, "window", 64)
    return run, record(run)


def texts(figure: Figure) -> list[str]:
    (axes,) = figure.axes
    return [text.get_text() for text in axes.texts]


def test_all_payload_and_when_it_arrives_is_recorded() -> None:
    segments = stall()
    requests = [one for one in segments if one.from_left and one.payload_bytes]
    assert [one.payload_bytes for one in requests] == [100, 200, 100, 200]
    answers = [one for one in segments if not one.from_left and one.payload_bytes]
    assert [(one.payload_bytes, one.ack) for one in answers] == [(10, 300), (10, 600)]
    for one in segments:
        assert one.arrived_ps is not None
        assert 2 * MS <= one.arrived_ps - one.sent_ps < 2 * MS + 1 * US


def test_it_changes_nothing() -> None:
    recorded, _ = bulk(late_ppb=10**8, late_ps=1 * MS)
    bare = TcpPath(
        PathOptions(rate_bps=10**9, delay_ps=1 * MS, late_ppb=10**8, late_ps=1 * MS),
        TcpOptions(),
        BulkSource(100_000),
        Sink(),
        seed=3,
    )
    bare.forward.numbers = MessageNumbers()
    bare.forward.element = ReorderWindow(bare.sim, "window", 64)
    for run in (recorded, bare):
        run.run_for(1000 * MS)
    assert recorded.right.delivered == bare.right.delivered == 100_000
    assert recorded.left.counters() == bare.left.counters()
    assert recorded.forward.late == bare.forward.late > 0


def test_what_is_lost_never_arrives() -> None:
    run, segments = bulk(loss_ppb=10**8)
    run.run_for(5000 * MS)
    missing = [one for one in segments if one.arrived_ps is None]
    assert len(missing) == run.forward.lost > 0
    (axes,) = ladder(segments).axes
    assert len([line for line in axes.lines if line.get_marker() == "x"]) == len(missing)


def test_each_segment_is_an_arrow_and_the_stall_is_shaded() -> None:
    segments = stall()
    figure = ladder(segments)
    (axes,) = figure.axes
    arrows = [one for one in axes.texts if isinstance(one, Annotation) and one.arrow_patch]
    assert len(arrows) == len(segments)
    # the segment arrives in jiffy 2, at 10 ms; ten jiffies more, and the timer runs at the next
    assert "nothing for 42.0 ms" in texts(figure)
    assert "(ms)" in axes.get_ylabel()


def test_labels_of_what_leaves_together_are_one() -> None:
    together = [
        Segment(from_left=False, sent_ps=MS, arrived_ps=2 * MS, seq=0, end_seq=0, ack=300),
        Segment(from_left=False, sent_ps=MS, arrived_ps=2 * MS, seq=0, end_seq=10, ack=300),
        Segment(from_left=True, sent_ps=2 * MS, arrived_ps=9 * MS, seq=300, end_seq=400, ack=10),
    ]
    assert texts(ladder(together))[-2:] == ["100 B", "ACK 300, 10 B"]
    assert not [text for text in texts(ladder(together)) if "nothing" in text]


def test_what_is_after_the_end_is_left_out() -> None:
    assert "200 B" not in texts(ladder(stall(), until_ms=3.0))
    assert texts(ladder([])) == []
