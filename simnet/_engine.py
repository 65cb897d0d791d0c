"""Chooses between the compiled and the interpreted engine when simnet is imported.

A core module is one that imports `cython`. Those of a folder are compiled into one extension, their
room, which does not lie beside them but in ``simnet/_compiled``, under a name that carries a digest
of everything the machine code depends on (`simnet/_build/rooms.py` says what is in a room). The
finder installed here serves rooms and core modules from there if the sources are those that were
compiled, and otherwise none: an edited source never meets the machine code of an older one, and the
two engines never mix. A core module is then a list of names, each of something in its room.

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
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

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
    # Comments are a sixth of what the C compiler would have to read.
    "emit_code_comments": False,
}
"""Cython's directives for every room."""

FLAGS: tuple[str, ...] = (
    "-O2",
    "-fno-plt",
    "-ffp-contract=off",
    "-fwrapv",
    "-g0",
    "-w",  # warnings would be about Cython's C
    '-DCYTHON_SMALL_CODE=__attribute__((cold,optimize("O0")))',
)
"""Compiler flags. Contraction to fused multiply-add would make results depend on the machine."""

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

SHARED = f"{PACKAGE.name}._cyutility"
"""The extension that holds what Cython needs in every other one, such as memory views."""

MANIFEST_FORMAT = 3

FOLDERS = ("host", "kernel", "net", "storage", "workload")
"""Where core modules are."""

Engine = Literal["compiled", "interpreted"]

_active: Engine = "interpreted"


def active() -> Engine:
    """Return which engine this process runs."""
    return _active


def core_sources(package: Path = PACKAGE) -> dict[str, bytes]:
    """Return the text of each file in the core's folders, by its path in the package."""
    # One walk with paths as text: every start reads these files, and two with objects take twice
    # as long.
    files = [
        f"{place}/{name}"
        for folder in FOLDERS
        for place, _, names in os.walk(package / folder)
        for name in names
        if name.endswith((".py", ".h"))
    ]
    skipped = len(f"{package}/")
    return {file[skipped:]: Path(file).read_bytes() for file in files}


def counted(sources: Mapping[str, bytes], between: Iterable[str]) -> dict[str, bytes]:
    """Return the files that machine code depends on: modules that import `cython`, and headers.

    Args:
        sources: as `core_sources` has them.
        between: further modules, which lie between compiled ones: those import them.
    """
    more = set(between)
    return {
        file: text
        for file, text in sources.items()
        if b"\nimport cython\n" in text or file.endswith(".h") or file in more
    }


def digest(contents: Mapping[str, bytes], toolchain: Mapping[str, str]) -> str:
    """Return the digest of texts, each under its name, and of how they are compiled."""
    settings = [dict(toolchain), DIRECTIVES, FLAGS, EXTENSION_SUFFIX, SHARED]
    state = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for name, content in sorted(contents.items()):
        state.update(f"\0{name}\0{len(content)}\0".encode())
        state.update(content)
    return state.hexdigest()


def file_name(room: str, digest_: str) -> str:
    """Return the name of a room's compiled form."""
    return f"{room.rpartition('.')[2]}_{digest_}{EXTENSION_SUFFIX}"


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


def usable(package: Path, directory: Path) -> dict[str, Any]:
    """Return the record of the compiled core in a directory, which is whole and up to date.

    Raises:
        Unusable: a part is missing, stale or damaged.
    """
    manifest = read_manifest(directory)
    if manifest is None:
        raise Unusable("it has not been built for this Python")
    if manifest["failure"]:
        raise Unusable(f"it could not be built: {manifest['failure']}")
    try:
        sources = core_sources(package)
    except OSError as error:
        raise Unusable(f"it is out of date: {error.filename}: {error.strerror}") from None
    sources = counted(sources, manifest["between"])
    if digest(sources, manifest["toolchain"]) != manifest["sources"]:
        raise Unusable("it is out of date: a source was edited, added or removed since")
    for made in manifest["rooms"].values():
        file = directory / made["file"]
        if not file.is_file():
            raise Unusable(f"it is incomplete: {file} is missing")
        # The dynamic loader does not refuse a file that was cut short: it crashes.
        if file.stat().st_size != made["bytes"]:
            raise Unusable(f"it is damaged: {file} is not as long as it was made")
    return manifest


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
    """Serves rooms from their files, and core modules from their rooms."""

    def __init__(self, manifest: Mapping[str, Any], directory: Path) -> None:
        self.rooms = {
            room: str(directory / made["file"]) for room, made in manifest["rooms"].items()
        }
        self.modules: dict[str, dict[str, Any]] = manifest["modules"]

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """Implement ``importlib.abc.MetaPathFinder``."""
        del path, target
        if file := self.rooms.get(name):
            return spec_from_file_location(name, file, loader=ExtensionFileLoader(name, file))
        if made := self.modules.get(name):
            source = str(PACKAGE.parent / made["source"])
            loader: Any = _NamesOfRoom(made)
            return spec_from_file_location(name, source, loader=loader)
        return None


class _NamesOfRoom:
    """Makes a core module of what its room holds.

    Implements ``importlib.abc.Loader`` without importing it, which takes longer than simnet's own.
    """

    def __init__(self, made: Mapping[str, Any]) -> None:
        self.made = made

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave that to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Implement ``importlib.abc.Loader``."""
        fill(module, self.made)


def fill(module: ModuleType, made: Mapping[str, Any]) -> None:
    """Give a module the names that its record says its room has for it.

    Numbers are there at once; a room is loaded when something else is asked for. While it is being
    made, others may ask for what is not there yet, and will ask again.
    """
    called: dict[str, str] = made["names"]
    names = vars(module)
    names.update(made["numbers"])

    def missing(name: str) -> object:
        if name in called:
            there = vars(import_module(made["room"]))
            names.update(
                {each: there[room_s] for each, room_s in called.items() if room_s in there}
            )
            if name in names:
                return names[name]
        message = f"module {module.__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=module)

    names["__getattr__"] = missing


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
        directory = PACKAGE / COMPILED
        manifest = usable(PACKAGE, directory)
        check_loading(directory / made["file"] for made in manifest["rooms"].values())
    except Unusable as error:
        problem = str(error)
    else:
        sys.meta_path.insert(0, _CompiledFinder(manifest, directory))
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
