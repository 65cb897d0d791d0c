"""Where a scenario lies, and what it is called."""

from pathlib import Path

import pytest

from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario


def test_a_folder_stands_for_the_scenario_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "web-17"
    folder.mkdir()
    file = folder / "scenario.toml"
    text = find_scenario("media-udp").read_text("utf-8")
    file.write_text(text, "utf-8")
    assert find_scenario(str(folder)) == file
    assert load(str(folder)).scenario == load(str(file)).scenario == "web-17"
    file.write_text(f'name = "web-17.example.org"\n{text}', "utf-8")
    assert load(str(folder)).scenario == "web-17.example.org"


def test_a_file_lends_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = find_scenario("media-udp").read_text("utf-8")
    for name in ("scenario.toml", "busy.toml"):
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load("scenario.toml").scenario == tmp_path.name
    assert load("busy.toml").scenario == "busy"
