"""Stages of calibrations as data."""

from itertools import pairwise
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.calibrate.stages import stage, stages
from simnet.study.validate.document import answers
from simnet.study.validate.measurements import measurement
from simnet.study.work.vary import canonical_name, ranged


@pytest.mark.parametrize(
    ("scenario", "name"),
    [(scenario, name) for scenario, known in stages().items() for name in known],
)
def test_every_stage_fits_less_than_it_knows(scenario: str, name: str) -> None:
    found = stage(scenario, name)
    effective = load(scenario)
    with_range = {p.name for p in ranged(effective, ("assumed", "calibrated"))}
    assert {canonical_name(effective, p) for p in found.parameters} <= with_range
    numbers = 0
    for text in found.against:
        measured, _, keys = text.partition(":")
        assert measured in answers()
        assert not measurement(measured).never_fitted
        numbers += len(keys.split(",")) if keys else len(measurement(measured).value)
    assert len(found.parameters) < numbers


def test_a_later_stage_knows_what_the_one_before_knew() -> None:
    for known in stages().values():
        names = list(known)
        for before, after in pairwise(names):
            assert set(known[before].against) < set(known[after].against)


def test_an_unknown_stage_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^--stage: C: expected one of A, B"):
        stage("x460-out-of-box", "C")
    with pytest.raises(InputError, match=r"^--stage: A: the scenario has no stages"):
        stage("mine.toml", "A")


def test_a_malformed_file_names_line_and_key(tmp_path: Path) -> None:
    text = 'document = "d"\nscenario = "s"\n[[stage]]\nname = "A"\ndescription = ""\nagainst = []\n'
    (tmp_path / "s.toml").write_text(text + 'parameters = ["p"]\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"s\.toml:6: stage\S*against: "):
        stages(tmp_path)
