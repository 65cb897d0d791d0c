"""The parts of the choice between the engines, on a package that is only pretended."""

import json
import re
import sys
from pathlib import Path

import pytest

from simnet import _engine
from simnet.errors import EngineError, EngineWarning
from tests.house.trees import ROOT

TOOLS = {"cython": "3.1"}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the core modules `pretended.host.b` and `pretended.net.c`, built by nobody."""
    package = tmp_path / "pretended"
    for name in ("host/b.py", "host/b.h", "net/c.py", "plain.py", "host/__init__.py"):
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\nimport cython\n" if "c.py" in name else "", encoding="utf-8")
    (package / "_compiled").mkdir()
    monkeypatch.setattr(_engine, "PACKAGE", package)
    monkeypatch.setattr(_engine, "_active", "interpreted")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    return package


def pretend_build(package: Path, **changes: object) -> dict[str, Path]:
    """Write what a build would, without machine code."""
    directory = package / "_compiled"
    files = {}
    modules = {}
    for module in ("pretended.host.b", "pretended.net.c"):
        room = module.replace("pretended.", "pretended._core_").rpartition(".")[0]
        files[room] = directory / _engine.file_name(room, "0" * 32)
        files[room].write_bytes(b"no machine code")
        modules[module] = {"room": room, "source": "c.py", "names": {}, "numbers": {}}
    manifest = {
        "format": 3,
        "failure": "",
        "toolchain": TOOLS,
        "between": ["host/b.py"],
        "sources": _engine.digest(
            _engine.counted(_engine.core_sources(package), ["host/b.py"]), TOOLS
        ),
        "rooms": {room: {"file": file.name, "bytes": 15} for room, file in files.items()},
        "modules": modules,
    }
    text = json.dumps(manifest | changes)
    _engine.manifest_path(directory).write_text(text, encoding="utf-8")
    return files


def problem(package: Path) -> str:
    with pytest.raises(_engine.Unusable) as caught:
        _engine.usable(package, package / "_compiled")
    return str(caught.value)


def test_core_is_in_the_folders_of_the_mechanisms(package: Path) -> None:
    assert _engine.core_sources(package).keys() == {
        "host/__init__.py",
        "host/b.h",
        "host/b.py",
        "net/c.py",
    }


def test_digest_is_of_names_contents_and_tools() -> None:
    digests = [
        _engine.digest({"c.py": b"1", "d.py": b"2"}, TOOLS),
        _engine.digest({"c.py": b"2", "d.py": b"1"}, TOOLS),
        _engine.digest({"c.py": b"1"}, TOOLS),
        _engine.digest({"c.py": b"1"}, {"cython": "3.2"}),
    ]
    assert _engine.digest({"d.py": b"2", "c.py": b"1"}, TOOLS) == digests[0]
    assert len(set(digests)) == 4


OTHER_SETTINGS: dict[str, object] = {
    "DIRECTIVES": {"language_level": 2},
    "EXTENSION_SUFFIX": ".other.so",
    "FLAGS": ("-O1",),
    "SHARED": "pretended._other",
}


@pytest.mark.parametrize("setting", OTHER_SETTINGS)
def test_digest_is_of_each_setting_of_the_build(
    monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    before = _engine.digest({"c.py": b""}, TOOLS)
    monkeypatch.setattr(_engine, setting, OTHER_SETTINGS[setting])
    assert _engine.digest({"c.py": b""}, TOOLS) != before


def test_no_setting_that_the_build_reads_is_left_out() -> None:
    text = (ROOT / "simnet" / "_build" / "extensions.py").read_text("utf-8")
    read = set(re.findall(r"\b_engine\.([A-Z][A-Z_]+)\b", text))
    shapes_no_code = {"COMPILED", "MANIFEST_FORMAT"}
    assert read - shapes_no_code == OTHER_SETTINGS.keys()


def test_sound_build_is_taken_whole(package: Path) -> None:
    files = pretend_build(package)
    manifest = _engine.usable(package, package / "_compiled")
    assert {made["file"] for made in manifest["rooms"].values()} == {
        file.name for file in files.values()
    }


def test_reasons_against_a_build_are_told_apart(package: Path) -> None:
    assert problem(package) == "it has not been built for this Python"
    pretend_build(package, format=0)
    assert problem(package) == "it has not been built for this Python"
    pretend_build(package, failure="no C compiler")
    assert problem(package) == "it could not be built: no C compiler"
    files = pretend_build(package)
    files["pretended._core_net"].write_bytes(b"short")
    assert "is not as long as it was made" in problem(package)
    files["pretended._core_net"].unlink()
    assert "is missing" in problem(package)
    for changed in ("host/b.h", "host/b.py", "net/c.py"):
        pretend_build(package)
        (package / changed).unlink()
        assert problem(package).startswith("it is out of date: a source was edited, added or")


def test_file_that_is_no_library_is_refused_before_it_is_imported(package: Path) -> None:
    files = pretend_build(package)
    with pytest.raises(_engine.Unusable, match="it does not load: "):
        _engine.check_loading(files.values())


def test_finder_serves_rooms_and_core_modules_only(package: Path) -> None:
    pretend_build(package)
    directory = package / "_compiled"
    finder = _engine._CompiledFinder(_engine.usable(package, directory), directory)
    spec = finder.find_spec("pretended._core_net")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.startswith(str(directory))
    spec = finder.find_spec("pretended.net.c")
    assert spec is not None
    assert spec.origin is not None
    assert spec.origin.endswith("c.py")
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
    assert finder.rooms == {room: str(file) for room, file in files.items()}
    assert _engine.active() == "compiled"
