"""A scenario and its models as files that a test may damage."""

import shutil
from pathlib import Path

import pytest

from simnet import _share

_MODELS = {
    "server": "servers/ibm-x460.toml",
    "kernel": "kernels/linux-2.6.16-sles10.toml",
    "switch": "switches/cisco-3750g.toml",
}


class Workspace:
    """A folder with a scenario that takes its server, kernel and switch from files beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scenario = folder / "mine.toml"
        for name, model in _MODELS.items():
            shutil.copy(_share.folder("models") / model, folder / f"{name}.toml")
        text = (_share.folder("scenarios") / "x460-out-of-box.toml").read_text("utf-8")
        system, rest = text.split("[[system.peers]]")
        for name in _MODELS:
            lines = system.splitlines(keepends=True)
            system = "".join(
                f'{name} = "{name}.toml"\n' if line.startswith(f"{name} =") else line
                for line in lines
            )
        self.scenario.write_text(f"{system}[[system.peers]]{rest}", "utf-8")

    def edit(self, file: str, old: str, new: str) -> int:
        """Replace the first ``old`` of a file by ``new``; return the line where it stands."""
        path = self.folder / file
        text = path.read_text("utf-8")
        assert old in text, f"{file} has no {old!r}"
        before, after = text.split(old, maxsplit=1)
        path.write_text(before + new + after, "utf-8")
        return before.count("\n") + 1


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(tmp_path)
    return Workspace(tmp_path)
