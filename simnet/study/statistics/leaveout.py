"""Leaves out some rows at a time of a linear least-squares fit, and predicts them from the others.

The model is linear around a start: `deviation - jacobian @ change` is what a change of the
parameters leaves of how far measurements are from predictions. Parameters are scaled to their
ranges and stay inside them. What the rows do not determine is kept where it starts by a weak prior:
half of the range is one standard deviation, beside `error` of a row. Each fit is made from scratch.

Source: ridge regression as a Gaussian prior, Hoerl and Kennard, Technometrics 12 (1970) 55; bounds
by Branch, Coleman and Li's method (`scipy.optimize.lsq_linear`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from simnet.study.statistics.leastsquares import Vector

# of a row, relative: what models of this kind leave over where they are fitted
ERROR: Final = 0.05
_PRIOR: Final = 0.5
# of the spread of a prediction: what a fit leaves that says what is predicted
_LEFT: Final = 0.5


@dataclass(frozen=True)
class Linear:
    """Measurements beside a linear model of them."""

    deviation: Vector  # by row, the logarithm of measured over predicted at the start
    # by row and parameter, what crossing the parameter's range adds to a prediction
    jacobian: Vector
    start: Vector  # of the parameters: 0 at the lower end of the range, 1 at the upper
    error: float = ERROR  # of a row

    def fitted(self, rows: Sequence[int]) -> Vector:
        """Return the change of the parameters that fits some rows best."""
        count = len(self.start)
        if not count:
            return np.zeros(0)
        from scipy.optimize import lsq_linear

        left = np.vstack([self.jacobian[list(rows)] / self.error, np.eye(count) / _PRIOR])
        right = np.concatenate([self.deviation[list(rows)] / self.error, np.zeros(count)])
        bounds = (np.minimum(-self.start, 0.0) - 1e-12, np.maximum(1.0 - self.start, 0.0) + 1e-12)
        return np.asarray(lsq_linear(left, right, bounds=bounds).x)

    def says(self, row: int, others: Sequence[int]) -> bool:
        """Whether a fit to other rows says what a row is.

        It does not where it leaves more than half of what the parameters' ranges do, and more than
        the error of a row: then the start says it, which may have been fitted to that very row.
        """
        left = self.jacobian[list(others)] / self.error
        precision = left.T @ left + np.eye(len(self.start)) / _PRIOR**2
        moves = self.jacobian[row]
        before = _PRIOR * float(np.linalg.norm(moves))
        after = math.sqrt(max(float(moves @ np.linalg.solve(precision, moves)), 0.0))
        return after <= max(_LEFT * before, self.error)
