"""The floors of the house: imports go downward only."""

from collections import Counter
from pathlib import Path

import pytest

from tests.house.layers import FLOORS, allowed, imports_of_python, violations
from tests.house.trees import ROOT


def test_no_module_imports_upward() -> None:
    assert violations(ROOT / "simnet") == []


def test_every_folder_of_the_package_is_a_floor() -> None:
    folders = {entry.name for entry in (ROOT / "simnet").iterdir() if entry.is_dir()}
    assert {name for name in folders if name[0] not in "_."} == set(FLOORS)


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {file.parent for file in (ROOT / "simnet").rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


@pytest.mark.parametrize("tree", ["simnet", "tests", "notebooks"])
def test_a_folder_holds_no_more_files_than_one_reads_at_a_glance(tree: str) -> None:
    files = (file for file in (ROOT / tree).rglob("*.py") if file.name != "__init__.py")
    held = Counter(str(file.parent.relative_to(ROOT)) for file in files)
    assert {folder: number for folder, number in held.items() if number > 20} == {}


def test_nothing_outside_the_package_is_a_package() -> None:
    outside = [
        folder
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name not in ("simnet", "build", "dist", "out")
        if not folder.name.startswith(".")
    ]
    assert [file for folder in outside for file in folder.rglob("__init__.py")] == []


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("simnet.kernel.queue", "simnet.kernel.simulator", True),
        ("simnet.kernel.queue", "simnet.errors", True),
        ("simnet.kernel.queue", "simnet.host.cpu", False),
        ("simnet.host.cpu", "simnet.net.nic.port", False),
        ("simnet.net.nic.port", "simnet.host.cpu", True),
        ("simnet.net.nic.port", "simnet.storage.disk.disk", False),
        ("simnet.storage.disk.disk", "simnet.net.nic.port", True),
        ("simnet.study.run.run", "simnet.cli", False),
        ("simnet.report.text", "simnet.cli.main", False),
        ("simnet.cli.main", "simnet.report.text", True),
        ("simnet.study.run.run", "simnet.new_part", False),
        ("simnet.study.run.run", "simnet", False),
        ("simnet.scenario.core.load", "simnet.scenario.parts.nic.schema", False),
        ("simnet.scenario.commands.ready", "simnet.scenario.parts.host", False),
        ("simnet.scenario.parts.nic.schema", "simnet.scenario.core.load", True),
        ("simnet.errors", "simnet.kernel.queue", False),
        ("simnet", "simnet.study.run.run", True),
    ],
)
def test_rule(importer: str, imported: str, *, expected: bool) -> None:
    assert allowed(importer, imported) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import simnet.host.cpu", {"simnet.host.cpu"}),
        ("from simnet.host.cpu import Cpu", {"simnet.host.cpu"}),
        ("from simnet import host, __version__", {"simnet.host"}),
        ("import os, numpy as np", set()),
        ("import simnet\nprint(simnet.__version__)", set()),
        ("import simnet\nprint(simnet.host.cpu)", {"simnet.host"}),
        ("import simnet as s\nprint(s.host.cpu)", {"simnet"}),
        ("if TYPE_CHECKING:\n    from simnet.host import cpu", {"simnet.host"}),
        ("def f():\n    import simnet.host.cpu as c", {"simnet.host.cpu"}),
        ("from cython.cimports.simnet.host.cpu import Cpu", {"simnet.host.cpu"}),
        ("from cython.cimports.simnet import host", {"simnet.host"}),
        ("from . import queue", {"simnet.kernel"}),
        ("from .queue import EventQueue", {"simnet.kernel.queue"}),
        ("from ..host.cpu import Cpu", {"simnet.host.cpu"}),
        ("from .. import host", {"simnet.host"}),
    ],
)
def test_imports_of_python(source: str, expected: set[str]) -> None:
    assert imports_of_python(source, "simnet.kernel.simulator") == expected


def test_upward_import_anywhere_is_found(tmp_path: Path) -> None:
    package = tmp_path / "simnet"
    for folder in ("kernel", "host", "study"):
        (package / folder).mkdir(parents=True)
    (package / "__init__.py").write_text("from simnet.study import run\n", encoding="utf-8")
    (package / "host" / "cpu.py").write_text("import simnet.study.run.run\n", encoding="utf-8")
    (package / "kernel" / "__init__.py").write_text("from ..study import run\n", encoding="utf-8")
    assert violations(package) == [
        "simnet/host/cpu.py imports simnet.study.run.run",
        "simnet/kernel/__init__.py imports simnet.study",
    ]
