"""Makes a site of the documentation: what MkDocs adds to the pages and changes in them.

The pages stay plain Markdown that reads well in a checkout. On the site

- a file outside of `docs/` that a page links to comes along, under `repository/`, and the link
  leads there;
- each notebook is a page with the outputs stored in it;
- the references are made of what they describe (`reference.py`).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import REFERENCES

ROOT: Final = Path(__file__).resolve().parents[2]
_OUTSIDE: Final = "repository"
_LINK: Final = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
# words after a language say how the tests run a block; a title is for readers, too
_FENCE: Final = re.compile(
    r'^```(?P<language>\w+)[^\n]*?(?P<title> title="[^"]*")?[^\n"]*$', re.MULTILINE
)
_CODE: Final = re.compile(r"(?ms)^```.*?^```$")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the menus: lessons, and pages that have no place of their own."""
    menus = {name: pages for menu in config.nav or () for name, pages in menu.items()}
    named = set(re.findall(r"[\w-]+\.md", str(menus)))
    pages = sorted(path.name for path in Path(config.docs_dir).glob("*.md"))
    menus["Understand"] += [name for name in pages if name not in named]
    (lessons,) = (entry["Lessons"] for entry in menus["Learn"] if "Lessons" in entry)
    lessons += [_page(notebook) for notebook in _notebooks()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the references, the notebooks, and what pages link to outside of `docs/`."""
    for write in REFERENCES:
        files.append(File.generated(config, f"reference/{write.__name__}.md", content=write()))
    waiting = [file.src_uri for file in files if file.is_documentation_page()]
    waiting += [f"{_OUTSIDE}/{name}" for name in ("README.md", "CHANGELOG.md")]
    waiting += _notebooks()
    while waiting:
        uri = waiting.pop()
        file = files.get_file_from_path(_page(uri))
        if file is None:
            file = _outside(uri, files, config)
        if file.is_documentation_page():
            linked = {_target(uri, found["path"]) for found in _links(file.content_string)}
            waiting += [to for to in linked if files.get_file_from_path(_page(to)) is None]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links towards the pages of the site, and fences into what its highlighter reads."""
    del config, files
    here = page.file.src_uri

    def turned(found: re.Match[str]) -> str:
        to = os.path.relpath(_page(_target(here, found["path"])), PurePosixPath(here).parent)
        return f"{to}{found['anchor'] or ''}"

    parts = _CODE.split(markdown)
    blocks = [_FENCE.sub(r"```\g<language>\g<title>", block) for block in _CODE.findall(markdown)]
    prose = [_LINK.sub(turned, part) for part in parts]
    return "".join(part + block for part, block in zip(prose, [*blocks, ""], strict=True))


def _links(markdown: str) -> Iterator[re.Match[str]]:
    return _LINK.finditer(_CODE.sub("", markdown))


def _target(here: str, path: str) -> str:
    """The page or file of the site that a link in one of its pages means."""
    inside = here.removeprefix(f"{_OUTSIDE}/")
    folder = PurePosixPath("docs" if inside == here else "", inside).parent
    meant = os.path.normpath(folder / path)
    return meant.removeprefix("docs/") if meant.startswith("docs/") else f"{_OUTSIDE}/{meant}"


def _page(uri: str) -> str:
    return f"{uri.removesuffix('.ipynb')}.md" if uri.endswith(".ipynb") else uri


def _outside(uri: str, files: Files, config: MkDocsConfig) -> File:
    """A file of the repository as one of the site's, added to it."""
    path = ROOT / uri.removeprefix(f"{_OUTSIDE}/")
    if path.suffix == ".ipynb":
        file = File.generated(config, _page(uri), content=_notebook(path))
    elif path.is_file():
        file = File.generated(config, uri, abs_src_path=str(path))
    else:
        return File.generated(config, uri, content="")  # MkDocs says which link is broken
    files.append(file)
    return file


def _notebooks() -> list[str]:
    found = sorted(ROOT.glob("notebooks/*.ipynb"))
    return [f"{_OUTSIDE}/{path.relative_to(ROOT)}" for path in found]


def _notebook(path: Path) -> str:
    """A notebook with its stored outputs as Markdown."""
    text = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text.append(source)
            continue
        text.append(f"```python\n{source}\n```")
        text += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(text)


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        png = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="what the cell above draws" src="data:image/png;base64,{png}">'
    if "text/html" in data:
        return "".join(data["text/html"])
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    return f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```"
