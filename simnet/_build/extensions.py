"""Compiles the core modules with Cython, each to a file named by what it was made from.

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
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet import _engine

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "simnet"

_MOST_LINES = 40


class BuildError(Exception):
    """The core cannot be compiled here; the text is the cause, on one line."""


def _load_engine() -> Any:
    spec = importlib.util.spec_from_file_location("_engine", PACKAGE / "_engine.py")
    if spec is None or spec.loader is None:
        message = "simnet/_engine.py is missing"
        raise BuildError(message)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    _engine = _load_engine()


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
    """Bring the compiled core in a directory up to date and return how many modules it took.

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
        except BuildError as error:
            record_failure(directory, str(error))
            raise
        if _is_current(directory, tools):
            return 0
        sources = _dependencies()
        files = {
            module: directory / _engine.file_name(module, _engine.digest(PACKAGE, used, tools))
            for module, used in sources.items()
        }
        kept = _keep_sound(set(files.values()), [directory, *([cache] if cache else [])])
        missing = {module: file for module, file in files.items() if file not in kept}
        failure = _compile(missing) if missing else ""
        made = {
            module: {"file": file.name, "bytes": file.stat().st_size, "sources": sources[module]}
            for module, file in files.items()
            if file.is_file()
        }
        manifest = {"failure": failure, "toolchain": tools, "modules": made}
        _write_manifest(directory, _empty_manifest() | manifest)
        if failure:
            raise BuildError(failure)
        _remove_others(directory, {file.name for file in files.values()})
        return len(missing)


def _is_current(directory: Path, tools: dict[str, str]) -> bool:
    recorded = _engine.read_manifest(directory)
    if not recorded or recorded["toolchain"] != tools:
        return False
    try:
        _engine.check_loading(_engine.compiled_files(PACKAGE, directory).values())
    except _engine.Unusable:
        return False
    return True


def _keep_sound(wanted: set[Path], directories: list[Path]) -> set[Path]:
    """Return which files exist as an earlier build made them, copied if need be; drop others."""
    sound: set[Path] = set()
    for directory in directories:
        recorded = _engine.read_manifest(directory) or {"modules": {}}
        lengths = {made["file"]: made["bytes"] for made in recorded["modules"].values()}
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
    return {"format": _engine.MANIFEST_FORMAT, "failure": "", "toolchain": {}, "modules": {}}


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


def _dependencies() -> dict[str, list[str]]:
    """Return, for each core module, the files of the package that Cython reads to compile it."""
    from Cython.Build.Dependencies import create_dependency_tree

    with contextlib.chdir(ROOT):
        tree = create_dependency_tree(quiet=True)
        return {
            module: sorted(
                Path(used).resolve().relative_to(PACKAGE).as_posix()
                for used in tree.all_dependencies(f"{PACKAGE.name}/{source}")
                if Path(used).resolve().is_relative_to(PACKAGE)
            )
            for module, source in _engine.core_modules(PACKAGE).items()
        }


def _compile(targets: dict[str, Path]) -> str:
    """Compile modules, each in a process of its own, and keep what succeeds.

    Returns:
        Which modules failed and the first one's cause; empty when all succeeded. What the
        compilers said is on stderr.
    """
    sys.stderr.write(f"simnet: compiling {len(targets)} core modules\n")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = dict(zip(targets, pool.map(_compile_apart, targets.items()), strict=True))
    for run in runs.values():
        sys.stderr.write(_shortened(run.stderr))
    failed = [module for module, run in runs.items() if run.returncode]
    if not failed:
        return ""
    cause = runs[failed[0]].stderr.strip().rpartition("\n")[2]
    return f"{', '.join(failed)}: {cause}"


def _shortened(text: str) -> str:
    """Return the first lines of what a compiler said: one mistake can make it say thousands."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= _MOST_LINES:
        return text
    return "".join([*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more lines\n"])


def _compile_apart(item: tuple[str, Path]) -> subprocess.CompletedProcess[str]:
    module, target = item
    command = [sys.executable, __file__, module, str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def compile_module(module: str, target: Path) -> None:
    """Compile one module. The working directory is the root, as tracebacks name files from it.

    Raises:
        BuildError: Cython or the C compiler refuses; they have said why on stderr.
    """
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError as CythonError
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import BaseError

    source = f"{module.replace('.', '/')}.py"
    flags = list(_engine.FLAGS) if os.name == "posix" else []
    with tempfile.TemporaryDirectory(prefix="simnet-build-") as scratch:
        try:
            extensions = cythonize(
                [Extension(module, [source], extra_compile_args=flags)],
                build_dir=f"{scratch}/c",
                compiler_directives=_engine.DIRECTIVES,
                force=True,
                quiet=True,
            )
            command = build_ext(Distribution({"ext_modules": extensions}))
            command.build_lib, command.build_temp = f"{scratch}/lib", f"{scratch}/o"
            command.ensure_finalized()
            command.run()
        except CythonError:
            message = f"Cython does not accept {source}"
            raise BuildError(message) from None
        except BaseError as error:
            raise BuildError(" ".join(str(error).split())) from None
        made = Path(scratch, "lib", *module.split(".")).with_suffix(_engine.EXTENSION_SUFFIX)
        _place(made, target)


def _place(source: Path, target: Path) -> None:
    """Copy a file so that nobody ever sees half of it."""
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


def main(arguments: list[str]) -> int:
    """Build in the checkout, say what was done, and return the exit status.

    With a module and a target as arguments, compile that one alone: how `build` calls itself.
    """
    try:
        if arguments:
            module, target = arguments
            compile_module(module, Path(target))
            return 0
        made = build(PACKAGE / "_compiled")
    except BuildError as error:
        prefix = "" if arguments else "simnet: the core is not compiled: "
        sys.stderr.write(f"{prefix}{error}\n")
        return 1
    total = len(_engine.core_modules(PACKAGE))
    sys.stdout.write(f"simnet: {made} of {total} core modules compiled, the rest up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
