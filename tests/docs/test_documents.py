"""Every command, program and file that the documentation shows works, and prints what it says."""

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from simnet.cli import _simnet
from tests.docs.blocks import blocks, read
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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_subject_of_a_sentence_is_a_thing(path: Path) -> None:
    """And not a clause: `What is lost ...`; a question may begin so, and so may a heading."""
    text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text("utf-8"))
    text = re.sub(r"(?m)^[|#].*$", "", text)
    begin = r"(?:\A|\n\n|^(?:- |\d+\. )|[.!?:]\s+)"
    assert re.findall(rf"(?m){begin}(What\s[^.?!]*[.!])", text) == []


def shown_only(path: Path) -> Iterator[list[str]]:
    """The commands of simnet in blocks that nothing runs: they take hours, or other machines."""
    outputs = {step.output.first for step in read(path) if step.output}
    for block in blocks(path, path.read_text("utf-8")):
        if block.language != "text" or block.first in outputs:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            if line.startswith("simnet "):
                yield shlex.split(line, comments=True)[1:]


def test_a_command_that_is_only_shown_has_legal_options() -> None:
    asked = [words for path in DOCUMENTS for words in shown_only(path)]
    assert asked
    for name, *words in asked:
        command = _simnet.get_command(click.Context(_simnet), name)
        assert command is not None, name
        # a reader's own host has another name
        own = ["web-25g" if word.endswith("/scenario.toml") else word for word in words]
        command.make_context(name, own).close()
