"""Runs one case in a child of its own, with limits, and tells how it ended.

The child is a fork of a process that has imported everything: a case then takes as long as what it
does. Nothing that it does to itself, a crash included, reaches the next case.
"""

import faulthandler
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Final

import simnet
from simnet import cli
from simnet.errors import InputError, SimnetError
from tests.fuzz.case import ALLOWED, Case, End
from tests.fuzz.spoil import DAMAGE_FILE, STORE, bomb, spoil

CPU_SECONDS: Final = 20
WALL_SECONDS: Final = 90
MEMORY_BYTES: Final = 1 << 30
"""More than the parent has."""
FILE_BYTES: Final = 64 << 20

_DEFECT: Final = 70
_BAD_INPUT: Final = 2
_RAW: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_RAISED: Final = "raised.txt"


def prepare() -> None:
    """Import what any case may need, so that no child does."""
    for found in walk_packages(simnet.__path__, "simnet."):
        if "_build" not in found.name:
            import_module(found.name)
    os.environ["SIMNET_CACHE_DIR"] = ""
    bomb()


def run_case(case: Case, *, cpu_seconds: int = CPU_SECONDS) -> End:
    """Run a case and return how it ended."""
    place = Path(tempfile.mkdtemp(prefix="simnet-fuzz-"))
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _live(case, place, cpu_seconds)
    try:
        code, late = _wait(child)
        milliseconds = round(1000 * (time.monotonic() - started))
        out, said, raised = (_text(place / name) for name in ("stdout", "stderr", _RAISED))
        problem = _problem(code, out=out, said=said, raised=raised, late=late)
        return End(code, problem, said[-400:], milliseconds)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _wait(child: int) -> tuple[int, bool]:
    """Return a child's exit status, minus the signal, and whether it had to be stopped."""
    handle = os.pidfd_open(child)
    try:
        late = not select.select([handle], [], [], WALL_SECONDS)[0]
        if late:
            os.killpg(child, signal.SIGKILL)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), late


def _problem(code: int, *, out: str, said: str, raised: str, late: bool) -> str:
    """Return what is wrong with an end; empty if nothing is."""
    last = _last_line(said)
    if late or code == -signal.SIGXCPU:
        found = f"too slow: {_last_place(said)}"
    elif code < 0:
        found = f"signal {signal.Signals(-code).name}: {_last_place(said)}"
    elif code not in ALLOWED:
        found = raised or f"exit {code}: {last}"
    elif "Traceback (most recent" in said or "Exception ignored" in said:
        found = f"traceback: {last}"
    elif code == _BAD_INPUT and not last.startswith(("simnet: ", "Usage: ")):
        found = f"bad input without a word: {last}"
    elif _RAW.search(out + said):
        found = f"control characters: {last!r}"
    else:
        found = ""
    return found


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def _last_place(said: str) -> str:
    """Return where Python was, from what `faulthandler` wrote: the first line of ours."""
    found = re.search(r'File "[^"]*/(simnet/[^"]+)", line \d+ in (\S+)', said)
    return f"{found[1]} {found[2]}" if found else ""


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


# -- in the child -----------------------------------------------------------------------------


def _live(case: Case, place: Path, cpu_seconds: int) -> None:
    """Do what the case says and leave; never returns."""
    status = _DEFECT
    try:
        os.setsid()
        os.chdir(place)
        _redirect()
        for name, content in case.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content.encode("latin-1"))
        _limit(cpu_seconds)
        if case.call:
            status = _call(case)
        elif DAMAGE_FILE in case.files:
            status = _twice(case)
        else:
            status = _command(case)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 (the end of a process: it is told, whatever it is)
        _note_raised()
    finally:
        os._exit(status)


def _redirect() -> None:
    for number, (name, flags) in enumerate(
        (
            (os.devnull, os.O_RDONLY),
            ("stdout", os.O_WRONLY | os.O_CREAT),
            ("stderr", os.O_WRONLY | os.O_CREAT),
        )
    ):
        os.dup2(os.open(name, flags, 0o600), number)
    faulthandler.enable(file=2)


def _limit(cpu_seconds: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
    # A loop of compiled code answers no signal of Python's: this one is faulthandler's own.
    faulthandler.register(signal.SIGXCPU, file=2, chain=True)


def _command(case: Case) -> int:
    explain = cli._explain

    def explained(error: BaseException) -> tuple[str, int]:
        said, status = explain(error)
        if status not in ALLOWED:
            _note_raised()
        return said, status

    cli._explain = explained
    return cli._status(case.arguments)


def _twice(case: Case) -> int:
    """Run a command again when what it kept is spoilt: it must not believe that."""
    os.environ["SIMNET_CACHE_DIR"] = STORE
    status = _command(case)
    first = Path("stdout").read_bytes()
    spoil()
    again = _command(case)
    if (status, first * 2) == (again, Path("stdout").read_bytes()):
        return status
    Path(_RAISED).write_text("a spoilt store changed the answer", encoding="utf-8")
    return _DEFECT


def _call(case: Case) -> int:
    try:
        simnet.run(**case.call)
    except InputError as error:
        sys.stderr.write(f"simnet: {error}\n")
        return _BAD_INPUT
    except SimnetError:
        _note_raised()
        return _DEFECT
    return 0


def _note_raised() -> None:
    """Write down an exception by its last place in simnet, which is one for every cause."""
    error = sys.exc_info()[1]
    if error is None:
        return
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "simnet/" in f.filename]
    place = f"{frames[-1].filename.rpartition('simnet/')[2]} {frames[-1].name}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    Path(_RAISED).write_text(f"{place}: {what[:200]}", encoding="utf-8")
