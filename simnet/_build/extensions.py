"""Compiles the rooms of the core with Cython, each to a file named by what it was made from.

Nothing here imports simnet: it must work before anything is installed, and while the
sources are broken.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ProcessPoolExecutor
from hashlib import blake2b
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simnet import _engine
    from simnet._build import rooms

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "simnet"

_MOST_LINES = 40


class BuildError(Exception):
    """The core cannot be compiled here; the text is the cause, on one line."""


def _load(file: str) -> Any:
    path = PACKAGE / file
    spec = importlib.util.spec_from_file_location(f"simnet_build_{path.stem}", path)
    if spec is None or spec.loader is None:
        message = f"simnet/{file} is missing"
        raise BuildError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    _engine = _load("_engine.py")
    rooms = _load("_build/rooms.py")

COMPILED = _engine.COMPILED


def toolchain() -> dict[str, str]:
    """Return the versions and settings, beside simnet's own, that shape the machine code.

    Raises:
        BuildError: Cython or the C compiler is missing.
    """
    try:
        cython = metadata.version("cython")
    except metadata.PackageNotFoundError:
        message = "Cython is not installed"
        raise BuildError(message) from None
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    made = {"cython": cython, "command": command}
    made |= {name: os.environ.get(name, "") for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS")}
    if command:
        made["compiler"] = _compiler_version(command)
    return made


def _compiler_version(command: str) -> str:
    try:
        answer = subprocess.run(
            [*shlex.split(command), "--version"], capture_output=True, text=True, check=True
        )
    except OSError as error:
        message = f"no C compiler: {command}: {error.strerror}"
        raise BuildError(message) from None
    except subprocess.CalledProcessError as error:
        message = f"no working C compiler: `{command} --version` exits with {error.returncode}"
        raise BuildError(message) from None
    return answer.stdout.partition("\n")[0]


def build(directory: Path, *, cache: Path | None = None) -> int:
    """Bring the compiled core in a directory up to date and return how many rooms it compiled.

    Args:
        directory: where the files and their manifest go; files of older builds for this
            interpreter are removed.
        cache: a directory of an earlier build, to copy from what is still good.

    Raises:
        BuildError: it cannot be done here. The manifest then says why.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with _one_build_at_a_time():
        try:
            tools = toolchain()
            # Which sources are made of the modules is for this file's version to say.
            maker = {"rooms": blake2b(Path(rooms.__file__).read_bytes()).hexdigest()[:32]}
            if _is_current(directory, tools | maker):
                return 0
            sources = _engine.core_sources(PACKAGE)
            core = _core(sources)
            made = [rooms.Room(_engine.SHARED), *core.rooms()]
        except (BuildError, rooms.SourceError) as error:
            record_failure(directory, str(error))
            raise BuildError(str(error)) from None
        files = {
            room.name: directory / _engine.file_name(room.name, _engine.digest(contents, tools))
            for room, contents in _contents(made, sources).items()
        }
        kept = _keep_sound(set(files.values()), [directory, *([cache] if cache else [])])
        missing = [room for room in made if files[room.name] not in kept]
        failure = _compile(missing, made, sources, files) if missing else ""
        between = sorted(core.between)
        manifest = {
            "failure": failure,
            "toolchain": tools | maker,
            "between": between,
            "sources": _engine.digest(_engine.counted(sources, between), tools | maker),
            "rooms": {
                room: {"file": file.name, "bytes": file.stat().st_size}
                for room, file in files.items()
                if file.is_file()
            },
            "modules": {name: members for room in made for name, members in room.modules.items()},
        }
        _write_manifest(directory, _empty_manifest() | manifest)
        if failure:
            raise BuildError(failure)
        _remove_others(directory, {file.name for file in files.values()})
        return sum(room.name != _engine.SHARED for room in missing)


def _core(
    sources: Mapping[str, bytes], others: Mapping[str, tuple[str, bytes]] | None = None
) -> rooms.Core:
    return rooms.Core(
        {
            **(others or {}),
            **{
                ".".join((PACKAGE.name, *Path(file).with_suffix("").parts)): (
                    f"{PACKAGE.name}/{file}",
                    text,
                )
                for file, text in sources.items()
                if file.endswith(".py") and not file.endswith("__init__.py")
            },
        }
    )


