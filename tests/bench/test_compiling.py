"""Components that only benchmarks need are compiled with the core's own build."""

import sys
from importlib.machinery import ExtensionFileLoader
from pathlib import Path

import pytest

from bench import compiling
from simnet import _engine

pytestmark = [pytest.mark.slow, pytest.mark.compiled]


@pytest.mark.nightly
def test_a_component_is_compiled_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "OUT", tmp_path)
    made = compiling.load("timers")
    room = sys.modules[made.Ticker.__module__]
    assert isinstance(room.__loader__, ExtensionFileLoader)
    assert {(file.name.partition("_")[0], file.suffix) for file in tmp_path.iterdir()} == {
        ("timers", ".json"),
        ("timers", ".so"),
    }
    assert _engine.active() == "compiled"
