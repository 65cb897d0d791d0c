"""The parts of the choice between the engines, on a package that is only pretended."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from simnet import _engine
from simnet.errors import EngineError, EngineWarning
from tests.house.trees import ROOT

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = {"cython": "3.1"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the core modules `pretended.a.b` and `pretended.c`, built by nobody."""
    package = tmp_path / "pretended"
    for name in ("a/b.py", "a/b.pxd", "c.py", "c.pxd", "plain.py", "a/__init__.py"):
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n", encoding="utf-8")
    (package / "_compiled").mkdir()
    monkeypatch.setattr(_engine, "PACKAGE", package)
    monkeypatch.setattr(_engine, "_active", "interpreted")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    return package


def pretend_build(package: Path, **changes: object) -> dict[str, Path]:
    """Write what a build would, without machine code."""
    directory = package / "_compiled"
    modules: dict[str, Any] = {}
    files = {}
    used = {
        module: [source, source.replace(".py", ".pxd")]
        for module, source in _engine.core_modules(package).items()
    }
    for module, sources in {_engine.SHARED: [], **used}.items():
        name = _engine.file_name(module, _engine.digest(package, sources, TOOLS))
        files[module] = directory / name
        files[module].write_bytes(b"no machine code")
        modules[module] = {"file": name, "bytes": 15, "sources": sources}
    manifest = {"format": 1, "failure": "", "toolchain": TOOLS, "modules": modules} | changes
    _engine.manifest_path(directory).write_text(json.dumps(manifest), encoding="utf-8")
    return files


def problem(package: Path) -> str:
    with pytest.raises(_engine.Unusable) as caught:
        _engine.compiled_files(package, package / "_compiled")
    return str(caught.value)


def test_core_is_what_has_declarations_beside_it(package: Path) -> None:
    for name in ("d.pxd", "a/__init__.pxd", "_share/e.py", "_share/e.pxd"):
        file = package / name
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert _engine.core_modules(package) == {"pretended.a.b": "a/b.py", "pretended.c": "c.py"}


def test_digest_is_of_names_contents_and_tools(package: Path) -> None:
    digests = [_engine.digest(package, ["c.py", "c.pxd"], TOOLS)]
    assert _engine.digest(package, ["c.pxd", "c.py"], TOOLS) == digests[0]
    digests.append(_engine.digest(package, ["c.py"], TOOLS))
    digests.append(_engine.digest(package, ["c.py", "c.pxd"], {"cython": "3.2"}))
    (package / "c.pxd").write_text("# changed\n", encoding="utf-8")
    digests.append(_engine.digest(package, ["c.py", "c.pxd"], TOOLS))
    assert len(set(digests)) == 4


OTHER_SETTINGS: dict[str, object] = {
    "CALLED_FOR_EACH_EVENT": ("pretended.c",),
    "DIRECTIVES": {"language_level": 2},
    "EXTENSION_SUFFIX": ".other.so",
    "FLAGS": ("-O1",),
    "FOR_PYTHON": "__pyx_pw",
    "SHARED": "pretended._other",
    "SMALL_CODE": "#define CYTHON_SMALL_CODE\n",
}


