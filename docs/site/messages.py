"""The page of error messages, made of where they are raised in the source of simnet.

A message says itself what was expected, so there is no second text about it, and no list of them
but the source. What differs from case to case is shown as `…`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import simnet
from simnet import errors
from simnet.cli import _explain
from simnet.cli.status import Status
from simnet.faults import SENTENCES

OPEN = "…"
_SOURCE = Path(simnet.__file__).parent
# what is raised for people, one of each: the command knows the status that it ends with
_ERRORS = {
    "InputError": errors.InputError(""),
    "UnitError": errors.InputError(""),  # which becomes one where file and key are known
    "OutputError": errors.OutputError("", file=""),
    "SimulationError": errors.SimulationError(""),
    "LostRunError": errors.LostRunError(""),
}
# methods that make an InputError of a file's place, a key and a message
_METHODS = {"error", "fail"}
_DECLARED = "values of files"
_Messages = Mapping[str, set[str]]


def messages() -> Mapping[Status, _Messages]:
    """Messages by the exit status, and by the option or the room of simnet that they are of."""
    found: defaultdict[Status, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path in sorted(_SOURCE.rglob("*.py")):
        room = "/".join(path.relative_to(_SOURCE).parts[:-1]) or path.stem
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for status, call, said in _raised(function):
                    found[status][_option(call) or room] |= set(_texts(said, function))
    sentences = {re.sub(r"\{\w+\}", OPEN, sentence) for sentence in SENTENCES.values()}
    found[Status.BAD_INPUT][_DECLARED] |= sentences
    return found


def _raised(function: ast.FunctionDef) -> Iterator[tuple[Status, ast.Call, ast.expr]]:
    """Yield the status, the call, and the message of what a function raises."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _ERRORS:
                ends = _explain(_ERRORS[name])[1]
                yield next(one for one in Status if one == ends), node, first
            case ast.Call(func=ast.Attribute(attr=name), args=[*_, last]) if name in _METHODS:
                yield Status.BAD_INPUT, node, last


def _option(call: ast.Call) -> str:
    """The option that a message is of; empty for none."""
    named = (one.value for one in call.keywords if isinstance(one.value, ast.Constant))
    return next((str(one.value) for one in named if str(one.value).startswith("--")), "")


def _texts(said: ast.expr, function: ast.FunctionDef) -> Iterator[str]:
    """Yield what a message may be: of a name all that the function gives to it."""
    values: Iterable[ast.expr] = [said]
    if isinstance(said, ast.Name):
        values = (
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and any(isinstance(to, ast.Name) and to.id == said.id for to in node.targets)
        )
    for value in values:
        text = " ".join(_text(value).split())
        if any(character.isalpha() for character in text):
            yield text.replace(OPEN * 2, OPEN)


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(left) + _text(right)
    return OPEN
