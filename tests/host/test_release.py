"""Versions of Linux as numbers."""

import pytest

from simnet.errors import InputError
from simnet.host.release import release, release_in


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("2.6.32", (2, 6, 32)), ("6.18", (6, 18)), ("2.6.16.21", (2, 6, 16, 21))],
)
def test_a_version_is_numbers_with_dots(version: str, numbers: tuple[int, ...]) -> None:
    assert release(version) == release_in(version) == numbers


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("6.18.44-amd64", (6, 18, 44)),
        ("5.14.0-427.el9", (5, 14, 0)),
        ("4.4.73-5-default", (4, 4, 73)),
    ],
)
def test_a_host_names_more_than_that(version: str, numbers: tuple[int, ...]) -> None:
    assert release_in(version) == numbers
    with pytest.raises(InputError, match="expected numbers with dots"):
        release(version)


@pytest.mark.parametrize("version", ["linux", "6", "", "v6.18"])
def test_what_begins_with_no_version_is_refused(version: str) -> None:
    with pytest.raises(InputError, match="is no version of Linux"):
        release_in(version)
