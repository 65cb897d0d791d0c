"""Cache lines are asked for ahead only as far as the object reaches."""

from __future__ import annotations

import ast
import importlib
import re
from typing import Any

import pytest

from simnet import _engine

pytestmark = pytest.mark.skipif(
    _engine.active() == "interpreted", reason="only compiled objects have a layout"
)

_CLASS = re.compile(r"^cdef class (\w+)(?:\((\w+)\))?:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^    cdef (?:public |readonly )?(\w+) (\w+)$", re.MULTILINE)


def _attributes() -> dict[str, dict[str, str]]:
    """Return, for each compiled class, the declared type of each attribute, inherited ones too."""
    declared: dict[str, dict[str, str]] = {}
    bases: dict[str, str] = {}
    for source in _engine.core_modules().values():
        text = (_engine.PACKAGE / source).with_suffix(".pxd").read_text("utf-8")
        for name, base, body in _CLASS.findall(text):
            bases[name] = base
            declared.setdefault(name, {}).update({to: of for of, to in _ATTRIBUTE.findall(body)})

    def inherited(name: str) -> dict[str, str]:
        return inherited(bases[name]) | declared[name] if name in bases else {}

    return {name: inherited(name) for name in declared}


def _largest_bytes(cls: Any) -> int:
    return max([int(cls.__basicsize__), *map(_largest_bytes, cls.__subclasses__())])


def _asked() -> list[tuple[str, str, int]]:
    """Return where a number of bytes is asked for, the type of the object, and the number."""
    attributes = _attributes()
    asked = []
    for source in _engine.core_modules().values():
        tree = ast.parse((_engine.PACKAGE / source).read_text("utf-8"))
        for cls in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            for function in (node for node in cls.body if isinstance(node, ast.FunctionDef)):
                types = {"self": cls.name}
                for node in ast.walk(function):
                    if isinstance(node, ast.AnnAssign):
                        types[ast.unparse(node.target)] = ast.unparse(node.annotation)
                for node in ast.walk(function):
                    found = re.fullmatch(
                        r"prefetch\(cython\.cast\(cython\.p_void, ([\w.]+)\), (\d+)\)",
                        ast.unparse(node) if isinstance(node, ast.expr) else "",
                    )
                    if found:
                        first, *path = found[1].split(".")
                        held = types[first]
                        for name in path:
                            held = attributes[held][name]
                        asked.append((f"{source}: {function.name}", held, int(found[2])))
    return asked


def test_no_lines_beyond_the_object_are_asked_for() -> None:
    modules = [importlib.import_module(name) for name in _engine.core_modules()]
    classes = {
        name: cls
        for module in modules
        for name, cls in vars(module).items()
        if isinstance(cls, type) and cls.__module__ == module.__name__
    }
    asked = _asked()
    assert len(asked) > 10
    beyond = [
        f"{where}: {size_bytes} bytes of {held}, which has {_largest_bytes(classes[held])}"
        for where, held, size_bytes in asked
        if size_bytes > _largest_bytes(classes[held])
    ]
    assert beyond == []
