"""Every way to install: what is inside, which engine runs, and whether the data is found.

Most of it is tried on a miniature with the real build, as what differs between installations
does not depend on how many modules there are.
"""

import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from simnet import _engine
from tests.house.trees import ROOT, Tree, run

pytestmark = pytest.mark.packaging


@dataclass(frozen=True)
class Environment:
    """An environment with the dependencies of this one, and no simnet until it is installed."""

    root: Path

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    @property
    def installed(self) -> Path:
        """The package as a wheel installs it."""
        return next(self.root.glob("lib/python*/site-packages")) / "simnet"

    def install(self, *what: str, cwd: Path, **variables: str) -> str:
        """Install without network; return what was said, with the exit status if it failed."""
        # --ignore-installed: the outer environment's simnet is visible, and not to be touched.
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed"]
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", *options]
        done = run(*pip, *what, cwd=cwd, **variables)
        said = done.stdout + done.stderr
        return f"exit status {done.returncode}\n{said}" if done.returncode else said

    def facts(self, **variables: str) -> tuple[dict[str, object], str]:
        """Run the command and return what it prints, and stderr."""
        done = run(str(self.root / "bin" / "simnet"), cwd=self.root, **variables)
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer, done.stderr


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    made = run(sys.executable, "-m", "venv", "--without-pip", "environment", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    environment = Environment(tmp_path / "environment")
    outer = next(path for path in sys.path if path.endswith("site-packages"))
    site = environment.installed.parent
    (site / "dependencies.pth").write_text(f"{outer}\n", encoding="utf-8")
    return environment


@pytest.fixture(scope="session")
def distributions(built_miniature: Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, and the wheel that was made from it."""
    tree = built_miniature.copy(tmp_path_factory.mktemp("distributions") / "tree")
    before = contents(tree.root)
    target = tree.root.with_name("dist")
    done = run(
        *(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target)),
        cwd=tree.root,
        SIMNET_BUILD="require",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert contents(tree.root) == before, "a build writes nothing into the source tree"
    return target


def contents(root: Path) -> set[str]:
    return {
        file.relative_to(root).as_posix()
        for file in root.rglob("*")
        if "__pycache__" not in file.parts
    }


def wheel_names(directory: Path) -> set[str]:
    with zipfile.ZipFile(next(directory.glob("*.whl"))) as wheel:
        return set(wheel.namelist())


def append_a_comment(file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")


@pytest.mark.nightly
def test_wheel_from_source_distribution_holds_the_package_alone(distributions: Path) -> None:
    names = wheel_names(distributions)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"simnet", "simnet_hostpath"}
    assert {name for name in names if "/_share/" in name} == {
        "simnet/_share/models/nic/tiny.toml",
        "simnet/_share/scenarios/tiny.toml",
        "simnet/_share/validation/measurements/tiny.csv",
    }
    assert not [name for name in names if "/_build/" in name]
    assert len([name for name in names if name.endswith(".so")]) == 3
    assert {"simnet/py.typed", "simnet/kernel/base.py"} <= names
    assert not next(distributions.glob("*.whl")).name.endswith("none-any.whl")


@pytest.mark.nightly
def test_wheel_has_no_common_mistake(distributions: Path) -> None:
    wheel = next(distributions.glob("*.whl"))
    done = run(sys.executable, "-m", "check_wheel_contents", str(wheel), cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith(": OK")


@pytest.mark.nightly
def test_normal_install_is_compiled_and_finds_its_data(
    distributions: Path, environment: Environment
) -> None:
    said = environment.install(str(next(distributions.glob("*.whl"))), cwd=environment.root)
    facts, stderr = environment.facts(SIMNET_ENGINE="compiled")
    assert facts["compiled"] is True, said
    assert facts["result"] == 6
    assert facts["package"] == str(environment.installed)
    for folder in ("models", "scenarios", "validation"):
        assert facts[folder] == str(environment.installed / "_share" / folder)
    assert stderr == ""


@pytest.mark.nightly
def test_edited_normal_install_runs_no_stale_module(
    distributions: Path, environment: Environment
) -> None:
    environment.install(str(next(distributions.glob("*.whl"))), cwd=environment.root)
    append_a_comment(environment.installed / "kernel" / "base.py")
    facts, stderr = environment.facts()
    assert facts["active"] == "interpreted"
    assert stderr.count("runs interpreted") == 1
    assert "build it with" not in stderr, "an installed package cannot be built where it is"


def test_editable_install_follows_the_checkout(miniature: Tree, environment: Environment) -> None:
    said = environment.install("--editable", str(miniature.root), cwd=environment.root)
    facts, stderr = environment.facts()
    assert (facts["active"], stderr) == ("compiled", ""), said + stderr
    assert facts["package"] == str(miniature.package)
    for folder in ("models", "scenarios", "validation"):
        assert facts[folder] == str(miniature.root / folder)
    base = miniature.package / "kernel" / "base.py"
    text = base.read_text(encoding="utf-8")
    base.write_text(text.replace("+= amount", "+= 2 * amount"), encoding="utf-8")
    facts, stderr = environment.facts()
    assert (facts["active"], facts["result"]) == ("interpreted", 12)
    assert stderr.count("runs interpreted") == 1


def test_install_without_compiler_is_interpreted_and_says_why_once(
    miniature: Tree, environment: Environment
) -> None:
    # Nothing on the path but the environment itself.
    said = environment.install(
        str(miniature.root), cwd=environment.root, PATH=str(environment.root / "bin"), CC=""
    )
    facts, stderr = environment.facts()
    assert facts["compiled"] is False, said
    assert facts["result"] == 6
    assert facts["models"] == str(environment.installed / "_share" / "models")
    assert stderr.count("runs interpreted") == 1
    assert "no C compiler: " in stderr
    assert environment.facts(SIMNET_ENGINE="interpreted")[1] == ""


def test_required_core_fails_the_install_with_the_cause(
    miniature: Tree, environment: Environment
) -> None:
    said = environment.install(
        str(miniature.root), cwd=environment.root, CC="/nonexistent/cc", SIMNET_BUILD="require"
    )
    assert said.startswith("exit status 1")
    assert "SIMNET_BUILD=require, but the core cannot be compiled: no C compiler: /non" in said


@pytest.mark.nightly
def test_build_that_was_skipped_is_the_cause_that_is_given(
    miniature: Tree, environment: Environment
) -> None:
    environment.install(str(miniature.root), cwd=environment.root, SIMNET_BUILD="skip")
    facts, stderr = environment.facts()
    assert facts["compiled"] is False
    assert "SIMNET_BUILD=skip" in stderr


@pytest.mark.nightly
def test_unknown_way_to_build_is_an_error(miniature: Tree, environment: Environment) -> None:
    said = environment.install(str(miniature.root), cwd=environment.root, SIMNET_BUILD="maybe")
    assert "SIMNET_BUILD: expected auto, require or skip, not 'maybe'" in said


@pytest.mark.nightly
def test_whole_simnet_installs_with_its_core_and_data(environment: Environment) -> None:
    # The checkout's own compiled files are taken over: nothing is compiled here.
    mode = "require" if _engine.active() == "compiled" else "skip"
    said = environment.install(str(ROOT), cwd=environment.root, SIMNET_BUILD=mode)
    listed = run(str(environment.root / "bin" / "simnet"), "list", cwd=environment.root)
    assert listed.returncode == 0, said + listed.stderr
    assert "x460-out-of-box" in listed.stdout
    share = environment.installed / "_share"
    for folder in ("models", "scenarios", "validation"):
        data = {name for name in contents(ROOT / folder) if not name.endswith((".py", ".ipynb"))}
        assert contents(share / folder) == data
    script = "import importlib, json, sys; from simnet import _engine as e\n"
    script += "names = ['simnet.kernel.queue.EventQueue', 'simnet.net.tcp.socket.TcpSocket']\n"
    script += "parts = [name.rpartition('.') for name in names]\n"
    script += "owners = [getattr(importlib.import_module(m), c).__module__ for m, _, c in parts]\n"
    script += "found = {owner: sys.modules[owner].__file__ for owner in owners}\n"
    script += "print(json.dumps([e.active(), found]))"
    done = run(environment.python, "-c", script, cwd=environment.root)
    assert done.returncode == 0, done.stderr
    active, files = json.loads(done.stdout)
    assert active == _engine.active()
    suffix = {"compiled": ".so", "interpreted": ".py"}[active]
    assert files
    assert all(file.startswith(str(environment.installed)) for file in files.values())
    assert all(file.endswith(suffix) for file in files.values())
