"""What a running kernel lost, beside what the model loses today."""

import pytest

from simnet.documents.live.answers import ANSWERS
from simnet.study.validate.validate import validate


def test_a_load_loses_what_a_kernel_lost_at_its_counter() -> None:
    rows = validate(tuple(ANSWERS), members=0).rows
    assert len(rows) == 2 * len(ANSWERS) == 120
    losses = [row for row in rows if row.key == "socket_percent"]
    near = [row.predicted == pytest.approx(row.measured, rel=0.15) for row in losses]
    assert sum(near) >= 59
    assert sum(bool(row.measured) for row in losses) > 40
    assert all(row.predicted == row.measured == 0 for row in rows if row not in losses)
