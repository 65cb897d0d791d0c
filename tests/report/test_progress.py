"""Progress shows on a terminal and nowhere else."""

import io

import pytest
from rich.console import Console

from simnet.kernel.watch import counted
from simnet.report import progress as module
from simnet.report.progress import progress, watching
from simnet.scenario.core.load import load
from simnet.study.run.run import simulate


def shown(*, terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100)
    with progress("simulating", console) as advance:
        advance(0, 3)
        advance(2, 3)
    return stream.getvalue()


def test_a_terminal_shows_how_many_simulations_are_done() -> None:
    assert "simulating" in shown(terminal=True)
    assert "2/3" in shown(terminal=True)


def test_a_bar_is_of_one_phase_also_where_all_are_counted_together() -> None:
    stream = io.StringIO()
    with progress("simulating", Console(file=stream, force_terminal=True, width=100)) as advance:
        advance(4, 4, "120,000")
        advance(5, 8, "60,000")
    assert "simulating 60,000" in stream.getvalue()
    assert "1/4" in stream.getvalue()
    assert "5/8" not in stream.getvalue()


def test_a_pipe_stays_silent() -> None:
    assert shown(terminal=False) == ""


def shown_of_a_run(*, terminal: bool) -> str:
    """What one short simulation shows, and parts that are built before it."""
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100)
    settings = {"nodes": "1"}
    configuration = load("x460-out-of-box", settings=settings, duration="30 ms", warm_up="0 s")
    with watching(configuration, console):
        assert len(list(counted("wheels", 1000))) == 1000
        simulate(configuration)
    return stream.getvalue()


@pytest.fixture
def sliced(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Watchers are told often."""
    monkeypatch.setattr("simnet.kernel.environment._SLICE_EVENTS", 100)
    return monkeypatch


@pytest.mark.parametrize("terminal", [True, False])
def test_a_short_run_shows_nothing(sliced: pytest.MonkeyPatch, *, terminal: bool) -> None:
    # as long as it may take on a machine that has other work
    sliced.setattr(module, "SHORT_S", 600)
    assert shown_of_a_run(terminal=terminal) == ""


def test_a_terminal_shows_how_far_a_long_run_is(sliced: pytest.MonkeyPatch) -> None:
    sliced.setattr(module, "SHORT_S", 0)
    sliced.setattr(module, "_REFRESH_S", 0)
    text = shown_of_a_run(terminal=True)
    assert "building 1,000 wheels" in text
    assert "simulating 0.03 s of x460-out-of-box" in text


def test_without_a_terminal_a_run_of_minutes_says_so(sliced: pytest.MonkeyPatch) -> None:
    sliced.setattr(module, "SURE_S", 0)
    sliced.setattr(module, "LONG_S", 0)
    lines = shown_of_a_run(terminal=False).splitlines()
    assert lines[0].startswith("simnet: building 1,000 wheels: about ")
    assert lines[-1].startswith("simnet: simulating 0.03 s of x460-out-of-box: about ")
    assert lines[-1].endswith(" seconds to go")


def said_by(monkeypatch: pytest.MonkeyPatch, runs: int, seconds: list[int]) -> list[str]:
    """What is said without a terminal of so many runs, of which each takes its seconds."""
    now_s = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    stream = io.StringIO()
    with progress("simulating", Console(file=stream, force_terminal=False)) as advance:
        for done, taken_s in enumerate(seconds):
            advance(done, runs)
            now_s += taken_s
    return stream.getvalue().splitlines()


def test_without_a_terminal_many_runs_say_how_long_they_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = said_by(monkeypatch, 1000, [6] * 8)
    assert said == ["simnet: simulating: about 1.7 hours to go"]


def test_a_search_that_grows_says_how_much_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    with progress("simulating", Console(file=stream, force_terminal=False)) as advance:
        for done in range(1, 301):
            clock[0] += 1.0
            advance(done, done + 10)
    assert stream.getvalue().splitlines() == [
        "simnet: simulating: 60 done in 1.0 minutes",
        "simnet: simulating: 120 done in 2.0 minutes",
        "simnet: simulating: 240 done in 4.0 minutes",
    ]


def test_an_estimate_that_was_too_short_is_followed_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = said_by(monkeypatch, 100, [1] * 30 + [10] * 70)
    assert said == [
        "simnet: simulating: about 1.5 minutes to go",
        "simnet: simulating: about 3.6 minutes to go",
        "simnet: simulating: about 6.8 minutes to go",
    ]
