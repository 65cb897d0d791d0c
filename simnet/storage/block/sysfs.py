"""The files of a queue in sysfs: `/sys/block/DEVICE/queue/NAME`.

Source: `queue_*_show` and `queue_*_store` in block/ll_rw_blk.c of Linux 2.6.18. A scheduler's
tunables are `iosched/NAME`.
"""

from simnet.spelling import nearest
from simnet.storage.block.queue import RequestQueue

NAMES = ("scheduler", "nr_requests", "read_ahead_kb", "max_sectors_kb", "max_hw_sectors_kb")
_IOSCHED = "iosched/"
_PAGE_KB = 4


def show(queue: RequestQueue, name: str) -> str:
    """Return what `cat` of a file prints.

    Raises:
        ValueError: no such file.
    """
    if name.startswith(_IOSCHED):
        return str(queue.elevator.show(name.removeprefix(_IOSCHED)))
    if name == "scheduler":
        return queue.switching.show()
    _check(queue, name)
    values = {
        "nr_requests": queue.nr_requests,
        "read_ahead_kb": queue.read_ahead_kb,
        "max_sectors_kb": queue.max_sectors // 2,
        "max_hw_sectors_kb": queue.max_hw_sectors // 2,
    }
    return str(values[name])


def store(queue: RequestQueue, name: str, text: str) -> None:
    """Do what `echo TEXT >` a file does.

    Raises:
        ValueError: no such file, one that cannot be written, or a value that the kernel refuses.
    """
    if name == "scheduler":
        queue.switching.to(text.strip())
        return
    if not name.startswith(_IOSCHED):
        _check(queue, name)
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{queue.path}: {name}: expected a number, got {text!r}") from None
    if name.startswith(_IOSCHED):
        queue.elevator.store(name.removeprefix(_IOSCHED), number)
    elif number < 0 or name == "max_hw_sectors_kb":
        why = "it is read-only" if number >= 0 else f"expected no less than 0, got {number}"
        raise ValueError(f"{queue.path}: {name}: {why}")
    elif name == "nr_requests":
        queue.set_nr_requests(number)
    elif name == "read_ahead_kb":
        queue.read_ahead_kb = number // _PAGE_KB * _PAGE_KB
    else:
        _set_max_sectors_kb(queue, number)


def _set_max_sectors_kb(queue: RequestQueue, number: int) -> None:
    """`queue_max_sectors_store`: read-ahead does not exceed a request."""
    most = queue.max_hw_sectors // 2
    if not _PAGE_KB <= number <= most:
        raise ValueError(
            f"{queue.path}: max_sectors_kb: expected {_PAGE_KB} to {most} (max_hw_sectors_kb),"
            f" got {number}"
        )
    queue.read_ahead_kb = min(queue.read_ahead_kb, number // _PAGE_KB * _PAGE_KB)
    queue.max_sectors = number * 2


def _check(queue: RequestQueue, name: str) -> None:
    if name not in NAMES:
        expected = f"expected one of {', '.join(NAMES)}{nearest(name, NAMES)}"
        raise ValueError(f"{queue.path}: no file {name!r}: {expected}")
