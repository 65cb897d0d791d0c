"""What a running kernel lost, beside what the model loses today."""

import pytest

from simnet.documents.live.answers import ANSWERS
from simnet.documents.live.recorded import recorded
from simnet.study.validate.changes import known_changes
from simnet.study.validate.validate import validate

LONELY = "live.listen.300-per-s.backlog-4"


def test_a_load_loses_what_a_kernel_lost_at_its_counter() -> None:
    rows = validate(tuple(ANSWERS), members=0).rows
    assert len(rows) == 2 * len(ANSWERS) == 120
    losses = [row for row in rows if row.key == "socket_percent"]
    near = [row.predicted == pytest.approx(row.measured, rel=0.15) for row in losses]
    assert sum(near) >= 59
    assert sum(bool(row.measured) for row in losses) > 40
    assert all(row.predicted == row.measured == 0 for row in rows if row not in losses)


def test_loads_of_a_listening_socket_make_changes_of_the_rate_and_of_the_backlog() -> None:
    found = recorded()
    assert len({one.configuration for one in found}) == len(found) == 14
    names = {one.before.id for one in known_changes()} | {one.after.id for one in known_changes()}
    changes = [one for one in known_changes() if one.before in found]
    assert {one.sort for one in changes} == {"setting", "load"}
    assert all(one.after in found and not one.looked_at for one in changes)
    # of one rate and backlog, no other load has either
    assert names & {one.id for one in found} == {one.id for one in found} - {LONELY}
