"""What is declared for compiled modules holds: sizes that are asked for ahead, and constants.

Cache lines are asked for only as far as the object reaches. Both engines have the same constants:
the enums of a `.pxd` have the values that Python gives the names.
"""

from __future__ import annotations

import ast
import importlib
import re
from typing import Any

import pytest

from simnet import _engine

_CLASS = re.compile(r"^cdef class (\w+)(?:\((\w+)\))?:\n((?:[ \t].*\n|\n)*)", re.MULTILINE)
_ENUM = re.compile(r"^cdef enum:\n((?:    .*\n)+)", re.MULTILINE)
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


@pytest.mark.skipif(_engine.active() == "interpreted", reason="only compiled objects have a layout")
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


def _of_compiled(text: str) -> dict[str, int]:
    """What the enums of a `.pxd` name; a name without a value is one more than the one before."""
    found: dict[str, int] = {}
    for body in _ENUM.findall(text):
        last = -1
        for line in body.split("\n"):
            name, _, value = (part.strip() for part in line.partition("="))
            if name:
                last = eval(value, {}, found) if value else last + 1  # noqa: S307 - our own file
                found[name] = last
    return found


def _of_interpreted(text: str) -> dict[str, int]:
    """What a module assigns where it is not compiled."""
    found: dict[str, int] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "not cython.compiled":
            given: list[ast.stmt] = [one for one in node.body if isinstance(one, ast.Assign)]
            exec(ast.unparse(ast.Module(given, [])), {}, found)  # noqa: S102 - our own file
    return found


_MODULES = {
    source: _of_compiled(pxd)
    for source in _engine.core_modules().values()
    if _ENUM.search(pxd := (_engine.PACKAGE / source).with_suffix(".pxd").read_text("utf-8"))
}


@pytest.mark.parametrize("source", _MODULES)
def test_an_enum_has_the_values_that_python_uses(source: str) -> None:
    interpreted = _of_interpreted((_engine.PACKAGE / source).read_text("utf-8"))
    compiled = _MODULES[source]
    assert compiled
    assert {name: interpreted.get(name) for name in compiled} == compiled
