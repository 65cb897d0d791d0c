"""The documentation is a site: every link and anchor leads somewhere, every page is in a menu."""

import re
import sys
from html import escape, unescape
from pathlib import Path

import pytest
from click import Option

import simnet
from simnet.cli import _simnet
from simnet.faults import SENTENCES
from simnet.scenario.core.knobs import KNOBS
from simnet.study.run.measures import MEASURES
from tests.house.trees import ROOT, run

pytest.importorskip("mkdocs")

pytestmark = [pytest.mark.packaging, pytest.mark.compiled, pytest.mark.nightly]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    # --quiet would let warnings pass
    build = (sys.executable, "-m", "mkdocs", "build", "--site-dir", str(target))
    done = run(*build, cwd=ROOT, NO_MKDOCS_2_WARNING="1")
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_references_are_of_all_commands_and_names(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for name, command in _simnet.commands.items():
        assert f"Usage: simnet {name} " in commands
        assert all(
            option.opts[0] in commands for option in command.params if isinstance(option, Option)
        )
    knobs = (site / "reference" / "knobs.html").read_text(encoding="utf-8")
    assert [knob.name for knob in KNOBS if f"<code>{escape(knob.name)}</code>" not in knobs] == []
    measures = (site / "reference" / "measures.html").read_text(encoding="utf-8")
    assert [name for name in MEASURES if f'id="{name.replace("_", "-")}"' not in measures] == []
    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert [name for name in simnet.__all__ if f'id="simnet.{name}"' not in python] == []


def test_messages_are_those_that_are_raised(site: Path) -> None:
    messages = unescape((site / "reference" / "messages.html").read_text(encoding="utf-8"))
    raised = {
        "expected KNOB=VALUE": "study/whatif/tuning.py",
        "expected a hexadecimal CPU mask such as '4' or 'ff', got ": "scenario/core/knob.py",
        "no job has a process": "scenario/parts/fio/checks.py",
    }
    for said, file in raised.items():
        assert said in (ROOT / "simnet" / file).read_text(encoding="utf-8")
        assert said in messages
    fixed = [re.split(r"\{\w+\}", one)[0] for one in SENTENCES.values()]
    assert [one for one in fixed if one not in messages] == []


def test_files_outside_of_the_folder_come_along_when_a_page_links_to_them(site: Path) -> None:
    assert 'href="repository/notebooks/00-first-run.html"' in (site / "index.html").read_text()
    assert (site / "repository" / "notebooks" / "00-first-run.html").is_file()
    overview = (site / "repository" / "index.html").read_text(encoding="utf-8")
    assert 'href="../whatif.html"' in overview
    assert 'href="LICENSE"' in overview
    assert (site / "repository" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_no_page_needs_another_host(site: Path) -> None:
    loaded = ('<script src="http', '<link rel="stylesheet" href="http', '<img src="http')
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))
    assert [page for page, text in pages.items() if any(one in text for one in loaded)] == []
