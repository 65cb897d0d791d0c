"""What a fit found, and what the data do not determine."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simnet.report.columns import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simnet.study.calibrate.calibrate import Calibration, Fitted
    from simnet.study.statistics.leastsquares import Direction, Estimate, Profile


_SHOWN = 0.2


def calibration(found: Calibration) -> str:
    """Parameters with intervals, combinations that the data fix or don't, numbers, profiles."""
    fit = found.fit
    model = _model(found.base)
    rank = (
        f"rank of the Jacobian: {fit.rank} of {len(fit.estimates)}; one residual is "
        f"{fit.sigma:.2%} (relative, standard deviation); {fit.evaluations} points simulated\n"
    )
    parts = [
        columns(
            (_heading(model), "before", "fitted", "95 % low", "95 % high", "from"),
            [_row(estimate, found, model) for estimate in fit.estimates],
        ),
        rank,
        "combinations of parameters, scaled to their ranges\n"
        + columns(
            ("the data", "singular value", "combination"),
            [_direction(direction, model) for direction in fit.directions],
            left=3,
        ),
    ]
    parts += [numbers(found)]
    parts += [_profile(profile) for profile in found.profiles]
    return "\n".join(parts)


def stages(found: Mapping[str, Calibration]) -> str:
    """One report a stage, and where there are several their fits side by side."""
    if len(found) == 1:
        return calibration(next(iter(found.values())))
    parts = [f"stage {name}\n{calibration(one)}" for name, one in found.items()]
    return "\n".join([*parts, _side_by_side(found)])


def as_json(scenario: str, found: Mapping[str, Calibration]) -> str:
    """A document `simnet.calibration/1`: one entry a stage."""
    fits = [{"stage": name, **_document(one)} for name, one in found.items()]
    document = {"schema": "simnet.calibration/1", "scenario": scenario, "fits": fits}
    return json.dumps(document, indent=2)


def _document(found: Calibration) -> dict[str, Any]:
    return {
        "messages": list(found.messages),
        "parameters": [
            {**asdict(estimate), "before": found.base[estimate.name].value}
            for estimate in found.fit.estimates
        ],
        "rank": found.fit.rank,
        "sigma": found.fit.sigma,
        "directions": [asdict(direction) for direction in found.fit.directions],
        "numbers": [asdict(number) for number in found.numbers()],
        "profiles": [asdict(profile) for profile in found.profiles],
    }


def numbers(found: Calibration) -> str:
    """Every number that was fitted to, measured and as the fitted model has it."""
    note = ""
    if found.messages:
        note = (
            f"# means over {', '.join(found.messages)}, plus what they lacked to those over all"
            " sizes before the fit\n"
        )
    return note + columns(
        ("id", "key", "measured", "fitted", "error"),
        [
            (n.id, n.key, f"{n.measured:.6g}", f"{n.predicted:.6g}", _error(n))
            for n in found.numbers()
        ],
        left=2,
    )


def _error(number: Fitted) -> str:
    return f"{number.predicted / number.measured - 1:+.1%}" if number.measured else "-"


def _side_by_side(found: Mapping[str, Calibration]) -> str:
    estimates = {
        name: {estimate.name: estimate for estimate in one.fit.estimates}
        for name, one in found.items()
    }
    parameters = dict.fromkeys(name for by_name in estimates.values() for name in by_name)
    model = _model(parameters)
    errors = {
        name: {(n.id, n.key): _error(n) for n in one.numbers()} for name, one in found.items()
    }
    keys = dict.fromkeys(key for by_key in errors.values() for key in by_key)
    return "\n".join(
        [
            columns(
                (_heading(model), *(f"stage {name}" for name in found)),
                [
                    (p.removeprefix(model), *(_interval(of.get(p)) for of in estimates.values()))
                    for p in parameters
                ],
            ),
            columns(
                ("id", "key", *(f"stage {name}" for name in found)),
                [(*key, *(of.get(key, "-") for of in errors.values())) for key in keys],
                left=2,
            ),
        ]
    )


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    if not estimate.identified:
        return f"{estimate.value:.6g} (not fixed)"
    return f"{estimate.value:.6g} ({estimate.low:.6g} to {estimate.high:.6g})"


def _model(names: Iterable[str]) -> str:
    """The model that all parameters belong to, with its dot; empty where there are several."""
    models = {name.partition(".")[0] for name in names}
    return f"{models.pop()}." if len(models) == 1 else ""


def _heading(model: str) -> str:
    return f"parameter of {model.rstrip('.')}" if model else "parameter"


def _row(estimate: Estimate, found: Calibration, model: str) -> tuple[str, ...]:
    return (
        estimate.name.removeprefix(model),
        str(found.base[estimate.name].value),
        f"{estimate.value:.6g}",
        f"{estimate.low:.6g}",
        f"{estimate.high:.6g}",
        "the data" if estimate.identified else "its source: unidentified",
    )


def _direction(direction: Direction, model: str) -> tuple[str, ...]:
    weights = sorted(direction.weights.items(), key=lambda item: -abs(item[1]))
    return (
        "fix" if direction.identified else "don't fix",
        f"{direction.singular_value:.4g}",
        " ".join(f"{w:+.2f} {n.removeprefix(model)}" for n, w in weights if abs(w) >= _SHOWN),
    )


def _profile(profile: Profile) -> str:
    return f"profile of {profile.name}, the others refitted\n" + columns(
        ("value", "sum of squared residuals"),
        [
            (f"{value:.6g}", f"{objective:.6g}")
            for value, objective in zip(profile.values, profile.objective, strict=True)
        ],
    )
