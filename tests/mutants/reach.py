"""Which test functions reach which lines of a floor, and how long they take."""

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest
from coverage import Coverage

from tests.mutants.sites import FLOORS, ROOT, Mutant, modules_of, path_of

OPTIONS = ("-q", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")


@dataclass(frozen=True)
class Reach:
    """What the tests of a floor reach."""

    digest: str  # of the sources and tests that it was made with
    seconds: dict[str, float]  # processor time of each test function, by its id
    lines: dict[str, dict[str, list[str]]]  # by module and line, the tests that reach it

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that can tell, fastest first.

        What runs when a module is imported concerns all, and those that reach the module most.
        """
        module = self.lines.get(mutant.module, {})
        span = range(mutant.line, mutant.end_line + 1)
        tests = {test for line in span for test in module.get(str(line), ())}
        if mutant.function:
            return sorted(tests, key=self.seconds.__getitem__)
        near = {test for reached in module.values() for test in reached}
        return sorted(self.seconds, key=lambda test: (test not in near, self.seconds[test]))


def function_of(nodeid: str) -> str:
    """Return a test's id without its parameters."""
    return nodeid.partition("[")[0]


def digest_of(floor: str) -> str:
    """Return a digest of everything that the tests of a floor depend on."""
    state = hashlib.blake2b(digest_size=8)
    folders = [f"simnet/{name}" for name in ("kernel", *FLOORS)]
    # tests of all floors share helpers
    for folder in (*folders, f"tests/{floor}"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            state.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return state.hexdigest()


def reach_of(floor: str, folder: Path, log: Path) -> Reach:
    """Return what the tests of a floor reach, measured once for a state of sources and tests.

    Raises:
        SystemExit: a test fails without any mistake.
    """
    digest = digest_of(floor)
    file = folder / f"reach-{floor}.json"
    if file.is_file():
        stored = Reach(**json.loads(file.read_text(encoding="utf-8")))
        if stored.digest == digest:
            return stored
    process = get_context("fork").Process(target=_measure, args=(floor, digest, file, log))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"mutants: tests/{floor} fails without any mistake, see {log}")
    return Reach(**json.loads(file.read_text(encoding="utf-8")))


class _Recorder:
    def __init__(self, floor: str) -> None:
        self.coverage = Coverage(
            data_file=None, source=[str(ROOT / "simnet" / floor)], config_file=False, messages=False
        )
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_collection_finish(self) -> None:
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        test = function_of(item.nodeid)
        self.coverage.switch_context(test)
        begin = time.process_time()
        result = yield
        self.seconds[test] += time.process_time() - begin
        return result

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()


def write_to(log: Path) -> None:
    """From here on, let this process and its children write to a file."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)


def _measure(floor: str, digest: str, file: Path, log: Path) -> None:
    write_to(log)
    recorder = _Recorder(floor)
    if pytest.main([*OPTIONS, str(ROOT / "tests" / floor)], plugins=[recorder]):
        raise SystemExit(1)
    data = recorder.coverage.get_data()
    lines = {
        module: {
            str(line): sorted(set(tests) - {""})
            for line, tests in sorted(data.contexts_by_lineno(str(path_of(module))).items())
        }
        for module in modules_of([floor])
    }
    reach = Reach(digest, dict(recorder.seconds), lines)
    file.write_text(json.dumps(asdict(reach)), encoding="utf-8")
