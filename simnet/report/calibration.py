"""What a fit found, and what the data can't tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.report.columns import columns

if TYPE_CHECKING:
    from simnet.study.calibrate import Calibration
    from simnet.study.leastsquares import Direction, Estimate, Profile


def calibration(found: Calibration) -> str:
    """Parameters with intervals, combinations that the data fix or don't, profiles."""
    fit = found.fit
    rank = (
        f"rank of the Jacobian: {fit.rank} of {len(fit.estimates)}; one residual is "
        f"{fit.sigma:.2%} (relative, standard deviation); {fit.evaluations} points simulated\n"
    )
    parts = [
        columns(
            ("parameter", "before", "fitted", "95 % low", "95 % high", "from"),
            [_row(estimate, found) for estimate in fit.estimates],
        ),
        rank,
        "combinations of parameters, scaled to their ranges\n"
        + columns(
            ("the data", "singular value", "combination"),
            [_direction(direction) for direction in fit.directions],
            left=1,
        ),
    ]
    parts += [_profile(profile) for profile in found.profiles]
    return "\n".join(parts)


def _row(estimate: Estimate, found: Calibration) -> tuple[str, ...]:
    return (
        estimate.name,
        str(found.base[estimate.name].value),
        f"{estimate.value:.6g}",
        f"{estimate.low:.6g}",
        f"{estimate.high:.6g}",
        "the data" if estimate.identified else "its source: unidentified",
    )


def _direction(direction: Direction) -> tuple[str, ...]:
    weights = sorted(direction.weights.items(), key=lambda item: -abs(item[1]))
    return (
        "fix" if direction.identified else "don't fix",
        f"{direction.singular_value:.4g}",
        " ".join(f"{weight:+.2f} {name}" for name, weight in weights),
    )


def _profile(profile: Profile) -> str:
    return f"profile of {profile.name}, the others {profile.others}\n" + columns(
        ("value", "sum of squared residuals"),
        [
            (f"{value:.6g}", f"{objective:.6g}")
            for value, objective in zip(profile.values, profile.objective, strict=True)
        ],
    )
