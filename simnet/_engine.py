"""Chooses between the compiled and the interpreted engine when simnet is imported.

A core module is one with a ``.pxd`` beside its ``.py``. Its compiled form does not lie beside
it but in ``simnet/_compiled``, under a name that carries a digest of everything the machine code
depends on. The finder installed here serves all core modules from there if every digest
matches the sources as they are now, and otherwise none: an edited source never meets the
machine code of an older one, and the two engines never mix.

With ``SIMNET_ENGINE=checked`` both the build and the import deal with another compiled form, in
``simnet/_checked``: bounds, None, overflow and division are looked at before every use, so that a
fuzzer meets an exception or a trap where the fast form would read a stranger's memory.

Only the standard library is used, and nothing of simnet before it is needed: the build loads
this file by its path.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["active", "install"]

PACKAGE = Path(__file__).resolve().parent

EXTENSION_SUFFIX = EXTENSION_SUFFIXES[0]

CHECKED = os.environ.get("SIMNET_ENGINE") == "checked"
"""Whether this process builds or runs the compiled form that checks itself."""

COMPILED = "_checked" if CHECKED else "_compiled"
"""The folder of the package with that compiled form: the two never rebuild each other."""

DIRECTIVES: dict[str, bool | int] = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    # Looking for None before every attribute would take a tenth of the time: what an object needs
    # it gets in its constructor or when it is wired up. Interpreted, the gap is named.
    "nonecheck": False,
    # Components belong to a simulation and never travel; without it a fifth less to compile.
    "auto_pickle": False,
}
"""Cython's directives for every core module."""

FLAGS: tuple[str, ...] = ("-O3", "-fno-plt", "-ffp-contract=off", "-fwrapv", "-g0")
"""Compiler flags. Contraction to fused multiply-add would make results depend on the machine."""

SMALL_CODE = """\
#if defined(__GNUC__) && !defined(__clang__)
#define CYTHON_SMALL_CODE __attribute__((cold, optimize("O0")))
#endif
"""
"""What Cython's mark of a function that need not be fast means to gcc; others have Cython's own."""

FOR_PYTHON = "__pyx_(?:p[wf]|[gs]etprop|specialmethod)"
"""How names of C functions begin that get that mark: compiled code calls past them.

Not among them are those that make and free objects, and Cython's helpers: simulations call these.
"""

CALLED_FOR_EACH_EVENT = ("simnet.kernel.", "simnet.net.link.skb")
"""Modules whose wrappers and properties simulations do call: processes do, and packets."""

if CHECKED:
    DIRECTIVES |= {
        "boundscheck": True,
        "cdivision": False,
        "initializedcheck": True,
        "nonecheck": True,
        "overflowcheck": True,
    }
    # What Cython does not look at: C arrays, shifts by too much, floats too large for an integer.
    FLAGS += (
        "-fsanitize=bounds,shift-exponent,float-cast-overflow",
        "-fsanitize-undefined-trap-on-error",
    )

SHARED = "simnet._cyutility"
"""The module without source that holds the C functions of Cython that core modules share."""

MANIFEST_FORMAT = 1

_UNSEARCHED = frozenset({"__pycache__", "_build", "_checked", "_compiled", "_share"})

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
            stem, _, extension = file.rpartition(".")
            if extension == "pxd" and stem != "__init__" and f"{stem}.py" in names:
                source = Path(directory, f"{stem}.py").relative_to(package)
                found[".".join((package.name, *source.with_suffix("").parts))] = source.as_posix()
    return found


def digest(
    package: Path,
    sources: Iterable[str],
    toolchain: Mapping[str, str],
    contents: dict[str, bytes] | None = None,
) -> str:
    """Return the digest of source files (relative to the package) and of how they are compiled.

    `contents` holds what was read before, and gets what is read now: modules share most sources.
    """
    contents = {} if contents is None else contents
    marks = [SMALL_CODE, FOR_PYTHON, CALLED_FOR_EACH_EVENT]
    settings = [dict(toolchain), DIRECTIVES, FLAGS, marks, EXTENSION_SUFFIX, SHARED]
    state = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for source in sorted(sources):
        content = contents.get(source)
        if content is None:
            content = contents[source] = (package / source).read_bytes()
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
    if isinstance(manifest, dict) and manifest.get("format") == MANIFEST_FORMAT:
        return manifest
    return None


