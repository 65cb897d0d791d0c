"""The data folders are found inside an installed package, else beside a checkout's."""

from pathlib import Path

import pytest

from simnet import _share
from simnet.errors import SimnetError
from tests.house.trees import ROOT


def test_checkout_uses_its_own_folders() -> None:
    assert _share.folder("models") == ROOT / "models"


def test_installed_package_prefers_what_it_carries(tmp_path: Path) -> None:
    package = tmp_path / "simnet"
    (package / "_share" / "models").mkdir(parents=True)
    (tmp_path / "models").mkdir()
    (tmp_path / "pyproject.toml").touch()
    assert _share.folder("models", package=package) == package / "_share" / "models"


def test_folder_of_somebody_else_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "simnet").mkdir()
    (tmp_path / "models").mkdir()
    with pytest.raises(SimnetError, match=r"the models folder is neither at .* reinstall simnet"):
        _share.folder("models", package=tmp_path / "simnet")
    (tmp_path / "pyproject.toml").touch()
    assert _share.folder("models", package=tmp_path / "simnet") == tmp_path / "models"
