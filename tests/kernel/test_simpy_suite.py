"""SimPy's own tests, from its source distribution, pass on simnet's environment."""

import os
import subprocess
import sys
import tarfile
import tempfile
from importlib import metadata
from pathlib import Path

import pytest

from simnet import _engine

pytestmark = pytest.mark.slow

PLUGINS = Path(__file__).parent / "simpy_suite"
ROOT = Path(__file__).parents[2]
TESTS_AT_LEAST = 139


def _download(requirement: str, folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", requirement]
    command += ["--no-binary", ":all:", "--dest", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"SimPy's tests could not be downloaded: {done.stderr.strip()}"
        # Only a machine that is known to have the network may not do without.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(message)


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the source distribution of the SimPy that is installed, downloaded once."""
    name = f"simpy-{metadata.version('simpy')}"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    archive = caches / "simnet-tests" / f"{name}.tar.gz"
    if not archive.is_file():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as fresh:
            _download(name.replace("-", "=="), fresh)
            # In one step, since another test run may be doing the same.
            Path(fresh, archive.name).replace(archive)
    folder = tmp_path_factory.mktemp("simpy")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / name


def test_simpys_own_tests_pass(suite: Path) -> None:
    environ = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(PLUGINS), str(ROOT)]),
        "SIMNET_ENGINE": _engine.active(),
    }
    environ.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [
            *[sys.executable, "-P", "-m", "pytest", "-c", os.devnull, "--rootdir", str(suite)],
            *["-p", "no:cacheprovider", "-p", "simnet_for_simpy"],
            *["-q", "-ra", "-W", "error", "tests"],
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=suite,
        env=environ,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.rpartition(" passed")[0].split()[-1])
    assert passed >= TESTS_AT_LEAST
