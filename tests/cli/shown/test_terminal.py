"""What a terminal gets: lines that it has room for, colours where it shows them."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.cli.output import answer
from simnet.report.columns import columns
from simnet.terminal import answer_last, folded

Terminal = Callable[[int], None]

WORD = st.text("abcdefgh", min_size=1, max_size=12)
SENTENCE = st.lists(WORD, min_size=1, max_size=30).map(" ".join)
NUMBER = st.decimals(0, 10**6, places=2).map(str)
NAMES = ("message", "CPUs busy %", "interrupts/s", "one-way p99 us", "why")
ROWS = st.lists(st.tuples(WORD, NUMBER, NUMBER, NUMBER, SENTENCE), min_size=1, max_size=5)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stdout a terminal with so many columns, and 24 lines."""

    def be(width: int) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("LINES", "24")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)

    return be


@given(ROWS, st.integers(60, 120))
def test_a_table_has_room_on_a_terminal_and_loses_nothing(
    rows: list[tuple[str, ...]], width: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True)
        patch.setenv("COLUMNS", str(width))
        shown = columns(NAMES, rows, text_last=True)
    assert max(map(len, shown.splitlines())) <= width
    words = shown.split()
    for row in rows:
        for cell in row[:4]:
            assert cell in words
        for word in row[4].split():
            assert word in words


@given(SENTENCE, st.integers(60, 120))
def test_sentences_go_on_between_words(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.stdout, "isatty", lambda: True)
        patch.setenv("COLUMNS", str(width))
        shown = folded(text)
    assert max(map(len, shown.splitlines())) <= width
    assert shown.split() == text.split()
    assert folded(text) == text


def test_what_has_room_is_the_same_on_a_terminal(terminal: Terminal) -> None:
    rows = [("64 B", "1.0", "2", "3.0", "as it was asked for")]
    plain = columns(NAMES, rows)
    terminal(100)
    assert columns(NAMES, rows) == plain
    terminal(60)
    assert columns(NAMES, rows) != plain


def test_verdicts_have_colours_on_a_terminal_only(
    terminal: Terminal, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "affinity on x460: yes: p99 -84.0 % (-90.1 to -70.2)\nno doubt\nwarning: it is short"
    answer(said)
    assert capsys.readouterr().out == f"{said}\n"
    terminal(100)
    answer(said)
    coloured = capsys.readouterr().out
    assert "x460: \x1b[32m\x1b[1myes\x1b[0m: p99" in coloured
    assert "\x1b[2m(-90.1 to -70.2)\x1b[0m\nno doubt\n\x1b[33m\x1b[1mwarning\x1b[0m: " in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    answer(said)
    assert capsys.readouterr().out == f"{said}\n"


def test_the_answer_stands_on_the_last_screen(terminal: Terminal) -> None:
    long = "affinity: yes\n" + 30 * "numbers\n"
    assert answer_last(long, "ethtool -C eth0 rx-usecs 5\n").endswith("rx-usecs 5\n")
    terminal(80)
    shown = answer_last(long, "ethtool -C eth0 rx-usecs 5\n")
    assert shown.splitlines()[-1] == "affinity: yes"
    assert answer_last("affinity: yes\n", "ethtool\n").count("affinity: yes") == 1
