"""What others have pasted is answered; hosts that are well have no finding."""

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from simnet.diagnose.diagnosis import diagnose
from simnet.report.diagnosis import diagnosis

ROOT: Final = Path(__file__).parents[2] / "validation"
CASES: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    (ROOT / "cases" / "cases.toml").read_text("utf-8")
)
HOSTS: Final = sorted((ROOT / "hosts").glob("*.tar.xz"))


def test_each_case_has_its_answer() -> None:
    assert set(CASES) == {path.name for path in (ROOT / "cases").iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", CASES)
def test_the_first_finding_is_what_it_was(name: str) -> None:
    source = str(ROOT / "cases" / name)
    found = diagnose([source])
    first = found.findings[0].rule if found.findings else None
    assert (first.name if first else "") == CASES[name]["rule"]
    assert bool(first and first.outside) == CASES[name].get("outside", False)
    assert found.exit_status == (1 if first else 3)
    lines = diagnosis(found, [source]).splitlines()
    assert len(lines) <= 24
    # a command is not broken
    assert all(len(line) <= 80 or line.startswith("    ") for line in lines)


@pytest.mark.parametrize("path", HOSTS, ids=lambda path: path.name.partition(".")[0])
def test_a_host_that_is_well_has_no_finding(path: Path) -> None:
    found = diagnose([str(path)])
    assert found.findings == ()
    assert found.exit_status in {0, 3}
