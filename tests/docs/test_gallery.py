"""The gallery shows every figure of the package, and each picture can be drawn again."""

import re
from importlib import import_module
from inspect import getmembers, isfunction, signature
from pkgutil import iter_modules
from typing import Any

import pytest

from simnet.study import figures
from tests.docs.gallery import FOLDER, SHOWN
from tests.house.trees import ROOT

# the same pictures of numbers from elsewhere
VARIANTS = {"record:ratios", "sweep:_panels", "work:mechanism_bars"}


def _called(annotation: Any) -> str:
    """The name of a type, also where it is only a name, as of what type checkers import."""
    return str(getattr(annotation, "__name__", annotation))


def test_every_figure_is_drawn() -> None:
    known = {
        f"{module.__name__.rpartition('.')[2]}:{name}"
        for found in iter_modules(figures.__path__, f"{figures.__name__}.")
        for module in [import_module(found.name)]
        for name, function in getmembers(module, isfunction)
        if function.__module__ == module.__name__
        and _called(signature(function).return_annotation) == "Figure"
    }
    assert known - VARIANTS == {picture for picture, _ in SHOWN.values()}


def test_every_picture_is_shown_once() -> None:
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(gallery/(.+)\.svg\)", text)) == sorted(SHOWN)
    assert {file.stem for file in FOLDER.iterdir()} == set(SHOWN)


def test_pictures_are_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 1_000_000


@pytest.mark.parametrize("name", ["machine", "how-far-off"])
def test_a_picture_can_be_drawn(name: str) -> None:
    picture, given = SHOWN[name]
    assert figures.drawn(picture, *given()).axes
