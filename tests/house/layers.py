"""Which module of simnet may import which: the floors of the house, read from the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.trees import ROOT

# A floor imports only from itself and from floors below it.
FLOORS = (
    "kernel",
    "host",
    "net",
    "storage",
    "workload",
    "scenario",
    "importing",
    "study",
    "diagnose",
    "report",
    "page",
    "cli",
    "documents",
)
# Stands on the roof: the public API, and what runs the command.
ROOF = ("", "__main__")
# Anything may import the files beside the floors; they import nothing but each other.
BASE = frozenset(file.stem for file in (ROOT / "simnet").glob("*.py")) - {"__init__", *ROOF}
# The machinery of scenarios, which no subject is named in: they announce themselves.
MACHINERY = ("simnet.scenario.core.", "simnet.scenario.commands.")
SUBJECTS = "simnet.scenario.parts."


def part_of(module: str) -> str:
    """Return the floor or helper that a module of simnet belongs to; empty for the package."""
    return (*module.split("."), "")[1]


def allowed(importer: str, imported: str) -> bool:
    """Return whether one module of simnet may import another. Unknown parts never may."""
    above, below = part_of(importer), part_of(imported)
    if above in ROOF:
        return True
    if below in BASE:
        return above in BASE or above in FLOORS
    if above not in FLOORS or below not in FLOORS:
        return False
    if importer.startswith(MACHINERY) and imported.startswith(SUBJECTS):
        return False
    return FLOORS.index(below) <= FLOORS.index(above)


def imports_of_python(source: str, module: str, *, is_package: bool = False) -> set[str]:
    """Return the modules of simnet that a Python source imports, wherever in it.

    Under ``if TYPE_CHECKING`` or ``if cython.compiled`` and inside functions too. What is taken
    from the package itself, as ``from simnet import X`` or ``simnet.X``, counts as its part X.
    """
    found: set[str] = set()
    here = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name != "simnet")
            if any(alias.asname and alias.name == "simnet" for alias in node.names):
                found.add("simnet")
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "simnet"
        ):
            found.update(_from("simnet", [node.attr]))
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(here[: len(here) + 1 - node.level]) if node.level else ""
            origin = ".".join(part for part in (start, node.module or "") if part)
            found.update(_from(origin, [alias.name for alias in node.names]))
    return _of_simnet(found)


def _from(origin: str, names: list[str]) -> Iterator[str]:
    if origin.removeprefix("cython.cimports.") == "simnet":
        yield from (f"{origin}.{name}" for name in names if not _own(name))
    else:
        yield origin


def _own(name: str) -> bool:
    """Return whether a name, such as ``__version__``, is the package's own and not a floor's."""
    return name.startswith("__") and name != "__main__"


def _of_simnet(names: set[str]) -> set[str]:
    plain = {name.removeprefix("cython.cimports.") for name in names}
    return {name for name in plain if name.split(".")[0] == "simnet"}


def violations(package: Path) -> list[str]:
    """Return, for a package directory, each import that goes upward, as one line of text."""
    found = []
    for file in sorted(package.rglob("*.py")):
        relative = file.relative_to(package.parent)
        if {"_build", "_checked", "_compiled", "_share"} & set(relative.parts):
            continue
        is_package = file.stem == "__init__"
        module = ".".join(relative.parent.parts if is_package else relative.with_suffix("").parts)
        source = file.read_text(encoding="utf-8")
        imported = imports_of_python(source, module, is_package=is_package)
        found += [
            f"{relative.as_posix()} imports {name}"
            for name in sorted(imported)
            if not allowed(module, name)
        ]
    return found
