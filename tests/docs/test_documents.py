"""Every command, program and file that the documentation shows works, and prints what it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs.blocks import read
from tests.docs.session import Session, wanted
from tests.house.trees import ROOT

DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
SLOW = os.environ.get("SIMNET_DOCS") == "all"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_what_it_shows_works(path: Path, tmp_path: Path) -> None:
    found = [step for step in read(path) if wanted(step, slow=SLOW)]
    if not found:
        pytest.skip("nothing in it is for this engine")
    session = Session(tmp_path)
    for step in found:
        printed = session.run(step.block)
        if step.output is not None:
            assert printed.splitlines() == list(step.output.lines), (
                f"{step.output.place}: not what is printed now. When that is right:"
                " python -m tests.docs.refresh"
            )
