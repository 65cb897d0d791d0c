"""The files of a queue in sysfs."""

import pytest

from simnet.storage.block.sysfs import NAMES, show, store
from tests.storage.parts import Bench


def test_a_queue_starts_with_the_kernels_defaults() -> None:
    queue = Bench(max_hw_sectors=512).queue
    assert [show(queue, name) for name in NAMES] == [
        *("noop [anticipatory] deadline cfq", "128", "128", "256", "256")
    ]
    assert show(queue, "iosched/read_batch_expire") == "500"


def test_what_is_written_is_read_again() -> None:
    queue = Bench().queue
    store(queue, "scheduler", "cfq\n")
    store(queue, "nr_requests", "256")
    store(queue, "read_ahead_kb", "511")
    store(queue, "iosched/quantum", "16")
    assert show(queue, "scheduler") == "noop anticipatory deadline [cfq]"
    assert show(queue, "nr_requests") == "256"
    assert show(queue, "read_ahead_kb") == "508"
    assert show(queue, "iosched/quantum") == "16"


def test_smaller_requests_mean_less_read_ahead() -> None:
    queue = Bench().queue
    store(queue, "max_sectors_kb", "64")
    assert (queue.max_sectors, queue.read_ahead_kb) == (128, 64)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nr_request", "5", r"no file 'nr_request'.*did you mean nr_requests\?"),
        ("nr_requests", "many", "expected a number, got 'many'"),
        ("nr_requests", "-1", "expected no less than 0, got -1"),
        ("max_hw_sectors_kb", "5", "read-only"),
        ("max_sectors_kb", "1024", r"expected 4 to 512 \(max_hw_sectors_kb\), got 1024"),
        ("iosched/quantum", "4", "anticipatory has no tunable 'quantum'; it has read_expire"),
        ("scheduler", "elevator", "no scheduler 'elevator'"),
    ],
)
def test_what_the_kernel_refuses_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        store(Bench().queue, name, text)


def test_a_file_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no file 'rotational'"):
        show(Bench().queue, "rotational")
