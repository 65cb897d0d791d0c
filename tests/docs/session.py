"""Runs the blocks of a document, in what looks to it like a checkout of its own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import chdir, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from simnet import _engine
from simnet.scenario.core import jsonschema as schemas
from simnet.scenario.core.library import MODEL_FOLDERS, read_model, read_scenario
from tests.docs.blocks import Block, Step
from tests.house.trees import ROOT, inherited, run_within

_CHECKOUT = (
    *("simnet", "models", "scenarios", "validation", "notebooks"),
    *("tests/host", "tests/house", "tests/net"),
)
_FILES = ("pyproject.toml", "Makefile", "tests/conftest.py")
# what a block may take; a cross-validation takes a quarter of an hour
_QUICK_S = 600
_SLOW_S = 7200
# The tests are on all CPUs already, and to start workers takes longer than what examples simulate.
ONE_PROCESS = {"LOKY_MAX_CPU_COUNT": "1"}
# What sets up an environment of its own says what it would do; tests/house does it.
_PROGRAMS = {
    "python": 'exec "{python}" "$@"',
    "simnet": """[ "$SIMNET_ENGINE" = "{engine}" ] || exec "{python}" -m simnet "$@"
exec "{python}" -SIE "{served}" "{socket}" "$@\"""",
    "make": 'exec "{make}" --dry-run "$@"',
}
# what takes minutes on a machine that does much else
_PROGRESS = re.compile(r"^simnet: simulating: .*\n", re.MULTILINE)
_OWN_SIMNET = 'exec "{python}" -m simnet "$@"'
_KNOWN = {
    "python": sys.executable,
    "make": shutil.which("make") or "make",
    "served": Path(__file__).with_name("served.py"),
}


class _Served:
    """A process that runs `simnet` commands; it ends with this one, which closes its input."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.socket = f"{self._folder.name}/simnet"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.served", self.socket],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=inherited() | {"SIMNET_ENGINE": _engine.active()},
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == b"ready\n"

    @classmethod
    @cache
    def once(cls) -> _Served:
        """The one of this process."""
        return cls()


class Session:
    """What the blocks of one document share: files, Python names, environment."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "checkout"
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._programs = folder / "programs"
        self._kept = os.environ.get("SIMNET_CACHE_DIR", str(folder / "kept"))
        self._changed = False
        for name in _CHECKOUT:
            target = self.workspace / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(ROOT / name)
        for name in _FILES:
            shutil.copy(ROOT / name, self.workspace / name)
        self._programs.mkdir()
        for name, script in _PROGRAMS.items():
            self._provide(name, script)

    def _provide(self, name: str, script: str) -> None:
        known = _KNOWN | {"engine": _engine.active(), "socket": _Served.once().socket}
        file = self._programs / name
        file.write_text(f"#!/bin/sh\n{script.format(**known)}\n", encoding="utf-8")
        file.chmod(0o755)

    def _change(self) -> None:
        """Have a checkout to write to, and commands run by the simnet in it."""
        self._changed = True
        self._provide("simnet", _OWN_SIMNET)
        for name in _CHECKOUT:
            # Bytecode comes along, or each command would compile simnet's modules once more; but
            # not what another process is about to write.
            ignored = shutil.ignore_patterns("*.pyc.*")
            (self.workspace / name).unlink()
            shutil.copytree(ROOT / name, self.workspace / name, ignore=ignored)

    def run(self, block: Block) -> str:
        """Do what a block asks for and return what it prints.

        Raises:
            AssertionError: a command failed.
            Exception: whatever Python code raises, or what is wrong with a TOML file.
        """
        if "writes" in block.words and not self._changed:
            self._change()
        if block.title:
            self._write(block)
        elif block.language == "sh":
            return self._command(block.text, block)
        elif block.language == "python":
            return self._python(block)
        elif block.language == "toml":
            _check_fragment(block)
        else:
            message = f"{block.place}: expected a title: nothing else makes use of it"
            raise AssertionError(message)
        return ""

    def _write(self, block: Block) -> None:
        file = self.workspace / block.title
        if not self._changed and file.resolve().is_relative_to(ROOT):
            self._change()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        if block.language == "toml" and self._changed:
            self._check_there(block)
        elif block.language == "toml":
            _check_file(file)

    def _check_there(self, block: Block) -> None:
        """Check a file by the document's own version of simnet, which is not built yet."""
        data = tomllib.loads(block.text)
        simnet = "SIMNET_ENGINE=interpreted simnet show"
        self._command(f"{simnet} {block.title}", block)
        schema = self._command(f"{simnet} --schema {data['kind']}", block)
        jsonschema.validate(data, json.loads(schema))

    def _command(self, text: str, block: Block) -> str:
        done = run_within(
            _SLOW_S if "slow" in block.words else _QUICK_S,
            *("bash", "-euc", f"exec 2>&1\n{text}"),
            cwd=self.workspace,
            environment={
                "PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(self.workspace),
                "SIMNET_ENGINE": _engine.active(),
                "SIMNET_CACHE_DIR": self._kept,
                **ONE_PROCESS,
            },
        )
        assert done.returncode == 0, f"{block.place}: status {done.returncode}\n{done.stdout}"
        return _PROGRESS.sub("", done.stdout)

    def _python(self, block: Block) -> str:
        # Blank lines in front make a traceback name the line of the document.
        source = "\n" * (block.first - 1) + block.text
        code = compile(source, str(block.path), "exec")
        printed = io.StringIO()
        folder = self.workspace / block.words.get("in", "")
        with pytest.MonkeyPatch.context() as patch, chdir(folder), redirect_stdout(printed):
            patch.syspath_prepend(folder)
            for name, value in ONE_PROCESS.items():
                patch.setenv(name, value)
            exec(code, self._names)  # noqa: S102 - the documentation's own code
        return printed.getvalue()


def _check_file(file: Path) -> None:
    """Let the loader and the schema for editors both read a file."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    kind = data.get("kind", "")
    if kind == "scenario":
        read_scenario(file)
    else:
        read_model(next(known for known in MODEL_FOLDERS if known == kind), file)
    jsonschema.validate(data, schemas.schema(kind))


def _check_fragment(block: Block) -> None:
    """Check each key of a few lines by its part of the schema."""
    kind = block.words.get("kind", "")
    assert kind in schemas.NAMES, f"{block.place}: expected kind=KIND or a title"
    whole = schemas.schema(kind)
    variants = [whole["$defs"][one["$ref"].rpartition("/")[2]] for one in whole.get("oneOf", ())]
    keys = {key: part for table in variants or [whole] for key, part in table["properties"].items()}
    for key, value in tomllib.loads(block.text).items():
        assert key in keys, f"{block.place}: {key} is no key of a {kind}"
        part = {**keys[key], "$defs": whole["$defs"]}
        jsonschema.Draft202012Validator(part).validate(value)


def wanted(step: Step, *, slow: bool) -> bool:
    """Whether a step is for this engine and this run."""
    words = step.block.words
    if "compiled" in words and _engine.active() != "compiled":
        return False
    return slow or "slow" not in words