def _contents(
    made: list[rooms.Room], sources: Mapping[str, bytes]
) -> dict[rooms.Room, dict[str, bytes]]:
    """Return for each room all that its machine code depends on: of other rooms, declarations."""
    by_name = {room.name: room for room in made}
    return {
        room: room.files
        | {
            file: text
            for used in room.all_used(by_name)
            for file, text in by_name[used].files.items()
            if file.endswith(".pxd")
        }
        | {f"{PACKAGE.name}/{file}": text for file, text in sources.items() if file.endswith(".h")}
        for room in made
    }


def _is_current(directory: Path, tools: dict[str, str]) -> bool:
    try:
        recorded = _engine.usable(PACKAGE, directory)
        files = [directory / made["file"] for made in recorded["rooms"].values()]
        _engine.check_loading(files)
    except _engine.Unusable:
        return False
    return bool(recorded["toolchain"] == tools)


def _keep_sound(wanted: set[Path], directories: list[Path]) -> set[Path]:
    """Return which files exist as an earlier build made them, copied if need be; drop others."""
    sound: set[Path] = set()
    for directory in directories:
        recorded = _engine.read_manifest(directory) or {"rooms": {}}
        lengths = {made["file"]: made["bytes"] for made in recorded["rooms"].values()}
        for target in wanted - sound:
            file = directory / target.name
            if not file.is_file() or file.stat().st_size != lengths.get(file.name):
                continue
            with contextlib.suppress(_engine.Unusable):
                _engine.check_loading([file])
                sound.add(target)
                if file != target:
                    _place(file, target)
    for target in wanted - sound:
        target.unlink(missing_ok=True)
    return sound


def record_failure(directory: Path, cause: str) -> None:
    """Record why there is no compiled core. What an earlier build made stays known."""
    directory.mkdir(parents=True, exist_ok=True)
    recorded = _engine.read_manifest(directory) or _empty_manifest()
    _write_manifest(directory, recorded | {"failure": cause})


def _empty_manifest() -> dict[str, Any]:
    return {
        "format": _engine.MANIFEST_FORMAT,
        "failure": "",
        "toolchain": {},
        "between": [],
        "rooms": {},
        "modules": {},
    }


