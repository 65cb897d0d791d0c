"""Outputs of many cards and tools as people paste them are answered as one who knows would."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from simnet.diagnose.diagnosis import diagnose

HERE: Final = Path(__file__).parent / "pastes"
PASTES: Final[dict[str, dict[str, str]]] = tomllib.loads((HERE / "pastes.toml").read_text("utf-8"))


def test_each_paste_has_its_answer() -> None:
    assert set(PASTES) == {path.stem for path in HERE.glob("*.txt")}
    assert len(PASTES) >= 40


@pytest.mark.parametrize("name", PASTES)
def test_the_first_finding_is_the_answer(name: str) -> None:
    found = diagnose([str(HERE / f"{name}.txt")])
    wanted = PASTES[name]
    rules = [one.rule.name for one in found.findings]
    assert rules[:1] == ([wanted["rule"]] if wanted["rule"] else [])
    if rules:
        assert wanted.get("subject", "") in found.findings[0].hit.subject
        assert all(fact.line for fact in found.findings[0].hit.facts)
    else:
        assert found.exit_status == 0
