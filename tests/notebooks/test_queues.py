"""Little's law of a disk's queue: both sides differ by how much older those in it have become."""

import pandas as pd
import pytest

from lessons.queues import DISKS, littles_law, requests_over_time

SCENARIO = "vscsi-parallel"


@pytest.fixture(scope="module")
def short() -> pd.DataFrame:
    return littles_law(SCENARIO, seconds=5)


def test_what_the_sides_differ_by_is_the_age_of_those_in_the_queue(short: pd.DataFrame) -> None:
    off = short["avgqu-sz"] - short["throughput x await"]
    assert off["sdb"] > 5
    assert list(off) == pytest.approx(list(short["grown older"]))


def test_the_longer_one_looks_the_less_it_is(short: pd.DataFrame) -> None:
    long = littles_law(SCENARIO, seconds=60)
    assert abs(long["grown older"]["sdb"]) < short["grown older"]["sdb"] / 3


def test_the_servers_disk_is_among_them(short: pd.DataFrame) -> None:
    assert list(short.index) == [*DISKS, "peer0:sdc"]


def test_an_adapter_has_no_more_than_its_limit_under_way() -> None:
    found = requests_over_time(SCENARIO, looks=20)
    sent = found[[f"{disk}, sent" for disk in DISKS]]
    assert sent.max().max() == 22
    assert found["sdc, client"].max() <= 32
