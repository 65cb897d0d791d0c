"""What runs in a worker process: work comes over a connection, and what came of it goes back.

The connection ends with the process at its other end, however that ends, and the worker with the
connection: the piece in hand is finished first. An interrupt from the terminal reaches every
process; the caller answers it, and workers ignore it.
"""

import os
import signal
import traceback
from multiprocessing.connection import Connection
from typing import Final

from simnet.errors import SimnetError, is_out_of_memory
from simnet.kernel.huge_pages import use_huge_pages

NO_MEMORY: Final = 12
"""Exit status of a worker that has got no more memory, as ENOMEM."""


def serve(descriptor: int) -> None:
    """Do what comes over this socket until it ends: pairs of a function and its argument.

    The answer is what it returns, or the exception. A worker without memory ends: there is no
    saying what of it is left.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_huge_pages()
    connection = Connection(descriptor)
    try:
        while True:
            function, argument = connection.recv()
            try:
                answer = function(argument)
            except SimnetError as error:
                answer = error
            except Exception as error:  # noqa: BLE001 (the caller raises it)
                if is_out_of_memory(error):
                    os._exit(NO_MEMORY)
                error.add_note(traceback.format_exc())
                answer = error
            connection.send(answer)
    except (EOFError, OSError):
        os._exit(0)
