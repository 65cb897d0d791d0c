"""Compiles the core modules with Cython, each to a file named by what it was made from.

Nothing here imports simnet: it must work before anything is installed, and while the
sources are broken.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.process import BaseProcess
    from typing import Self

    from simnet import _engine
    from simnet._build import translation

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "simnet"

_MOST_LINES = 40
_WORTH_A_REHEARSAL = 16
"""Modules of which each takes a twentieth of a second less after a first translation."""


class BuildError(Exception):
    """The core cannot be compiled here; the text is the cause, on one line."""


def _load(file: str) -> Any:
    path = PACKAGE / file
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        message = f"simnet/{file} is missing"
        raise BuildError(message)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    _engine = _load("_engine.py")
    translation = _load("_build/translation.py")

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
    """Bring the compiled core in a directory up to date and return how many modules it compiled.

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
        failure = _compile(missing, sources) if missing else ""
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
        return len(missing.keys() - {_engine.SHARED})


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
    """Return, for each module to compile, the files of the package that Cython reads for it."""
    from Cython.Build.Dependencies import create_dependency_tree

    with contextlib.chdir(ROOT):
        tree = create_dependency_tree(quiet=True)
        used = {
            module: sorted(
                Path(used).resolve().relative_to(PACKAGE).as_posix()
                for used in tree.all_dependencies(f"{PACKAGE.name}/{source}")
                if Path(used).resolve().is_relative_to(PACKAGE)
            )
            for module, source in _engine.core_modules(PACKAGE).items()
        }
    return {_engine.SHARED: [], **used}


def _compile(targets: dict[str, Path], sources: dict[str, list[str]]) -> str:
    """Compile modules, each in a process of its own, and keep what succeeds.

    Returns:
        Which modules failed and the first one's cause; empty when all succeeded. What the
        compilers said is on stderr.
    """
    sys.stderr.write(f"simnet: compiling {len(targets)} modules\n")
    with tempfile.TemporaryDirectory(prefix="simnet-build-") as scratch, contextlib.chdir(ROOT):
        with _Forks(scratch) as forks:
            # What they share takes longest, and includes nothing.
            if _engine.SHARED in targets:
                forks.start(_engine.SHARED, targets[_engine.SHARED], None)
            others = sorted(targets.keys() - {_engine.SHARED}, key=_length, reverse=True)
            if len(others) >= _WORTH_A_REHEARSAL:
                # What Cython itself reads and computes at its first translation is then there.
                translation.rehearse(others[0], _source(others[0]), scratch, _engine)
            declarations = translation.Declarations(
                {module: sources[module] for module in others}, _engine
            )
            for module in others:
                forks.start(module, targets[module], declarations)
        causes = forks.causes
    failed = [module for module in targets if module in causes]
    return f"{', '.join(failed)}: {causes[failed[0]]}" if failed else ""


class _Forks:
    """Processes that each compile a module, as many at a time as there are processors.

    Args:
        scratch: a directory for what they say.

    Attributes:
        causes: why a module failed, for those that did.
    """

    def __init__(self, scratch: str) -> None:
        self.causes: dict[str, str] = {}
        self._scratch = Path(scratch)
        self._processes: dict[object, BaseProcess] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        while self._processes:
            self._wait()

    def start(
        self, module: str, target: Path, declarations: translation.Declarations | None
    ) -> None:
        """Start another process, as soon as a processor is free."""
        if len(self._processes) >= _processors():
            self._wait()
        process = get_context("fork").Process(
            target=_compile_apart,
            args=(module, target, declarations, self._said(module)),
            name=module,
        )
        process.start()
        self._processes[process.sentinel] = process

    def _said(self, module: str) -> Path:
        return self._scratch / f"{module}.txt"

    def _wait(self) -> None:
        for sentinel in wait([process.sentinel for process in self._processes.values()]):
            process = self._processes.pop(sentinel)
            process.join()
            file = self._said(process.name)
            said = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            sys.stderr.write(_shortened(said))
            if process.exitcode:
                cause = said.strip().rpartition("\n")[2]
                self.causes[process.name] = cause or f"exit status {process.exitcode}"


def _compile_apart(
    module: str, target: Path, declarations: translation.Declarations | None, said: Path
) -> None:
    # The process ends before its garbage is worth a look.
    gc.disable()
    file = os.open(said, os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        compile_module(module, target, declarations)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


def _processors() -> int:
    return os.cpu_count() or 1


def _length(module: str) -> int:
    return (ROOT / _source(module)).stat().st_size


def _source(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _shortened(text: str) -> str:
    """Return the first lines of what a compiler said: one mistake can make it say thousands."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= _MOST_LINES:
        return text
    return "".join([*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more lines\n"])


def compile_module(
    module: str, target: Path, declarations: translation.Declarations | None = None
) -> None:
    """Compile one module. The working directory is the root, as tracebacks name files from it.

    Raises:
        BuildError: Cython or the C compiler refuses; they have said why on stderr.
    """
    from Cython.Compiler.Errors import CompileError as CythonError
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import BaseError

    with tempfile.TemporaryDirectory(prefix="simnet-build-") as scratch:
        try:
            extension = translation.translate(
                module, _source(module), f"{scratch}/c", _engine, declarations
            )
            extension.extra_compile_args = list(_engine.FLAGS) if os.name == "posix" else []
            command = build_ext(Distribution({"ext_modules": [extension]}))
            command.build_lib, command.build_temp = f"{scratch}/lib", f"{scratch}/o"
            command.ensure_finalized()
            command.run()
        except CythonError:
            message = f"Cython does not accept {_source(module)}"
            raise BuildError(message) from None
        except BaseError as error:
            raise BuildError(" ".join(str(error).split())) from None
        made = Path(scratch, "lib", *module.split(".")).with_suffix(_engine.EXTENSION_SUFFIX)
        _place(made, target)


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


def main(module: str = "", target: str = "") -> int:
    """Build in the checkout, say what was done, and return the exit status.

    ``SIMNET_ENGINE=checked`` builds the form that checks itself, beside the other.

    Args:
        module: one that is no part of the core, such as a benchmark's, to compile alone.
        target: the file for it.
    """
    try:
        if module:
            with contextlib.chdir(ROOT):
                compile_module(module, Path(target))
            return 0
        made = build(PACKAGE / COMPILED)
    except BuildError as error:
        sys.stderr.write(f"simnet: the core is not compiled: {error}\n")
        return 1
    total = len(_engine.core_modules(PACKAGE))
    sys.stdout.write(f"simnet: {made} of {total} core modules compiled, the rest up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
