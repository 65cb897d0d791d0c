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


class BuildError(Exception):
    """The core cannot be compiled here; the text is the cause, on one line."""


def _load_engine() -> Any:
    spec = importlib.util.spec_from_file_location("_engine", ROOT / "simnet" / "_engine.py")
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
    package = ROOT / "simnet"
    directory.mkdir(parents=True, exist_ok=True)
    with _one_build_at_a_time():
        made: dict[str, Any] = {"failure": "", "toolchain": {}, "modules": {}}
        try:
            made["toolchain"] = toolchain()
            recorded = _engine.read_manifest(directory)
            if recorded and recorded["toolchain"] == made["toolchain"]:
                files, problem = _engine.compiled_files(package, directory)
                if not problem:
                    return 0
            made["modules"] = _dependencies(package)
            names = {
                module: _engine.file_name(
                    module, _engine.digest(package, sources, made["toolchain"])
                )
                for module, sources in made["modules"].items()
            }
            if cache is not None:
                _copy_existing(names.values(), cache, directory)
            missing = {
                module: directory / name
                for module, name in names.items()
                if not (directory / name).is_file()
            }
            if missing:
                _compile(missing)
        except BuildError as error:
            made["failure"] = str(error)
            _write_manifest(directory, made)
            raise
        _write_manifest(directory, made)
        _remove_others(directory, set(names.values()))
        return len(missing)


def record_failure(directory: Path, cause: str) -> None:
    """Write a manifest that says why there is no compiled core."""
    directory.mkdir(parents=True, exist_ok=True)
    _write_manifest(directory, {"failure": cause, "toolchain": {}, "modules": {}})


@contextlib.contextmanager
def _one_build_at_a_time() -> Iterator[None]:
    """Keep two builds in one checkout from removing each other's files."""
    try:
        import fcntl  # noqa: PLC0415 - POSIX only
    except ImportError:
        yield
        return
    # A directory can be locked without a lock file in it, even where nothing may be written.
    tree = os.open(ROOT / "simnet", os.O_RDONLY)
    try:
        fcntl.flock(tree, fcntl.LOCK_EX)
        yield
    finally:
        os.close(tree)


def _dependencies(package: Path) -> dict[str, list[str]]:
    """Return, for each core module, the files of the package that Cython reads to compile it."""
    from Cython.Build.Dependencies import create_dependency_tree  # noqa: PLC0415

    with contextlib.chdir(ROOT):
        tree = create_dependency_tree(quiet=True)
        return {
            module: sorted(
                Path(used).resolve().relative_to(package).as_posix()
                for used in tree.all_dependencies(f"{package.name}/{source}")
                if Path(used).resolve().is_relative_to(package)
            )
            for module, source in _engine.core_modules(package).items()
        }


def _compile(targets: dict[str, Path]) -> None:
    """Compile modules, each in a process of its own, and keep what succeeds.

    Raises:
        BuildError: names the modules that failed; what their compilers said is on stderr.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = dict(zip(targets, pool.map(_compile_apart, targets.items()), strict=True))
    for run in runs.values():
        sys.stderr.write(run.stderr)
    if failed := [module for module, run in runs.items() if run.returncode]:
        cause = runs[failed[0]].stderr.strip().rpartition("\n")[2]
        message = f"{', '.join(failed)}: {cause}"
        raise BuildError(message)


def _compile_apart(item: tuple[str, Path]) -> subprocess.CompletedProcess[str]:
    module, target = item
    command = [sys.executable, __file__, module, str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def compile_module(module: str, target: Path) -> None:
    """Compile one module. The working directory is the root, as tracebacks name files from it.

    Raises:
        BuildError: Cython or the C compiler refuses; they have said why on stderr.
    """
    from Cython.Build import cythonize  # noqa: PLC0415
    from Cython.Compiler.Errors import CompileError as CythonError  # noqa: PLC0415
    from setuptools import Distribution, Extension  # noqa: PLC0415
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415
    from setuptools.errors import BaseError  # noqa: PLC0415

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


def _copy_existing(names: Any, source: Path, target: Path) -> None:
    for name in names:
        if (source / name).is_file() and not (target / name).is_file():
            _place(source / name, target / name)


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
        made = build(ROOT / "simnet" / "_compiled")
    except BuildError as error:
        prefix = "" if arguments else "simnet: the core is not compiled: "
        sys.stderr.write(f"{prefix}{error}\n")
        return 1
    total = len(_engine.core_modules(ROOT / "simnet"))
    sys.stdout.write(f"simnet: {made} of {total} core modules compiled, the rest up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
