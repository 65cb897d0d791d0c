"""What is counted for people: quick and delayed ACKs, and how often data waited for a timer."""

import pytest

from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath

_US = 10**6
_MS = 10**9
_TRANSACTIONS = 12
_PATH = PathOptions(rate_bps=10**10, delay_ps=20 * _US)


def _transactions(sizes: tuple[int, ...], *, nodelay: bool = False) -> TcpPath:
    """Requests of these writes, each answered with 10 bytes; 250 jiffies a second."""
    client = Requester(sizes, 10, _TRANSACTIONS)
    options = TcpOptions(kernel="6.18", nodelay=nodelay)
    path = TcpPath(_PATH, options, client, Responder(sum(sizes), 10))
    path.run_for(2000 * _MS)
    assert len(client.times_ps) == _TRANSACTIONS
    return path


@pytest.mark.parametrize(
    ("sizes", "nodelay"), [((300,), False), ((100, 200), True), ((100, 200), False)]
)
def test_nagle_and_delayed_acks_together_stall(sizes: tuple[int, ...], *, nodelay: bool) -> None:
    path = _transactions(sizes, nodelay=nodelay)
    sent, answers = path.left.sender.output, path.right.receiver.delack
    stalls = 0 if nodelay or len(sizes) == 1 else _TRANSACTIONS
    # the first requests are acknowledged at once
    assert stalls - answers.quick_acks <= sent.stalls <= stalls
    assert sent.stalls == answers.delayed_acks
    assert (sent.stalled_jiffies > 9 * sent.stalls) == (stalls > 0)


def test_a_stream_begins_with_quick_acks_and_does_not_stall() -> None:
    path = TcpPath(_PATH, TcpOptions(kernel="6.18"), BulkSource(), Sink())
    path.run_for(5 * _MS)
    early = path.right.receiver.delack.quick_acks
    path.run_for(20 * _MS)
    assert 0 < early == path.right.receiver.delack.quick_acks
    assert path.left.sender.output.segments > 1000
    assert path.left.sender.output.stalls == path.right.receiver.delack.delayed_acks == 0


def test_what_waits_for_the_retransmission_timer_has_stalled() -> None:
    path = PathOptions(rate_bps=10**8, delay_ps=20 * _US, loss_ppb=100_000_000)
    run = TcpPath(path, TcpOptions(kernel="6.18", sack=False), BulkSource(), Sink())
    run.run_for(10_000 * _MS)
    sent = run.left.sender.output
    assert 0 < sent.stalls <= run.left.sender.timeouts
    # the shortest timeout is 50 jiffies
    assert sent.stalled_jiffies >= 50 * sent.stalls
