"""What a Python program may give, and how it is told what it may not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import simnet

X460 = "x460-out-of-box"
BRIEF: dict[str, Any] = {"duration": "1 ms", "warm_up": "0 s"}


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({"nodes": 2}, {"nodes": "2"}),
        ({"irqbalance": False}, {"irqbalance": "off"}),
        ({"net.ipv4.tcp_rmem": (4096, 87380, 174760)}, {"net.ipv4.tcp_rmem": "4096 87380 174760"}),
        ({"message": "1460 B"}, {"message": "1460 B"}),
    ],
)
def test_settings_are_what_a_person_types(given: dict[str, Any], typed: dict[str, str]) -> None:
    result = simnet.run(X460, settings=given, **BRIEF)
    assert result.settings == typed
    assert result.fingerprint == simnet.run(X460, settings=typed, **BRIEF).fingerprint


def test_one_name_is_no_sequence_of_letters() -> None:
    assert simnet.run(X460, tunings="affinity", **BRIEF).tunings == ("affinity",)


def test_a_file_to_apply_may_be_a_path(tmp_path: Path) -> None:
    with pytest.raises(simnet.InputError, match="No such file"):
        simnet.run(X460, apply=tmp_path / "no.txt", **BRIEF)


def test_a_sweep_takes_numbers() -> None:
    found = simnet.sweep(X460, {"nodes": range(1, 3), "connections": 1}, **BRIEF)
    assert [point.settings["nodes"] for point in found.points] == ["1", "2"]


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (simnet.run, {"settings": {"nodes": 99}}, 'settings["nodes"]: 99 is outside'),
        (simnet.run, {"settings": {"nods": 2}}, 'settings["nods"]: unknown knob; did you'),
        (simnet.run, {"settings": {"nodes": None}}, 'settings["nodes"]: expected a text, a'),
        (simnet.run, {"settings": {3: 2}}, "settings: expected the name of a knob, got 3"),
        (simnet.run, {"settings": "nodes=2"}, "settings: expected values by knob"),
        (simnet.run, {"duration": 0.5}, "duration: missing unit in '0.5'"),
        (simnet.run, {"warm_up": "5"}, "warm_up: missing unit in '5'"),
        (simnet.run, {"precision": 3.0}, "precision: 3 is outside"),
        (simnet.run, {"seed": -1}, "seed: -1 is outside"),
        (simnet.run, {"tunings": "affinty"}, "tunings: affinty: unknown tuning; did you mean"),
        (simnet.run, {"tunings": [None]}, "tunings: expected a name, or several"),
        (simnet.explain, {"settings": {"nodes": 99}}, 'settings["nodes"]: 99 is outside'),
        (simnet.whatif, {"tunings": "affinity", "duration": 1}, "duration: missing unit in '1'"),
        (simnet.whatif, {"tunings": "affinity", "seeds": 0}, "seeds: expected a whole number"),
        (simnet.whatif, {"tunings": "affinity", "members": -1}, "members: expected a whole"),
        (simnet.whatif, {"tunings": "affinity", "seed": "1"}, "seed: expected a whole number"),
        (simnet.sweep, {"over": {}}, "over: expected something to vary"),
        (simnet.sweep, {"over": {"nodes": [1, 99]}}, 'over["nodes"]: 99 is outside'),
        (simnet.sweep, {"over": {"nodes": "1..x"}}, 'over["nodes"]: 1..x: expected values as in'),
        (
            simnet.sweep,
            {"over": {"seed": "1,2"}, "replications": 2},
            "replications: over seed=... says already",
        ),
        (simnet.capacity, {}, "expected a limit: max_loss, max_p99, or both"),
        (simnet.capacity, {"max_loss": "a"}, "max_loss: expected a share"),
        (simnet.capacity, {"max_p99": 5}, "max_p99: missing unit in 5"),
        (simnet.capacity, {"max_loss": 0.1, "between": 3}, "between: 3: expected LOWEST..HIGHEST"),
    ],
)
def test_an_error_names_the_argument(
    call: Callable[..., Any], given: dict[str, Any], said: str
) -> None:
    scenario = "relay-tuned" if call is simnet.capacity else X460
    with pytest.raises(simnet.InputError) as caught:
        call(scenario, **given)
    assert str(caught.value).startswith(said)
    assert "--" not in str(caught.value)


def test_numbers_of_members_and_parameters_are_checked() -> None:
    with pytest.raises(simnet.InputError, match=r"^members: expected a whole number"):
        simnet.validate("x460.table2.netperf", members=-1)
    with pytest.raises(simnet.InputError, match=r"^parameters: expected at least one"):
        simnet.calibrate("x460.table1.netperf", [])
