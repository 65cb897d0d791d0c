"""Draws that lie beside a user's scenario: values that agree with what was measured on the host.

`simnet calibrate HOST --write` keeps them in `calibration.json`. What-if and compare take them in
place of draws from the whole ranges: costs that no measurement tells apart stay wide, and their
sum, which one does, is narrow.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from simnet.faults import fault_in
from simnet.files import read_bytes, write_text
from simnet.rows import Printed, Row
from simnet.scenario.scenarios import scenario_names
from simnet.study.work.cases import Case, Draw, Member
from simnet.study.work.vary import uncertain_parameters

_SCHEMA: Literal["simnet.draws/1"] = "simnet.draws/1"
_NAME: Final = "calibration.json"
_MOST_BYTES: Final = 16 << 20


class _Draw(Row):
    seed: int = Field(ge=0)
    values: dict[str, int]


class _File(Printed):
    schema_: Literal["simnet.draws/1"] = Field(default=_SCHEMA, alias="schema")
    draws: tuple[_Draw, ...]


def beside(scenario: str | Path) -> Path:
    """The file of the draws of a scenario."""
    return Path(scenario).parent / _NAME


def keep(scenario: str | Path, draws: Sequence[Draw]) -> Path:
    """Write draws beside a scenario's file, over those of before; return their file."""
    rows = tuple(_Draw(seed=one.seed, values=dict(one.values)) for one in draws)
    path = beside(scenario)
    write_text(path, _File(draws=rows).to_json(indent=1) + "\n")
    return path


def kept_beside(case: Case) -> Sequence[Draw]:
    """The draws beside the file of a case's scenario; none of one of simnet's own, or if none lie.

    Of a case with a value that no longer is uncertain, the others count.

    Raises:
        InputError: the file does not have the expected form.
    """
    path = beside(case.scenario)
    if case.scenario in scenario_names() or not path.is_file():
        return ()
    data = read_bytes(path, most_bytes=_MOST_BYTES, kind="list of draws")
    try:
        found = _File.model_validate_json(data)
    except ValidationError as error:
        raise fault_in(path, error) from error
    known = uncertain_parameters(Member(case).effective())
    return tuple(Draw(one.seed, one.values).among(known) for one in found.draws)
