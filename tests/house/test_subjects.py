"""A subject announces itself: a folder below scenario/parts is found, and no list names it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from simnet.scenario.core.subject import subjects
from tests.house.trees import ROOT

if TYPE_CHECKING:
    from pathlib import Path

_PARTS = ROOT / "simnet" / "scenario" / "parts"
_SUBJECT = """
from simnet.scenario.core.knob import ignored
from simnet.scenario.core.specs import Flag
from simnet.scenario.core.subject import Subject

SUBJECT = Subject("warp", knobs=lambda: (ignored("warp drive", "", Flag(""), "warp {value}"),))
"""
_SCRIPT = """
import simnet.scenario.parts
simnet.scenario.parts.__path__.append({folder!r})
from simnet.scenario.core.load import load
print(load("x460-out-of-box", settings={{"warp drive": "on"}}).applied[-1])
"""


def test_every_folder_announces_itself_by_its_name() -> None:
    folders = {file.parent.name for file in _PARTS.glob("*/__init__.py")}
    assert sorted(one.name for one in subjects()) == sorted(folders)


def test_a_new_folder_is_found_without_a_list(tmp_path: Path) -> None:
    (tmp_path / "warp").mkdir()
    (tmp_path / "warp" / "__init__.py").write_text(_SUBJECT, encoding="utf-8")
    script = _SCRIPT.format(folder=str(tmp_path))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.startswith("AppliedKnob(name='warp drive', value='on'")
