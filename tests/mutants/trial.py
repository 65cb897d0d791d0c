"""Runs the tests of a floor against mistakes, each in a process forked where all is loaded.

A mistake in a function is put into the function that is there. One in a module's own lines needs
the modules to be imported anew: those children are forked before any of simnet's is.
"""

import gc
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.reach import OPTIONS, Reach, function_of, write_to
from tests.mutants.sites import ROOT, Mutant, path_of

# what modules and tests import and takes long to
_PRELOADED = ("cython", "hypothesis.strategies", "networkx", "numpy", "scipy.stats", "simpy")
_SLACK_SECONDS = 1.0
_SLOWER = 10.0
_WALL_SECONDS = 900
_MEMORY_BYTES = 4 << 30
_BROKEN = 3


@dataclass(frozen=True)
class Outcome:
    """How it went: `state` is killed, timeout, survived or unreached; `by` names the test.

    Seconds are the processor's.
    """

    state: str
    by: str = ""
    seconds: float = 0.0


def try_all(
    mutants: Sequence[Mutant],
    reach: Reach,
    workers: int,
    log: Path,
    report: Callable[[Mutant, Outcome], None],
) -> None:
    """Try mutants of one floor, in a process of its own; `report` is called there.

    Raises:
        SystemExit: the tests could not be run.
    """
    process = get_context("fork").Process(
        target=_serve, args=(mutants, reach, workers, log, report)
    )
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"mutants: the tests could not be run, see {log}")


def _serve(
    mutants: Sequence[Mutant],
    reach: Reach,
    workers: int,
    log: Path,
    report: Callable[[Mutant, Outcome], None],
) -> None:
    write_to(log)
    server = _Server(mutants, reach, workers, report)
    status = pytest.main([*OPTIONS, str(ROOT / "tests" / mutants[0].floor)], plugins=[server])
    raise SystemExit(0 if status == pytest.ExitCode.OK else 1)


@dataclass(frozen=True)
class _Child:
    mutant: Mutant
    pipe: int


class _Server:
    """A plugin of pytest that forks within a session."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        reach: Reach,
        workers: int,
        report: Callable[[Mutant, Outcome], None],
    ) -> None:
        self.mutants = mutants
        self.reach = reach
        self.workers = workers
        self.report = report
        self.children: dict[int, _Child] = {}
        self.tests: dict[str, int] | None = None
        """In a child, the tests to run in their order."""
        self.testing = False
        self.pipe = -1

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Nothing of simnet's is imported: try what needs that."""
        _do_not_shrink()
        mutants = [mutant for mutant in self.mutants if not mutant.function]
        if mutants:
            for name in _PRELOADED:
                import_module(name)
            gc.freeze()
        mutant = self.fork_for(mutants)
        if mutant and self.tests:
            sys.meta_path.insert(0, _Finder(mutant))
            files = {test.partition("::")[0]: None for test in self.tests}
            session.config.args = [str(ROOT / file) for file in files]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """All is loaded: try what can be exchanged."""
        if self.tests is None:
            gc.freeze()
            mutant = self.fork_for([mutant for mutant in self.mutants if mutant.function])
            if mutant is None:
                return True
            _exchange(mutant)
        order = self.tests
        assert order
        items = [item for item in session.items if function_of(item.nodeid) in order]
        session.items = sorted(items, key=lambda item: order[function_of(item.nodeid)])
        return None

    # parent

    def fork_for(self, mutants: Sequence[Mutant]) -> Mutant | None:
        """Fork for each mutant; return it in the child, and None in the parent when all is done."""
        for mutant in mutants:
            tests = self.reach.tests_for(mutant)
            if not tests:
                self.report(mutant, Outcome("unreached"))
                continue
            while len(self.children) >= self.workers:
                self.reap()
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                self.become(tests, writing)
                return mutant
            os.close(writing)
            self.children[child] = _Child(mutant, reading)
        while self.children:
            self.reap()
        return None

    def reap(self) -> None:
        """Wait for a child."""
        pid, status, usage = os.wait4(-1, 0)
        child = self.children.pop(pid)
        with os.fdopen(child.pipe, "rb") as pipe:
            test = pipe.read().decode()
        seconds = round(usage.ru_utime + usage.ru_stime, 3)
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _BROKEN:
            pytest.exit(f"no mistake could be made of {child.mutant}", returncode=_BROKEN)
        if number in {signal.SIGVTALRM, signal.SIGALRM}:
            outcome = Outcome("timeout", test, seconds)
        elif number or status:
            outcome = Outcome("killed", test, seconds)
        else:
            outcome = Outcome("survived", "", seconds)
        self.report(child.mutant, outcome)

    # child

    def become(self, tests: list[str], pipe: int) -> None:
        self.tests = {test: place for place, test in enumerate(tests)}
        self.children = {}
        self.pipe = pipe
        write_to(Path(os.devnull))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        signal.alarm(_WALL_SECONDS)

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """The time of a test is the processor's: others' work does not count."""
        self.testing = True
        limit = _SLACK_SECONDS + _SLOWER * self.reach.seconds[function_of(item.nodeid)]
        signal.setitimer(signal.ITIMER_VIRTUAL, limit)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.end(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self.tests is not None:
            self.end(report.nodeid)

    def pytest_internalerror(self) -> None:
        if self.testing:
            self.end("pytest")
        if self.tests is not None:
            os._exit(_BROKEN)

    def pytest_sessionfinish(self) -> None:
        if self.tests is not None:
            os._exit(0)

    def end(self, test: str) -> None:
        os.write(self.pipe, test.encode())
        os._exit(1)


def _do_not_shrink() -> None:
    """One counterexample is enough, however large."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", settings(), phases=phases)
    settings.load_profile("mutants")


# The two ways to make a mistake.


class _Loader(SourceFileLoader):
    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(path_of(mutant.module)))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return _compiled(self.mutant)


class _Finder:
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Implement ``importlib.abc.MetaPathFinder``."""
        del path, target
        if name != self.mutant.module:
            return None
        return spec_from_file_location(name, path_of(name), loader=_Loader(self.mutant))


def _compiled(mutant: Mutant) -> CodeType:
    return compile(mutant.source(), str(path_of(mutant.module)), "exec", dont_inherit=True)


def _exchange(mutant: Mutant) -> None:
    """Give the function that has the mistake the code with it."""
    # some modules are imported by what a test builds, not by its file
    module = import_module(mutant.module)
    (changed,) = _codes(_compiled(mutant), mutant.function)
    (function,) = {
        function
        for function in _functions(vars(module), mutant.module)
        if function.__code__.co_firstlineno == mutant.function
        # what a dataclass has made is of another file, and may begin at the same line of that
        if function.__code__.co_filename == module.__file__
    }
    function.__code__ = changed


def _codes(code: CodeType, line: int) -> Iterator[CodeType]:
    """Yield the function's code that begins at a line, of a module's."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            if part.co_firstlineno == line and not part.co_name.startswith("<"):
                yield part
            elif part.co_name == part.co_qualname or "<locals>" not in part.co_qualname:
                yield from _codes(part, line)


def _functions(names: dict[str, Any], module: str) -> Iterator[FunctionType]:
    """Yield the functions of a module and its classes."""
    for value in list(names.values()):
        if isinstance(value, property):
            parts = [value.fget, value.fset]
        else:
            parts = [getattr(value, "__func__", value)]
        for part in parts:
            if isinstance(part, FunctionType) and part.__module__ == module:
                yield part
            elif isinstance(part, type) and part.__module__ == module:
                yield from _functions(dict(vars(part)), module)