@contextlib.contextmanager
def _one_build_at_a_time() -> Iterator[None]:
    """Keep two builds in one checkout from removing each other's files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    # A directory can be locked without a lock file in it, even where nothing may be written.
    tree = os.open(PACKAGE, os.O_RDONLY)
    try:
        fcntl.flock(tree, fcntl.LOCK_EX)
        yield
    finally:
        os.close(tree)


def _compile(
    missing: list[rooms.Room],
    made: list[rooms.Room],
    sources: Mapping[str, bytes],
    targets: Mapping[str, Path],
) -> str:
    """Compile rooms, as many at a time as there are processors, and keep what succeeds.

    Returns:
        Which rooms failed and the first one's cause; empty when all succeeded. What the
        compilers said is on stderr.
    """
    sys.stderr.write(f"simnet: compiling {len(missing)} rooms\n")
    with tempfile.TemporaryDirectory(prefix="simnet-build-") as scratch:
        _write_sources(Path(scratch), made, sources)
        largest_first = sorted(missing, key=lambda room: -sum(map(len, room.files.values())))
        with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=get_context("fork")) as pool:
            tasks = {
                room.name: pool.submit(compile_room, room.name, scratch, targets[room.name])
                for room in largest_first
            }
            causes = {name: task.result() for name, task in tasks.items()}
    failed = {name: cause for name, cause in causes.items() if cause}
    return f"{', '.join(failed)}: {next(iter(failed.values()))}" if failed else ""


def _write_sources(scratch: Path, made: list[rooms.Room], sources: Mapping[str, bytes]) -> None:
    texts = {f"{PACKAGE.name}/__init__.py": b""}
    texts |= {f"{PACKAGE.name}/{file}": text for file, text in sources.items() if file[-2:] == ".h"}
    for room in made:
        texts |= room.files
    for file, text in texts.items():
        (scratch / file).parent.mkdir(parents=True, exist_ok=True)
        (scratch / file).write_bytes(text)


def compile_room(name: str, scratch: str, target: Path) -> str:
    """Compile one room from a folder with sources, in a process of the pool.

    The working directory is that folder, so that tracebacks name files from the root.

    Returns:
        The cause of a failure; what the compilers said is on stderr.
    """
    said = Path(scratch, f"{name}.txt")
    with contextlib.chdir(scratch), _output_to(said):
        cause = _translated_and_compiled(name, target)
    text = said.read_text(encoding="utf-8", errors="replace")
    if cause:
        sys.stderr.write(_shortened(text))
    return cause


def _translated_and_compiled(name: str, target: Path) -> str:
    from Cython.Build.SharedModule import generate_shared_module
    from Cython.Compiler.Errors import CompileError
    from Cython.Compiler.Main import compile_single
    from Cython.Compiler.Options import CompilationOptions
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import BaseError

    path = name.replace(".", "/")
    directives: dict[str, Any] = {
        "compiler_directives": dict(_engine.DIRECTIVES),
        "include_path": [str(Path.cwd())],
    }
    try:
        if name == _engine.SHARED:
            generate_shared_module(CompilationOptions(shared_c_file_path=f"{path}.c", **directives))
        else:
            options = CompilationOptions(shared_utility_qualified_name=_engine.SHARED, **directives)
            if compile_single(f"{path}.pyx", options, name).num_errors:
                return f"Cython does not accept {name}"
        extension = Extension(name, [f"{path}.c"], include_dirs=["."])
        extension.extra_compile_args = list(_engine.FLAGS) if os.name == "posix" else []
        command = build_ext(Distribution({"ext_modules": [extension]}))
        command.build_lib, command.build_temp = "lib", f"o/{name}"
        command.ensure_finalized()
        command.run()
    except CompileError:
        return f"Cython does not accept {name}"
    except BaseError as error:
        return " ".join(str(error).split())
    _place(Path("lib", *name.split(".")).with_suffix(_engine.EXTENSION_SUFFIX), target)
    return ""


@contextlib.contextmanager
def _output_to(file: Path) -> Iterator[None]:
    """Write what this process and those that it starts say to a file."""
    kept = os.dup(1), os.dup(2)
    there = os.open(file, os.O_WRONLY | os.O_CREAT)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(there, 1)
    os.dup2(there, 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, original in zip((1, 2), kept, strict=True):
            os.dup2(original, number)
        for each in (*kept, there):
            os.close(each)


def _shortened(text: str) -> str:
    """Return the first lines of what a compiler said: one mistake can make it say thousands."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= _MOST_LINES:
        return text
    return "".join([*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more lines\n"])


def _place(source: Path, target: Path) -> None:
    """Copy a file so that no process ever reads half of it."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy(source, partial)
    partial.replace(target)


def _write_manifest(directory: Path, manifest: dict[str, Any]) -> None:
    target = _engine.manifest_path(directory)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    partial.replace(target)


def _remove_others(directory: Path, keep: set[str]) -> None:
    for file in directory.glob(f"*{_engine.EXTENSION_SUFFIX}"):
        if file.name not in keep:
            file.unlink(missing_ok=True)


def build_beside(module: str, target: Path) -> None:
    """Compile one module that is no part of the core, such as a benchmark's, against the core.

    Beside the target goes a file in JSON that says what its names are called there.

    Raises:
        BuildError: it cannot be compiled.
    """
    file = f"{module.replace('.', '/')}.py"
    sources = _engine.core_sources(PACKAGE)
    try:
        made = _core(sources, {module: (file, (ROOT / file).read_bytes())}).rooms()
    except rooms.SourceError as error:
        raise BuildError(str(error)) from None
    (room,) = (room for room in made if module in room.modules)
    target.with_suffix(".json").write_text(json.dumps(room.modules[module]), encoding="utf-8")
    if failure := _compile([room], made, sources, {room.name: target}):
        raise BuildError(failure)


def main(module: str = "", target: str = "") -> int:
    """Build in the checkout, say what was done, and return the exit status.

    ``SIMNET_ENGINE=checked`` builds the form that checks itself, beside the other.

    Args:
        module: one that is no part of the core, to compile alone.
        target: the file for it.
    """
    try:
        if module:
            build_beside(module, Path(target))
            return 0
        made = build(PACKAGE / COMPILED)
    except BuildError as error:
        sys.stderr.write(f"simnet: the core is not compiled: {error}\n")
        return 1
    recorded = _engine.read_manifest(PACKAGE / COMPILED) or _empty_manifest()
    total = len(recorded["rooms"].keys() - {_engine.SHARED})
    sys.stdout.write(f"simnet: {made} of {total} rooms of the core compiled, the rest up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
