"""Errors say on one line where and what, and survive the way back from a worker process."""

import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simnet
from simnet import cli
from simnet.errors import (
    InputError,
    LostRunError,
    OutputError,
    SimnetError,
    SimulationError,
    is_out_of_memory,
    seconds_text,
)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ({}, "expected a time"),
        ({"file": "a.toml"}, "a.toml: expected a time"),
        ({"file": "a.toml", "line": 7}, "a.toml:7: expected a time"),
        ({"file": "a.toml", "line": 7, "key": "nic.gap"}, "a.toml:7: nic.gap: expected a time"),
        ({"file": "--set", "key": "nodes"}, 'settings["nodes"]: expected a time'),
        ({"file": "--over", "key": "nodes=a"}, 'over["nodes"]: a: expected a time'),
        ({"file": "--warm-up", "key": "warm_up"}, "warm_up: expected a time"),
        ({"file": "--tuning", "key": "fast"}, "tunings: fast: expected a time"),
        ({"key": "--max-loss"}, "max_loss: expected a time"),
        ({"line": 7, "key": "nic.gap"}, "nic.gap: expected a time"),
    ],
)
def test_input_error_names_file_line_and_key(known: dict[str, Any], text: str) -> None:
    assert str(InputError("expected a time", **known)) == text


def test_input_error_calls_arguments_as_they_are_typed() -> None:
    error = InputError("expected --duration", file="--set", key="nodes")
    assert error.typed == "--set: nodes: expected --duration"
    assert str(error) == 'settings["nodes"]: expected duration'


# what only the command has, or what other programs' options are
_OF_NO_FUNCTION = {"--format", "--freeze", "--mss", "--stage", "--update"}


def test_every_option_that_a_study_names_is_an_argument_in_python() -> None:
    sources = Path(simnet.__file__).with_name("study").rglob("*.py")
    named = {n for path in sources for n in re.findall(r'"(--[a-z][a-z-]*)"', path.read_text())}
    kept = {name for name in named if str(InputError("m", key=name)) == f"{name}: m"}
    assert named > kept
    assert kept == _OF_NO_FUNCTION


@pytest.mark.parametrize(
    ("called", "wrong"),
    [
        (simnet.recommend, {"goal": "speed"}),
        (simnet.recommend, {"knobs": 5}),
        (simnet.recommend, {"limit": "latency"}),
        (simnet.recommend, {"runs": 0}),
        (simnet.screen, {"knobs": 5}),
        (simnet.screen, {"metric": "speed"}),
        (simnet.screen, {"paths": 1}),
        (simnet.screen, {"sobol": 5}),
    ],
)
def test_an_argument_at_fault_is_named_as_it_is_given(
    called: Callable[..., object], wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    assert name in inspect.signature(called).parameters
    with pytest.raises(InputError) as caught:
        called("x460-out-of-box", **wrong)
    assert str(caught.value).startswith(f"{name}: ")


def test_a_command_in_a_message_stays_a_command() -> None:
    said = "first: simnet run NAME --duration TIME"
    assert str(InputError(said)) == said


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ({}, "stuck"),
        ({"component": "server.cpu3"}, "server.cpu3: stuck"),
        ({"component": "server.cpu3", "time_ps": 1_500_000}, "server.cpu3: at 0.0000015 s: stuck"),
        ({"time_ps": 0}, "at 0 s: stuck"),
    ],
)
def test_simulation_error_names_component_and_time(known: dict[str, Any], text: str) -> None:
    assert str(SimulationError("stuck", **known)) == text


@given(st.text())
def test_any_message_is_one_line(message: str) -> None:
    assert len(str(InputError(message, file="f", line=1, key="k")).splitlines()) == 1


@pytest.mark.parametrize(
    "error",
    [
        InputError("bad", file="f.toml", line=3, key="k"),
        LostRunError("bad"),
        OutputError("bad", file="f.png"),
        SimulationError("bad", component="c", time_ps=5),
        SimnetError("bad"),
    ],
)
def test_errors_survive_pickling(error: SimnetError) -> None:
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


@given(st.integers(min_value=-(10**20), max_value=10**20))
def test_seconds_are_exact(time_ps: int) -> None:
    text = seconds_text(time_ps)
    whole, _, fraction = text.lstrip("-").partition(".")
    value = int(whole) * 10**12 + int(fraction.ljust(12, "0"))
    assert (-value if text.startswith("-") else value) == time_ps
    assert not fraction.endswith("0")


def test_memory_that_ran_out_is_known_where_the_exception_was_lost() -> None:
    lost = SystemError("<function f> returned NULL without setting an exception")
    assert [is_out_of_memory(error) for error in (lost, MemoryError())] == [True, True]
    assert not is_out_of_memory(SystemError("bad argument to internal function"))
    assert cli._explain(lost) == ("simnet: memory ran out", 3)
