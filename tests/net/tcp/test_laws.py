"""What must hold for TCP over any path: every byte once and in order, no deadlock, few copies."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.net.tcp.endpoint import BulkSource, Sink, TcpEndpoint
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from tests.host.parts import MS, US
from tests.house.examples import examples

SECOND = 1000 * MS
VERSIONS = ("2.6.9", "2.6.18", "2.6.32", "3.2", "6.18")

paths = st.builds(
    PathOptions,
    rate_bps=st.sampled_from([10**7, 10**9]),
    delay_ps=st.integers(10 * US, 30 * MS),
    queue_bytes=st.sampled_from([0, 8_000, 60_000]),
    loss_ppb=st.integers(0, 10**8),
    late_ppb=st.integers(0, 2 * 10**8),
    late_ps=st.integers(0, 20 * MS),
)
ends = st.builds(
    TcpOptions,
    kernel=st.sampled_from(VERSIONS),
    congestion=st.sampled_from(["reno", "bic", "cubic"]),
    sack=st.booleans(),
    timestamps=st.booleans(),
    nodelay=st.booleans(),
    abc=st.integers(0, 2),
    hz=st.sampled_from([100, 250, 1000]),
    rmem_bytes=st.sampled_from([(1 << 16, 1 << 16), (1 << 20, 1 << 22)]),
    wmem_bytes=st.sampled_from([(1 << 14, 1 << 17), (1 << 20, 1 << 22)]),
)


def delivered(path: PathOptions, tcp: TcpOptions, total: int, seed: int) -> TcpPath:
    run = TcpPath(path, tcp, BulkSource(total), Sink(), seed=seed)
    for _ in range(400):
        run.run_for(5 * SECOND)
        if run.right.delivered == total and run.left.sender.packets_out() == 0:
            break
    return run


def test_what_one_end_sends_the_other_counts() -> None:
    run = delivered(PathOptions(rate_bps=10**9, delay_ps=MS), TcpOptions(), 100_000, 1)
    left, right = run.left.counters(), run.right.counters()
    assert right["segments_received"] == left["segments_sent"] >= 69
    assert left["segments_received"] == right["acks_sent"] >= 34


@given(paths, ends, st.integers(1, 150_000), st.integers(0, 1000))
@settings(max_examples=examples(60))
def test_every_byte_arrives_once_and_in_order(
    path: PathOptions, tcp: TcpOptions, total: int, seed: int
) -> None:
    run = delivered(path, tcp, total, seed)
    sender, board = run.left.sender, run.left.sender.board
    assert run.right.delivered == run.right.receiver.seq.rcv_nxt == total
    assert sender.seq.snd_una == sender.seq.snd_nxt == total
    # nothing is left on the scoreboard
    assert board.sacked_out <= board.packets_out() == 0
    assert (board.lost_out, board.retrans_out, board.in_flight() + board.sacked_out) == (0, 0, 0)
    # and what was sent again was lost, late, or doubted by a timeout
    doubted = run.forward.lost + run.forward.dropped + 60 * sender.timeouts
    assert sender.output.retransmissions <= doubted + 30 * run.forward.late


@given(ends, st.integers(0, 1000))
@settings(max_examples=20)
def test_nothing_is_sent_again_on_a_clean_path(tcp: TcpOptions, seed: int) -> None:
    run = delivered(PathOptions(rate_bps=10**8, delay_ps=5 * MS), tcp, 300_000, seed)
    assert (run.left.sender.output.retransmissions, run.left.sender.timeouts) == (0, 0)


@given(
    paths,
    ends,
    st.lists(st.integers(1, 4000), min_size=1, max_size=4),
    st.integers(1, 4000),
    st.integers(0, 1000),
)
@settings(max_examples=30)
def test_requests_are_always_answered(
    path: PathOptions, tcp: TcpOptions, writes: list[int], answer: int, seed: int
) -> None:
    client = Requester(writes, answer, 5)
    run = TcpPath(path, tcp, client, Responder(sum(writes), answer), seed=seed)
    for _ in range(400):
        run.run_for(5 * SECOND)
        if len(client.times_ps) == 5:
            break
    assert len(client.times_ps) == 5
    assert min(client.times_ps) >= 2 * path.delay_ps


def flight_of(socket: TcpEndpoint) -> dict[str, Any]:
    board = socket.sender.board
    return {
        "out": board.packets_out(),
        "sacked": board.sacked_out,
        "lost": board.lost_out,
        "again": board.retrans_out,
    }


@given(paths, ends, st.integers(0, 1000))
@settings(max_examples=30)
def test_the_scoreboard_adds_up_at_any_time(path: PathOptions, tcp: TcpOptions, seed: int) -> None:
    run = TcpPath(path, tcp, BulkSource(200_000), Sink(), seed=seed)
    for _ in range(150):
        run.run_for(7 * MS)
        found = flight_of(run.left)
        assert all(value >= 0 for value in found.values())
        assert found["sacked"] + found["lost"] <= found["out"]
        assert found["again"] <= found["out"]
        assert run.left.sender.congestion.cwnd >= 1
