"""Headings are those that a whole reading gives."""

from typing import Any

from simnet.scenario.core.library import (
    MODEL_FOLDERS,
    find_model,
    model_names,
    read_model,
    read_scenario,
)
from simnet.scenario.headings import model_headings, scenario_headings
from simnet.scenario.scenarios import find_scenario, scenario_names


def test_scenarios_with_their_tunings() -> None:
    found = scenario_headings()
    assert tuple(one.name for one in found) == scenario_names()
    for one in found:
        form = read_scenario(find_scenario(one.name))[0]
        assert one.description == form.description
        assert {tuning.name: (tuning.description, tuning.settings) for tuning in one.tunings} == {
            name: (table.description, {k: s.value for k, s in table.settings.items()})
            for name, table in form.tunings.items()
        }


def test_models_of_all_kinds() -> None:
    read: dict[tuple[str, str], Any] = {
        (kind, name): read_model(kind, find_model(kind, name))[0]
        for kind in MODEL_FOLDERS
        for name in model_names(kind)
    }
    found = {(one.kind, one.name): one.description for one in model_headings()}
    assert found == {place: form.description for place, form in read.items()}
    assert list(found) == sorted(found)
