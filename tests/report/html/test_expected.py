"""What tools should show once a tuning is there, and how numbers are written."""

import pytest

from simnet.report.html.blocks import Table
from simnet.report.html.expected import expected_section
from simnet.report.html.numbers import counted, written
from simnet.study.whatif.verdict import Change, Interval
from simnet.study.whatif.whatif import Judged


def _judged(settings: dict[str, str], *changes: Change) -> Judged:
    return Judged(
        rank=1, tuning="t", description="", verdict="yes", decided_by="throughput", reason="",
        pairs=3, changes=changes, mechanisms=(), settings=settings, commands=(), warnings=(),
    )  # fmt: skip


def _change(metric: str, before: float, low: float, high: float, kind: str = "") -> Change:
    return Change(
        metric=metric, unit="", before=before, after=before, percent=0.0,
        seeds=Interval(low=low, high=high), parameters=None, latency_kind=kind,
    )  # fmt: skip


def _tables(judged: Judged) -> list[Table]:
    section = expected_section(judged)
    assert section is not None
    return [block for block in section.blocks if isinstance(block, Table)]


def test_each_tool_shows_what_was_before_times_the_ends_of_the_change() -> None:
    (shown,) = _tables(_judged({}, _change("throughput", 2e9, -10.0, 20.0)))
    assert [row[2:] for row in shown.rows] == [("2000.0", "2000.0", "1800.0 to 2400.0")]


def test_what_cannot_be_more_than_all_is_not() -> None:
    (shown,) = _tables(_judged({}, _change("loss", 60.0, -200.0, 300.0)))
    assert shown.rows[0][4] == "0.000 to 100.000"


def test_a_latency_of_one_way_is_told_by_no_tool() -> None:
    assert expected_section(_judged({}, _change("latency_p99", 50.0, 0.0, 1.0, "one-way"))) is None
    assert _tables(_judged({}, _change("latency_p99", 50.0, 0.0, 1.0, "round trip")))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("net.core.rmem_max", ("sysctl net.core.rmem_max", "7")),
        ("ethtool -C eth0 rx-usecs", ("ethtool -c PORT", "rx-usecs: 7")),
        ("/proc/irq/9/smp_affinity", ("cat /proc/irq/9/smp_affinity", "7")),
        # of these no tool of the machine tells
        ("udp.burst", None),
        ("nic.rx_frames", None),
        ("nodes", None),
    ],
)
def test_a_setting_is_shown_by_what_shows_it(name: str, shown: tuple[str, str] | None) -> None:
    first, *more = _tables(_judged({name: "7"}, _change("throughput", 1e9, 0.0, 1.0)))
    assert (first.rows[0] if more else None) == shown


@pytest.mark.parametrize(
    ("text", "as_read"),
    [
        ("-4.5 to -1", "\u22124.5 to \u22121"),
        ("rx-usecs 5, eth0-1, 3-7", "rx-usecs 5, eth0-1, 3-7"),
        ("12 us (us) p99 us, bus", "12 \u00b5s (\u00b5s) p99 \u00b5s, bus"),
    ],
)
def test_numbers_in_sentences(text: str, as_read: str) -> None:
    assert written(text) == as_read


@pytest.mark.parametrize(
    ("cell", "as_read"),
    [
        ("16013.5", "16,013.5"),
        ("9999", "9999"),
        ("-123456", "\u2212123,456"),
        ("0.123456", "0.123456"),
    ],
)
def test_thousands_of_a_cell_are_separated(cell: str, as_read: str) -> None:
    assert counted(cell) == as_read
