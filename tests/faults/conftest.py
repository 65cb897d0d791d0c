"""The command in this process, and faults of the file system under it."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simnet import files
from tests.cli.conftest import simnet
from tests.study.conftest import end, measure, result, start

__all__ = ["FailingOs", "end", "failing_os", "measure", "result", "simnet", "start"]

COUNTED = ("open", "read", "write", "fsync")
COUNTED_OF_PATHS = ("replace", "hardlink_to")


class FailingOs:
    """The system calls of `simnet.files`; the one with a chosen number fails.

    Attributes:
        calls: names of those made since `failing` began.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._fails: int | None = None

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self.counted(name, real) if name in COUNTED else real

    @contextmanager
    def failing(self, number: int | None) -> Iterator[None]:
        """Let call `number`, counted from 0, fail; None for none."""
        self.calls, self._fails = [], number
        yield
        self._fails = None

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 == self._fails:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*arguments, **options)

        return call


@pytest.fixture
def failing_os(monkeypatch: pytest.MonkeyPatch) -> FailingOs:
    faults = FailingOs()
    monkeypatch.setattr(files, "os", faults)
    for name in COUNTED_OF_PATHS:
        monkeypatch.setattr(Path, name, faults.counted(name, getattr(Path, name)))
    return faults
