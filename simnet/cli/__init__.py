"""The command ``simnet``.

Results go to stdout, everything else to stderr; `simnet.cli.status` has the exit statuses. No
signal ends it but SIGKILL. ``SIMNET_DEBUG=1`` shows the traceback of any error.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import signal
import sys
import threading
import traceback
from collections import UserDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import FrameType, ModuleType
from typing import Final, TextIO

import click

import simnet
from simnet.cli import commands
from simnet.cli.completion import VARIABLE, complete
from simnet.cli.status import Status
from simnet.errors import InputError, LostRunError, OutputError, SimnetError, is_out_of_memory
from simnet.printable import lines, one_line
from simnet.spelling import nearest
from simnet.terminal import folded


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: everything ends as after an interrupt, and nothing is left behind."""


class _Commands(UserDict[str, click.Command]):
    """The commands of a folder by name. Each is imported when it is used."""

    def __init__(self, folder: ModuleType) -> None:
        super().__init__()
        # where a name is a keyword of Python, its module's ends with `_`
        modules = {one.name.rstrip("_"): one.name for one in iter_modules(folder.__path__)}
        self._modules = {name: f"{folder.__name__}.{one}" for name, one in modules.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(self._modules[name]), f"{name}_command")
        return command


@click.group(
    commands=_Commands(commands),
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(simnet.__version__, prog_name="simnet")
@click.pass_context
def _simnet(context: click.Context) -> None:
    """Predict what a tuning will do to a host's data path."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(Status.BAD_INPUT)


# The interpreter would collect twice what ends with the process: a tenth of a second. It is
# registered first, so it is called after all others.
atexit.register(gc.freeze)

# what is imported stays: to look through it for garbage again and again takes a tenth of a start
_ALLOCATIONS_PER_COLLECTION: Final = 50_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit status; no traceback reaches the user.

    Args:
        arguments: the command line without the program's name; the process's own when None.
    """
    # matrices are small here: more threads of NumPy's library would only wait for work, busily
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # to look for plugins, pydantic would read the descriptions of all packages that are installed
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION, *gc.get_threshold()[1:])
    with _termination():
        status = _status(arguments)
    sys.exit(status)


@contextlib.contextmanager
def _termination() -> Iterator[None]:
    """Within the block SIGTERM raises `Terminated`, once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _status(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    status = 0
    if not _prepared():
        click.echo("simnet: output: standard output is closed", err=True)
        return Status.NOT_WRITTEN
    try:
        instruction = os.environ.get(VARIABLE)
        if instruction and arguments is None:
            complete(_simnet, instruction)
            return status
        # Not `_simnet.main`: it has its own way with errors, interrupts and closed pipes.
        with _simnet.make_context("simnet", given) as context:
            _simnet.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        status = end.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (the last resort)
        message, status = _explain(error)
        if os.environ.get("SIMNET_DEBUG") == "1":
            _say(lines(traceback.format_exc().rstrip()))
        if message:
            _say(one_line(message))
    return status


def _say(text: str) -> None:
    """Print on stderr what ended the command, if anybody still reads it."""
    try:
        click.echo(folded(text, sys.stderr), err=True)
    except OSError:
        _drop(sys.stderr)


def _prepared() -> bool:
    """Make the standard files ready for anything. Whether there is an output.

    What is closed stays reserved: the next file that is opened would become it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr, whatever the locale has
    return sys.stdout is not None


def _explain(error: BaseException) -> tuple[str, int]:
    """Return what to say about an error, and the exit status."""
    match error:
        case click.ClickException():
            outcome = f"simnet: {_usage(error)}", Status.BAD_INPUT
        case InputError():
            outcome = f"simnet: {error.typed}", Status.BAD_INPUT
        case LostRunError():
            outcome = f"simnet: {error}", Status.NO_ANSWER
        case _ if is_out_of_memory(error):
            outcome = "simnet: memory ran out", Status.NO_ANSWER
        case OutputError():
            outcome = f"simnet: {error}", Status.NOT_WRITTEN
        case SimnetError():
            outcome = f"simnet: {error}", Status.FAILED
        case Terminated():
            outcome = "simnet: terminated", Status.TERMINATED
        case KeyboardInterrupt():
            outcome = "simnet: interrupted", Status.INTERRUPTED
        case BrokenPipeError():
            _drop(sys.stdout)
            _drop(sys.stderr)
            outcome = "", Status.LEFT
        case OSError():
            _drop(sys.stdout)
            outcome = f"simnet: {error.filename or 'output'}: {error.strerror}", Status.NOT_WRITTEN
        case _:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            outcome = (
                f"simnet: defect in simnet: {what} (SIMNET_DEBUG=1 shows where)",
                Status.FAILED,
            )
    return outcome


def _drop(stream: TextIO) -> None:
    """Let the interpreter's last flush go nowhere: what it would say is said already."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage(error: click.ClickException) -> str:
    """Return what is wrong with the command line as one line, the command in front."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    match error:
        case click.NoSuchOption():
            options = [] if context is None else context.command.get_params(context)
            known = [name for one in options for name in one.opts if name.startswith("--")]
            message = f"no such option {error.option_name!r}{nearest(error.option_name, known)}"
        case click.UsageError() if name := getattr(error, "command_name", None):
            message = f"no such command {name!r}{nearest(name, _Commands(commands))}"
        case _:
            message = " ".join(error.format_message().split()).rstrip(".")
    command = context.command_path.removeprefix("simnet").strip() if context else ""
    message = f"{message[:1].lower()}{message[1:]}"
    return f"{command}: {message}" if command else message
