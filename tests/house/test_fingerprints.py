"""Every counter of every scenario, and of odd but legal configurations, is as it was."""

import pytest

from simnet import _engine
from tests.house.fingerprints import CONFIGURATIONS, kept

# those that an interpreted engine simulates in a second or two
QUICK = {"one receive buffer", "the largest MTU", "vscsi-parallel", "sw1621-t520"}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_it_is_what_it_was(name: str) -> None:
    if _engine.active() == "interpreted" and name not in QUICK:
        pytest.skip("takes long on the interpreted engine")
    assert CONFIGURATIONS[name].fingerprint() == kept()[name]


def test_all_that_are_kept_are_there() -> None:
    assert list(kept()) == list(CONFIGURATIONS)


def test_they_differ() -> None:
    assert len(set(kept().values())) == len(CONFIGURATIONS)
