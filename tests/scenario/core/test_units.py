import contextlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.scenario.core.units import (
    _NEAR,
    KINDS,
    Kind,
    UnitError,
    format_quantity,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("20 us", "time", 20_000_000),
        ("20us", "time", 20_000_000),
        ("20 µs", "time", 20_000_000),
        ("108 ns", "time", 108_000),
        ("0.001 ns", "time", 1),
        ("2 s", "time", 2 * 10**12),
        ("87380 B", "size", 87380),
        ("256KiB", "size", 262144),
        ("8 kB", "size", 8000),
        ("0.5 KiB", "size", 512),
        ("1e3 B", "size", 1000),
        ("8_192 B", "size", 8192),
        ("16 bit", "size", 2),
        ("1 Gbit/s", "rate", 10**9),
        ("6.4 GB/s", "rate", 51_200_000_000),
        ("3.0 GHz", "frequency", 3 * 10**9),
        ("8000 /s", "frequency", 8000),
        ("8000 1/s", "frequency", 8000),
        ("5400 cycles", "cycles", 5400),
        ("50 %", "ratio", 500),
        ("1.23", "ratio", 1230),
        ("1230 permille", "ratio", 1230),
        ("64", "count", 64),
        (64, "count", 64),
    ],
)
def test_quantities_become_exact_base_units(text: str | int, kind: str, value: int) -> None:
    assert parse_quantity(text, KINDS[kind]) == value


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("20", "time", "missing unit in '20': expected a time such as '20 us'"),
        (20, "time", "missing unit in 20: expected a time such as '20 us'"),
        ("20 B", "time", "wrong kind of unit in '20 B': expected a time such as '20 us'"),
        (
            "1 Gbit/s",
            "frequency",
            "wrong kind of unit in '1 Gbit/s': expected a frequency such as '3.0 GHz'",
        ),
        (
            "1 Gbit",
            "rate",
            "wrong kind of unit in '1 Gbit': expected a data rate such as '1 Gbit/s'",
        ),
        (
            "20 us",
            "cycles",
            "wrong kind of unit in '20 us': expected clock cycles such as '1500 cycles'",
        ),
        ("5 us", "count", "wrong kind of unit in '5 us': expected a plain number such as '64'"),
        ("soon", "time", "expected a time such as '20 us', got 'soon'"),
        ("", "time", "expected a time such as '20 us', got ''"),
        (True, "count", "expected a plain number such as '64', got a flag"),
        ("nan", "time", "expected a time such as '20 us', got 'nan'"),
        ("8 KB", "size", "unknown unit 'KB': write KiB (1024 bytes) or kB (1000 bytes)"),
        ("1 Gb/s", "rate", "unknown unit 'Gb/s': write bit or B (byte)"),
        ("20 uss", "time", "unknown unit 'uss'; did you mean 'us'?"),
        ("3 furlongs", "time", "unknown unit 'furlongs': expected a time such as '20 us'"),
        ("3 furlongs", "ratio", "unknown unit 'furlongs': expected a ratio such as '50 %'"),
        ("12 k", "count", "unknown unit 'k': expected a plain number such as '64'"),
        ("12 k", "share", "unknown unit 'k': expected a share such as '0.1 %'"),
        ("1 nan", "time", "unknown unit 'nan': expected a time such as '20 us'"),
        ("2 s**2", "time", "unknown unit 's**2': expected a time such as '20 us'"),
        ("2 **", "time", "unknown unit '**': expected a time such as '20 us'"),
        ("0.3 ps", "time", "'0.3 ps' is not a whole number of ps"),
        ("1.5", "count", "'1.5' is not a whole number of one"),
    ],
)
def test_what_is_no_quantity_is_refused_with_an_example(
    text: str | int, kind: str, message: str
) -> None:
    with pytest.raises(UnitError) as caught:
        parse_quantity(text, KINDS[kind])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "kind"),
    [("1" * 5000, "count"), (1 << 20_000, "count"), (f"1.{'1' * 5000} s", "time")],
    ids=["digits", "number", "decimals"],
)
def test_a_number_of_thousands_of_digits_is_refused(text: str | int, kind: str) -> None:
    with pytest.raises(UnitError, match="got more than 100 characters"):
        parse_quantity(text, KINDS[kind])


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (108_000, "time", "108 ns"),
        (500_000, "time", "500 ns"),
        (65_536_000, "time", "65.536 us"),
        (0, "time", "0 s"),
        (1, "time", "1 ps"),
        (87380, "size", "87380 B"),
        (262144, "size", "256 KiB"),
        (10**9, "rate", "1 Gbit/s"),
        (1230, "ratio", "1.23"),
        (64, "count", "64"),
    ],
)
def test_values_are_shown_in_a_readable_unit(value: int, kind: str, text: str) -> None:
    assert format_quantity(value, KINDS[kind]) == text


@given(
    value=st.integers(min_value=-(2**63), max_value=2**63 - 1), kind=st.sampled_from(sorted(KINDS))
)
def test_a_shown_value_parses_back_to_itself(value: int, kind: str) -> None:
    assert parse_quantity(format_quantity(value, KINDS[kind]), KINDS[kind]) == value


@given(value=st.integers(0, 10**15), unit=st.sampled_from(["s", "ms", "us", "ns", "ps"]))
def test_units_of_time_differ_by_thousands(value: int, unit: str) -> None:
    power = {"s": 12, "ms": 9, "us": 6, "ns": 3, "ps": 0}[unit]
    assert parse_quantity(f"{value} {unit}", KINDS["time"]) == value * 10**power


@given(text=st.text(max_size=12), kind=st.sampled_from(sorted(KINDS)))
def test_any_text_gives_a_number_or_a_unit_error(text: str, kind: str) -> None:
    with contextlib.suppress(UnitError):
        assert isinstance(parse_quantity(text, KINDS[kind]), int)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_units_that_a_message_may_propose_are_units_of_the_kind(kind: Kind) -> None:
    for unit in {*_NEAR[kind.unit], *kind.shown}:
        assert parse_quantity(f"1e12 {unit}", kind) > 0


@pytest.mark.parametrize(
    ("arguments", "slow"),
    [
        (["--help"], ["networkx", "numpy", "pydantic", "rich"]),
        (["run", "x460-out-of-box", "--duration", "1 ms"], ["networkx", "rich", "scipy"]),
    ],
)
def test_a_command_does_not_import_what_it_does_not_need(
    arguments: list[str], slow: list[str]
) -> None:
    check = (
        "import sys; from simnet.cli import main\n"
        f"try: main({arguments})\n"
        "except SystemExit as end: assert not end.code\n"
        f"found = set({slow}) & set(sys.modules)\n"
        "sys.exit(f'imported: {found}' if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
