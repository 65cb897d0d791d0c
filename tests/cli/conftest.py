"""The command as a user meets it: arguments in; exit status, stdout and stderr out."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from simnet.cli import main
from simnet.study.whatif import whatif
from simnet.study.work import task
from tests.study.synthetic import simulated


class Outcome(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


Simnet = Callable[..., Outcome]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have results without a simulation, in an empty folder."""
    monkeypatch.setattr(task, "simulate", simulated)
    monkeypatch.setattr(whatif, "known_changes", tuple)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def simnet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simnet:
    """Run the command in this process."""
    monkeypatch.delenv("SIMNET_DEBUG", raising=False)

    def run(*arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = capsys.readouterr()
        status = caught.value.code
        assert isinstance(status, int)
        return Outcome(status, out, err)

    return run