@pytest.mark.parametrize("setting", OTHER_SETTINGS)
def test_digest_is_of_each_setting_of_the_build(
    package: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    before = _engine.digest(package, ["c.py"], TOOLS)
    monkeypatch.setattr(_engine, setting, OTHER_SETTINGS[setting])
    assert _engine.digest(package, ["c.py"], TOOLS) != before


def test_no_setting_that_the_build_reads_is_left_out() -> None:
    folder = ROOT / "simnet" / "_build"
    sources = [(folder / name).read_text("utf-8") for name in ("extensions.py", "translation.py")]
    read = set(re.findall(r"\b(?:_engine|settings)\.([A-Z][A-Z_]+)\b", "\n".join(sources)))
    shapes_no_code = {"COMPILED", "MANIFEST_FORMAT", "PACKAGE"}
    assert read - shapes_no_code == OTHER_SETTINGS.keys()


def test_sound_build_is_taken_whole(package: Path) -> None:
    files = pretend_build(package)
    assert _engine.compiled_files(package, package / "_compiled") == files


def test_reasons_against_a_build_are_told_apart(package: Path) -> None:
    assert problem(package) == "it has not been built for this Python"
    pretend_build(package, format=0)
    assert problem(package) == "it has not been built for this Python"
    pretend_build(package, failure="no C compiler")
    assert problem(package) == "it could not be built: no C compiler"
    files = pretend_build(package)
    files["pretended.c"].write_bytes(b"short")
    assert "is not as long as it was made" in problem(package)
    files["pretended.c"].unlink()
    assert "pretended.c or what it includes was edited" in problem(package)
    pretend_build(package)
    (package / "a" / "b.pxd").unlink()
    assert problem(package) == "it is out of date: pretended.a.b was added or removed since"


def test_included_file_that_is_gone_is_named(package: Path) -> None:
    pretend_build(package)
    manifest = _engine.read_manifest(package / "_compiled")
    assert manifest is not None
    manifest["modules"]["pretended.c"]["sources"].append("gone.pxd")
    pretend_build(package, modules=manifest["modules"])
    assert "gone.pxd: No such file" in problem(package)


def test_file_that_is_no_library_is_refused_before_it_is_imported(package: Path) -> None:
    files = pretend_build(package)
    with pytest.raises(_engine.Unusable, match="it does not load: "):
        _engine.check_loading(files.values())


def test_finder_serves_core_modules_only(package: Path) -> None:
    finder = _engine._CompiledFinder(pretend_build(package))
    spec = finder.find_spec("pretended.c")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.startswith(str(package / "_compiled"))
    assert finder.find_spec("pretended.plain") is None


@pytest.mark.parametrize("wanted", ["", "auto"])
def test_unusable_core_is_a_warning_by_default(
    package: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    pretend_build(package, failure="no C compiler")
    monkeypatch.setenv("SIMNET_ENGINE", wanted)
    with pytest.warns(EngineWarning, match="runs interpreted.*no C compiler$"):
        _engine.install()
    assert _engine.active() == "interpreted"


def test_unusable_core_is_an_error_where_it_is_asked_for(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "_build").mkdir()
    monkeypatch.setenv("SIMNET_ENGINE", "compiled")
    with pytest.raises(EngineError, match="has not been built for this Python; build it with: "):
        _engine.install()


def test_command_says_it_in_a_line_of_its_own(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/simnet", "list"])
    monkeypatch.setenv("SIMNET_ENGINE", "auto")
    pretend_build(package, failure="no C compiler")
    _engine.install()
    assert capsys.readouterr().err == (
        "simnet: runs interpreted, about 50 times slower, because the compiled engine"
        " cannot be used: it could not be built: no C compiler\n"
    )
    monkeypatch.setenv("SIMNET_ENGINE", "compiled")
    with pytest.raises(SystemExit) as left:
        _engine.install()
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith("simnet: SIMNET_ENGINE=compiled, but the compiled")


@pytest.mark.usefixtures("package")
def test_interpreted_engine_needs_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMNET_ENGINE", "interpreted")
    before = list(sys.meta_path)
    _engine.install()
    assert (_engine.active(), sys.meta_path) == ("interpreted", before)


@pytest.mark.usefixtures("package")
def test_unknown_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMNET_ENGINE", "fast")
    with pytest.raises(EngineError, match="auto, checked, compiled or interpreted, not 'fast'"):
        _engine.install()


def test_usable_core_is_installed_first(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMNET_ENGINE", "compiled")
    monkeypatch.setattr(_engine, "check_loading", lambda _: None)
    files = pretend_build(package)
    _engine.install()
    finder = sys.meta_path[0]
    assert isinstance(finder, _engine._CompiledFinder)
    assert finder.files == files
    assert _engine.active() == "compiled"