class Unusable(Exception):  # noqa: N818 - a state to report, not an error to raise to users
    """The compiled core cannot be used; the text says why."""


def compiled_files(package: Path, directory: Path) -> dict[str, Path]:
    """Return the compiled core modules, all of them, and what they share.

    Raises:
        Unusable: one is missing, stale or damaged.
    """
    manifest = read_manifest(directory)
    if manifest is None:
        raise Unusable("it has not been built for this Python")
    if manifest["failure"]:
        raise Unusable(f"it could not be built: {manifest['failure']}")
    recorded: dict[str, dict[str, Any]] = manifest["modules"]
    if changed := sorted({*core_modules(package), SHARED} ^ recorded.keys()):
        raise Unusable(f"it is out of date: {changed[0]} was added or removed since")
    files: dict[str, Path] = {}
    contents: dict[str, bytes] = {}
    for module, made in recorded.items():
        try:
            current = digest(package, made["sources"], manifest["toolchain"], contents)
        except OSError as error:
            raise Unusable(f"it is out of date: {error.filename}: {error.strerror}") from None
        file = directory / file_name(module, current)
        if not file.is_file():
            raise Unusable(f"it is out of date: {module} or what it includes was edited since")
        # The dynamic loader does not refuse a file that was cut short: it crashes.
        if file.stat().st_size != made["bytes"]:
            raise Unusable(f"it is damaged: {file} is not as long as it was made")
        files[module] = file
    return files


def check_loading(files: Iterable[Path]) -> None:
    """Ask the dynamic loader for the files before the first import: later it is too late.

    Raises:
        Unusable: it refuses one.
    """
    import ctypes

    for file in files:
        try:
            ctypes.PyDLL(str(file))
        except OSError as error:
            raise Unusable(f"it does not load: {error}") from None


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
    """Choose the engine as ``SIMNET_ENGINE`` asks.

    It is auto (default), compiled, interpreted, or checked, which is a compiled one, too.

    Raises:
        EngineError: the variable has another value, or asks for a compiled engine that is
            absent, stale or broken. The command ends with its text and status 2 instead.

    Warns:
        EngineWarning: the default was asked for and the compiled engine cannot be used.
    """
    from simnet.errors import EngineError, EngineWarning

    wanted = os.environ.get("SIMNET_ENGINE") or "auto"
    try:
        problem = _install(wanted)
    except EngineError as error:
        if not _is_command():
            raise
        sys.stderr.write(f"simnet: {error}\n")
        raise SystemExit(2) from None
    if problem:
        message = (
            "simnet runs interpreted, about 50 times slower, because the compiled engine"
            f" cannot be used: {problem}"
        )
        if _is_command():
            sys.stderr.write(f"simnet: {message.removeprefix('simnet ')}\n")
        else:
            warnings.warn(message, EngineWarning, stacklevel=3)


def _install(wanted: str) -> str:
    """Install the finder if it is wanted and can be used; return why not if it is only wanted."""
    from simnet.errors import EngineError

    global _active  # noqa: PLW0603 - which engine runs is a fact about the process
    if wanted == "interpreted":
        return ""
    if wanted not in ("auto", "checked", "compiled"):
        message = f"SIMNET_ENGINE: expected auto, checked, compiled or interpreted, not {wanted!r}"
        raise EngineError(message)
    try:
        files = compiled_files(PACKAGE, PACKAGE / COMPILED)
        check_loading(files.values())
    except Unusable as error:
        problem = str(error)
    else:
        sys.meta_path.insert(0, _CompiledFinder(files))
        _active = "compiled"
        return ""
    if (PACKAGE / "_build").is_dir():
        build = f"{sys.executable} {PACKAGE / '_build'}"
        problem = f"{problem}; build it with: {'SIMNET_ENGINE=checked ' * CHECKED}{build}"
    if wanted != "auto":
        message = f"SIMNET_ENGINE={wanted}, but the compiled engine cannot be used: {problem}"
        raise EngineError(message)
    return problem


def _is_command() -> bool:
    """Return whether simnet is being imported by its own command or by ``python -m simnet``."""
    return Path(sys.argv[0]).stem == "simnet" or sys.argv[0] == "-m"
