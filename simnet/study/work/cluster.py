"""Simulations on the workers of a Dask cluster, where the local processes are not enough.

Dask does the distribution: it starts a task again whose worker has gone, and waits for workers that
join later. Every result is kept by its worker and, once it has arrived, by the caller too, so an
interrupted sweep goes on where it stopped even if the machines share no file.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError, LostRunError, SimnetError
from simnet.study.work.store import Store, sources_digest

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.work.task import Task

__all__ = ["on_cluster", "threads"]

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

    Raises:
        InputError: no scheduler answers there, it has no worker, or one runs another simnet.
        LostRunError: a task ended several workers.
        SimnetError: something else went wrong there.
    """
    from distributed import as_completed

    mine = sources_digest()
    with _client(address) as client:
        most = max(_FEWEST_WAITING, _WAITING_A_THREAD * sum(client.nthreads().values()))

        given: dict[Any, Task] = {}

        def submitted(count: int) -> list[Any]:
            futures = {client.submit(_work, t, mine, pure=False): t for t in islice(tasks, count)}
            given.update(futures)
            return list(futures)

        waiting = as_completed(submitted(most), loop=client.loop)
        try:
            for future in waiting:
                task = given.pop(future)
                result = _result(future, task)
                store.put(task.key, result)
                waiting.update(submitted(1))
                yield task.number, result
        finally:
            client.cancel(list(waiting.futures))


def _work(task: Task, wanted: str) -> Result:
    """Simulate in a worker, unless its simnet would give other results."""
    if sources_digest() != wanted:
        from distributed import get_worker

        message = f"the worker {get_worker().address} runs a simnet that differs from this one"
        raise InputError(message, file=_OPTION)
    return task.done(Store.of_user())


def _client(address: str) -> Any:
    try:
        from distributed import Client
        from distributed.utils import LoopRunner
    except ImportError as error:
        message = "needs Dask: pip install 'simnet-hostpath[dask]'"
        raise InputError(message, file=_OPTION) from error
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


def _result(future: Any, task: Task) -> Result:
    from distributed import KilledWorker

    try:
        found: Result = future.result()
    except SimnetError:
        raise
    except KilledWorker as error:
        how = "was killed, as systems do when memory runs out"
        message = f"each of {error.allowed_failures + 1} workers that simulated it {how}"
        raise LostRunError(f"{task}: {message}") from error
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        raise SimnetError(f"on the cluster: {message}") from error
    return found
