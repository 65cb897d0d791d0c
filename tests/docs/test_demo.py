"""The recorded terminal of README shows what its commands print today."""

import pytest

from tests.docs.demo import FOLDER, SHOWN, recorded


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["diagnose", pytest.param("whatif", marks=pytest.mark.nightly)])
def test_a_recorded_terminal_is_what_the_commands_print(name: str) -> None:
    assert recorded(name) == (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


def test_every_picture_can_be_recorded() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(SHOWN)


def test_no_picture_asks_another_host() -> None:
    assert [path.name for path in FOLDER.iterdir() if "url(http" in path.read_text("utf-8")] == []
