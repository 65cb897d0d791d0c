"""The package itself: what it offers, and that it costs nothing until it is used."""

import sys

import pytest

import simnet
from tests.house.trees import ROOT, Tree, run

CHECKOUT = Tree(ROOT)


@pytest.mark.parametrize("name", simnet.__all__)
def test_every_public_name_exists_where_it_is_said_to_live(name: str) -> None:
    value = getattr(simnet, name)
    assert value.__name__ == name
    assert value.__doc__


def test_public_names_are_listed() -> None:
    assert set(simnet.__all__) <= set(dir(simnet))
    assert list(simnet.__all__) == sorted(simnet.__all__)
    assert set(simnet._HOMES) < set(simnet.__all__)


def test_nothing_below_the_package_lists_its_names() -> None:
    modules = (file for file in (ROOT / "simnet").rglob("*.py") if file.parent.name != "simnet")
    assert [file for file in modules if "\n__all__" in file.read_text(encoding="utf-8")] == []


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'simnet' has no attribute 'rnu'"):
        _ = simnet.rnu


def test_importing_the_package_imports_no_library() -> None:
    script = (
        "import sys; before = set(sys.modules); import simnet;"
        "print({name.split('.')[0] for name in set(sys.modules) - before}"
        " - set(sys.stdlib_module_names) - {'simnet'})"
    )
    done = CHECKOUT.python("-c", script, engine="interpreted")
    assert done.stdout.strip() == "set()", done.stderr


def test_package_runs_as_a_module() -> None:
    done = CHECKOUT.python("-m", "simnet", "--version", engine="interpreted")
    assert done.returncode == 0, done.stderr
    assert simnet.__version__ in done.stdout
    assert "\n" not in done.stdout.strip()
    command = run(
        *(sys.executable, "-m", "simnet", "no-such-command"), cwd=ROOT, SIMNET_ENGINE="interpreted"
    )
    assert command.returncode == 2
