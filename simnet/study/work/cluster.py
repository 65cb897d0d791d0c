"""Simulations on the workers of a Dask cluster, where the local processes are not enough.

Dask does the distribution: it starts a task again whose worker has gone, and waits for workers that
join later. Every result is kept by its worker and, once it has arrived, by the caller too, so an
interrupted sweep goes on where it stopped even if the machines share no file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from simnet.errors import InputError, LostRunError, SimnetError
from simnet.extras import require
from simnet.study.work.store import Store, sources_digest

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.work.task import Task

_Piece = TypeVar("_Piece")
_Answer = TypeVar("_Answer")

_OPTION: Final = "--scheduler"
_PATIENCE_S: Final = 10
# enough to hide the way there and back, few enough to be sent again
_WAITING_A_THREAD: Final = 4
_FEWEST_WAITING: Final = 16


def threads(address: str) -> int:
    """How many simulations the cluster does at a time; InputError when it can't be reached."""
    with _client(address) as client:
        return sum(client.nthreads().values())


def on_cluster(
    tasks: Iterator[Task], address: str, *, store: Store
) -> Generator[tuple[int, Result]]:
    """Do the tasks on the workers of a scheduler; yield number and result as they are done.

    Errors are those of `done_on_cluster`.
    """
    with closing(done_on_cluster(_kept, tasks, address)) as done:
        for task, result in done:
            store.put(task.key, result)
            yield task.number, result


def done_on_cluster(
    function: Callable[[_Piece], _Answer], pieces: Iterator[_Piece], address: str
) -> Generator[tuple[_Piece, _Answer]]:
    """What a function returns of each piece of work, with the piece, as it is done.

    A few pieces for each thread of the workers are on their way; the others are not made yet, and
    what is done is forgotten. So neither this process nor the scheduler grows with their number.

    Raises:
        InputError: no scheduler answers there, it has no worker, or one runs another simnet.
        LostRunError: a piece ended several workers, or the scheduler is gone.
        SimnetError: something else went wrong there.
    """
    from distributed import as_completed

    mine = sources_digest()
    with _silent(), _client(address) as client:
        most = max(_FEWEST_WAITING, _WAITING_A_THREAD * sum(client.nthreads().values()))
        given: dict[Any, _Piece] = {}

        def submitted(count: int) -> list[Any]:
            futures = {
                client.submit(_checked, function, piece, mine, pure=False): piece
                for piece in islice(pieces, count)
            }
            given.update(futures)
            return list(futures)

        waiting = as_completed(submitted(most), loop=client.loop)
        try:
            for future in waiting:
                piece = given.pop(future)
                answer = _answer(future, piece, address)
                waiting.update(submitted(1))
                yield piece, answer
        finally:
            client.cancel(list(waiting.futures))


@contextmanager
def _silent() -> Iterator[None]:
    """Leave out what Dask logs, with tracebacks, of a scheduler that is gone: an error says it."""
    loggers = [logging.getLogger(f"distributed{part}") for part in ("", ".client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _checked(function: Callable[[_Piece], _Answer], piece: _Piece, wanted: str) -> _Answer:
    """Work in a worker, unless its simnet would give other results."""
    if sources_digest() != wanted:
        from distributed import get_worker

        message = f"the worker {get_worker().address} runs a simnet that differs from this one"
        raise InputError(message, file=_OPTION)
    return function(piece)


def _kept(task: Task) -> Result:
    return task.done(Store.of_user())


def _client(address: str) -> Any:
    require("distributed", asked_by=_OPTION)
    from distributed import Client
    from distributed.utils import LoopRunner

    try:
        # a client without an answer complains when it is deleted
        LoopRunner().run_sync(_greet, address)
        client = Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        message = f"no Dask scheduler answers at {address!r}: expected one such as tcp://host:8786"
        raise InputError(message, file=_OPTION) from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except TimeoutError as error:
        client.close()
        message = (
            f"the scheduler at {address} has no worker: start one with `dask worker {address}`"
        )
        raise InputError(message, file=_OPTION) from error
    return client


async def _greet(address: str) -> None:
    """Connect as a client will, and end it; OSError or ValueError when that can't be."""
    from distributed.comm.core import connect
    from distributed.security import Security

    how = Security().get_connection_args("client")
    if address.startswith("tls://") and how["ssl_context"] is None:
        message = (
            f"{address}: expected the files for TLS in Dask's configuration, such as"
            " DASK_DISTRIBUTED__COMM__TLS__CA_FILE, __CLIENT__CERT and __CLIENT__KEY"
        )
        raise InputError(message, file=_OPTION)
    comm = await connect(address, timeout=_PATIENCE_S, **how)
    await comm.close()


def _answer(future: Any, piece: object, address: str) -> Any:
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        return future.result()
    except SimnetError:
        raise
    except KilledWorker as error:
        how = "was killed, as systems do when memory runs out"
        message = f"each of {error.allowed_failures + 1} workers that simulated it {how}"
        raise LostRunError(f"{piece}: {message}") from error
    except (CancelledError, CommClosedError) as error:
        message = f"the scheduler at {address} has ended; the same command goes on from here"
        raise LostRunError(message) from error
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise SimnetError(f"on the cluster: {message}") from error
