"""Measurements and frozen predictions as data."""

from datetime import date
from pathlib import Path

import pytest
from pydantic import ValidationError

from simnet._share import folder
from simnet.errors import InputError
from simnet.study.calibrate.capture import read_capture
from simnet.study.validate.measurements import measurement, measurements
from simnet.study.validate.predictions import Frozen, FrozenRow, freeze, predictions

ENTRY = """document = "d"
[[measurement]]
id = "a"
where = "Table 1"
setup = {nodes = 4}
use = "calibrate"
unit = "ratio"
value = {x = 1.5}
"""


def test_the_measured_listing_agrees_with_its_capture() -> None:
    capture = read_capture(folder("validation") / "captures" / "sar-x460-out-of-box-8k-4nodes.txt")
    busy = measurement("x460.listing1.cpu_busy_percent")
    # the four printed columns are rounded each for itself
    shown = {f"cpu{row.id}": row.busy for row in capture.cpus}
    assert busy.value == pytest.approx(shown, abs=0.011)
    rates = measurement("x460.listing1.interrupts_per_second")
    assert rates.value == {column.port: column.per_s for column in capture.interrupts}


def test_what_must_first_be_predicted_may_not_be_fitted_to() -> None:
    assert measurement("x460.table1.netserver").role == "calibrate"
    assert measurement("x460.table2.netserver").role == "predict"


def test_an_unknown_id_names_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean x460\.table1\.netserver\?"):
        measurement("x460.table1.netsrever")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('use = "calibrate"', 'use = "fit"', r"m\.toml:6: measurement\S*use: "),
        ("x = 1.5", "x = 'big'", r"m\.toml:8: measurement\S*value\S*x: "),
        ("unit =", "units =", r"m\.toml:\d+: measurement\S*unit"),
        ("[[measurement]]", "[[measurement", r"m\.toml:2: "),
    ],
)
def test_a_malformed_file_is_one_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    (tmp_path / "m.toml").write_text(ENTRY.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=expected) as caught:
        measurements(tmp_path)
    assert "\n" not in str(caught.value)


def test_an_id_that_is_defined_twice_is_refused(tmp_path: Path) -> None:
    for name in ("m.toml", "n.toml"):
        (tmp_path / name).write_text(ENTRY, encoding="utf-8")
    with pytest.raises(InputError, match=r"n\.toml: a: expected every id once"):
        measurements(tmp_path)


FROZEN = Frozen(
    date=date(2026, 1, 2),
    version="0.1.0",
    stage="before any fit to Table 2",
    rows=(FrozenRow(id="x460.table2.netserver", key="cpu_1to4", predicted=9.5, low=8, high=12),),
)


def test_a_frozen_prediction_reads_back_and_is_never_overwritten(tmp_path: Path) -> None:
    path = freeze(FROZEN, "table2", tmp_path)
    assert path.name == "2026-01-02-table2.json"
    assert predictions(tmp_path) == {path.name: FROZEN}
    with pytest.raises(InputError, match=r"table2\.json: expected a new name"):
        freeze(FROZEN, "table2", tmp_path)


def test_the_records_that_come_along_are_sound() -> None:
    for frozen in predictions().values():
        assert {row.id for row in frozen.rows}


def test_a_prediction_outside_its_own_interval_is_refused() -> None:
    with pytest.raises(ValidationError, match="low <= predicted <= high"):
        FrozenRow(id="a", key="b", predicted=3, low=1, high=2)


def test_a_damaged_record_names_file_and_key(tmp_path: Path) -> None:
    path = freeze(FROZEN, "table2", tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"low": 8.0', '"low": "eight"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"table2\.json: rows\.0\.low: "):
        predictions(tmp_path)
