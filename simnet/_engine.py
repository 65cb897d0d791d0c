"""Chooses between the compiled and the interpreted engine when simnet is imported.

A core module is one with a ``.pxd`` beside its ``.py``. Its compiled form does not lie beside
it but in ``simnet/_compiled``, under a name that carries a digest of everything the machine code
depends on. The finder installed here serves all core modules from there if every digest
matches the sources as they are now, and otherwise none: an edited source never meets the
machine code of an older one, and the two engines never mix.

Only the standard library is used, and nothing of simnet before it is needed: the build loads
this file by its path.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import sysconfig
import warnings
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["active", "install"]

PACKAGE = Path(__file__).resolve().parent

EXTENSION_SUFFIX: str = sysconfig.get_config_var("EXT_SUFFIX") or ".so"

DIRECTIVES: dict[str, bool | int] = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "nonecheck": True,
}
"""Cython's directives for every core module."""

FLAGS: tuple[str, ...] = ("-O3", "-ffp-contract=off", "-fwrapv", "-g0")
"""Compiler flags. Contraction to fused multiply-add would make results depend on the machine."""

_UNSEARCHED = frozenset({"__pycache__", "_build", "_compiled", "_share"})

Engine = Literal["compiled", "interpreted"]

_active: Engine = "interpreted"


def active() -> Engine:
    """Return which engine this process runs."""
    return _active


def core_modules(package: Path = PACKAGE) -> dict[str, str]:
    """Return the core modules: dotted name to source file, relative to the package.

    A package's ``__init__`` is never one, whatever lies beside it.
    """
    found: dict[str, str] = {}
    for directory, folders, files in os.walk(package):
        folders[:] = sorted(set(folders) - _UNSEARCHED)
        names = set(files)
        for file in sorted(names):
            stem, extension = os.path.splitext(file)
            if extension == ".pxd" and stem != "__init__" and f"{stem}.py" in names:
                source = Path(directory, f"{stem}.py").relative_to(package)
                found[".".join((package.name, *source.with_suffix("").parts))] = source.as_posix()
    return found


def digest(package: Path, sources: Iterable[str], toolchain: Mapping[str, str]) -> str:
    """Return the digest of source files (relative to the package) and of how they are compiled."""
    settings = [dict(toolchain), DIRECTIVES, FLAGS, EXTENSION_SUFFIX]
    state = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for source in sorted(sources):
        content = (package / source).read_bytes()
        state.update(f"\0{source}\0{len(content)}\0".encode())
        state.update(content)
    return state.hexdigest()


def file_name(module: str, digest_: str) -> str:
    """Return the name of a module's compiled form."""
    return f"{module.replace('.', '_')}_{digest_}{EXTENSION_SUFFIX}"


def manifest_path(directory: Path) -> Path:
    """Return where the build for this interpreter records what it made, or why it could not."""
    return directory / f"manifest{EXTENSION_SUFFIX.rpartition('.')[0]}.json"


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """Return the record of the last build, or None if there is none that can be read."""
    try:
        manifest = json.loads(manifest_path(directory).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) else None


def compiled_files(package: Path, directory: Path) -> tuple[dict[str, Path], str]:
    """Return the compiled core modules and an empty text, or none and why they cannot be used."""
    manifest = read_manifest(directory)
    if manifest is None:
        return {}, "it has not been built for this Python"
    if manifest["failure"]:
        return {}, f"it could not be built: {manifest['failure']}"
    modules = core_modules(package)
    recorded: dict[str, list[str]] = manifest["modules"]
    if changed := sorted(modules.keys() ^ recorded.keys()):
        return {}, f"it is out of date: {changed[0]} was added or removed since"
    files: dict[str, Path] = {}
    for module, sources in recorded.items():
        try:
            current = digest(package, sources, manifest["toolchain"])
        except OSError as error:
            return {}, f"it is out of date: {error.filename}: {error.strerror}"
        files[module] = directory / file_name(module, current)
        if not files[module].is_file():
            return {}, f"it is out of date: {module} or what it includes was edited since"
    return files, ""


def _load_problem(files: Iterable[Path]) -> str:
    """Return why the dynamic loader refuses one of the files; empty when it takes them all.

    Asked before the first import, because it is too late to fall back after it.
    """
    import ctypes  # noqa: PLC0415 - slow to import, and not needed by the interpreted engine

    for file in files:
        try:
            ctypes.PyDLL(str(file))
        except OSError as error:
            return f"it does not load: {error}"
    return ""


class _CompiledFinder:
    """Serves the core modules from their compiled files."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self.files = files

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """Implement ``importlib.abc.MetaPathFinder``."""
        del path, target
        file = self.files.get(name)
        if file is None:
            return None
        return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, str(file)))


def install() -> None:
    """Choose the engine as ``SIMNET_ENGINE`` asks: auto (default), compiled or interpreted.

    Raises:
        EngineError: the variable has another value, or asks for a compiled engine that is
            absent, stale or broken.

    Warns:
        EngineWarning: the default was asked for and the compiled engine cannot be used.
    """
    from simnet.errors import EngineError, EngineWarning  # noqa: PLC0415 - see the module

    global _active  # noqa: PLW0603 - which engine runs is a fact about the process
    wanted = os.environ.get("SIMNET_ENGINE") or "auto"
    if wanted == "interpreted":
        return
    if wanted not in ("auto", "compiled"):
        message = f"SIMNET_ENGINE: expected auto, compiled or interpreted, not {wanted!r}"
        raise EngineError(message)
    files, problem = compiled_files(PACKAGE, PACKAGE / "_compiled")
    problem = problem or _load_problem(files.values())
    if not problem:
        sys.meta_path.insert(0, _CompiledFinder(files))
        _active = "compiled"
        return
    if (PACKAGE / "_build").is_dir():
        problem = f"{problem}; build it with: {Path(sys.executable).name} {PACKAGE / '_build'}"
    if wanted == "compiled":
        message = f"SIMNET_ENGINE=compiled, but the compiled engine cannot be used: {problem}"
        raise EngineError(message)
    message = (
        "simnet runs interpreted, about 50 times slower, because the compiled engine"
        f" cannot be used: {problem}"
    )
    warnings.warn(message, EngineWarning, stacklevel=3)
