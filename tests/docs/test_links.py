"""What the documentation points at exists."""

import functools
import re
from pathlib import Path

from tests.docs.blocks import blocks
from tests.house.trees import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "validation").rglob("*.md"),
        *(ROOT / "notebooks").glob("*.md"),
    ]
)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"(?:[\w.-]+/)+[\w.-]*\.(?:py|toml|md|json|ipynb|txt)")
_PLACEHOLDER = re.compile(r"\b(NAME|DATE|FILE)\b")


@functools.cache
def _prose(path: Path) -> str:
    """Return the text without its blocks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for block in blocks(path, "\n".join(lines)):
        for number in range(block.first - 1, block.first - 1 + len(block.lines)):
            lines[number] = ""
    return "\n".join(lines)


@functools.cache
def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _prose(path), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_links_lead_somewhere() -> None:
    for path in PAGES:
        for target in _LINK.findall(_prose(path)):
            if target.startswith("https://"):
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            assert file.exists(), (path, target)
            if anchor:
                assert anchor in _anchors(file), (path, target)


def test_files_that_are_named_exist() -> None:
    for path in PAGES:
        made = {block.title for block in blocks(path, path.read_text(encoding="utf-8"))}
        for name in _CODE.findall(_prose(path)):
            if not _FILE.fullmatch(name) or _PLACEHOLDER.search(name) or name in made:
                continue
            there = [(folder / name).exists() for folder in (ROOT, path.parent)]
            assert any(there), (path, name)
