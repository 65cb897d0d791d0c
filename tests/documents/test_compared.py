"""What was ever compared with a measurement, of the documents as they are."""

import pytest

from simnet.study.validate.changes import known_changes
from simnet.study.validate.compared import compared
from tests.documents.compared import FILE, text


def test_every_known_change_is_listed_with_what_differs() -> None:
    listed = {(one.before, one.after): one.names for one in compared().differences}
    assert listed.keys() == {(one.before.id, one.after.id) for one in known_changes()}
    assert all(listed.values())


@pytest.mark.slow
def test_the_list_is_that_of_the_documents() -> None:
    assert FILE.read_text(encoding="utf-8") == text()
