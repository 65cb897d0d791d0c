"""The command as a user meets it: arguments in; exit status, stdout and stderr out."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from simnet.cli import main


class Outcome(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


Simnet = Callable[..., Outcome]


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
