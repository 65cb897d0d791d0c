"""The master of a relay: which worker gets which connection, and how unequal connections are.

nginx's workers accept for themselves; a master that hands descriptors over (SCM_RIGHTS) can count
them, but does not know how much each will send. Connections are long-lived, so the choice is made
once, and the worker that got the busiest ones stays the busiest. `balanced` is the ideal that no
master reaches: one that knows all rates beforehand.

Rates of flows are skewed, less than their sizes (Zhang, Breslau, Paxson, Shenker: On the
characteristics and origins of Internet flow rates, SIGCOMM 2002), and for such numbers a log-normal
distribution is usually sufficient (Downey: Lognormal and Pareto distributions in the Internet,
Computer Communications 28, 2005).
"""

from __future__ import annotations

from decimal import Context, Decimal
from math import exp
from statistics import NormalDist
from typing import TYPE_CHECKING

from simnet.kernel.watch import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.kernel.random import RandomStream

HAND_OUT = ("balanced", "round_robin", "random")
_SCALE = 10**9
_DIGITS = Context(prec=20)
_FRACTION_BITS = 40
_EXPONENTIAL_OFF = 1e-12


def assign_connections(
    method: str, weights: Sequence[int], workers: int, stream: RandomStream
) -> list[int]:
    """Return the worker of each connection.

    Args:
        method: of `HAND_OUT`; `balanced` gives the busiest connection that is left to the worker
            with the least to do (longest processing time first).
        weights: of the connections, in proportion to their rates.
        workers: how many there are.
        stream: random numbers, for `random`.

    Raises:
        ValueError: there is no such method, or no worker.
    """
    if method not in HAND_OUT or workers < 1:
        raise ValueError(f"expected one of {', '.join(HAND_OUT)} and a worker, found {method}")
    if method == "round_robin":
        return [number % workers for number in range(len(weights))]
    if method == "random":
        return [int(stream.below(workers)) for _ in weights]
    chosen = [0] * len(weights)
    loads = [0] * workers
    for number in sorted(range(len(weights)), key=lambda n: (-weights[n], n)):
        chosen[number] = loads.index(min(loads))
        loads[chosen[number]] += weights[number]
    return chosen


def lognormal_weights(count: int, sigma: float, stream: RandomStream) -> list[int]:
    """Draw the connections' weights: exp(sigma * z), z standard normal, times 10**9.

    With `sigma` 0 all are equal. z is rounded to nine places before the exponential is taken, so
    that the last bit of a platform's logarithm does not matter.

    Raises:
        ValueError: `sigma` is negative or above 4.
    """
    if not 0 <= sigma <= 4:  # noqa: PLR2004 - beyond, one connection has nearly all
        raise ValueError(f"expected a sigma from 0 to 4, found {sigma}")
    normal = NormalDist()
    weights = []
    for _ in counted("rates of relay.connections", count):
        uniform = 2 * int(stream.below(1 << _FRACTION_BITS)) + 1
        z = f"{normal.inv_cdf(uniform / (1 << (_FRACTION_BITS + 1))):.9f}"
        weights.append(max(1, _grown(sigma, z)))
    return weights


def _grown(sigma: float, z: str) -> int:
    """10**9 times exp(sigma * z), rounded down.

    Decimal arithmetic takes ten times as long, and is needed only where the whole number is in
    doubt: no platform's exponential is off by more than a part in 10**12.
    """
    value = exp(sigma * float(z)) * _SCALE
    doubt = value * _EXPONENTIAL_OFF
    if int(value - doubt) == int(value + doubt):
        return int(value)
    grown = _DIGITS.exp(_DIGITS.multiply(Decimal(repr(sigma)), Decimal(z)))
    return int(_DIGITS.multiply(grown, Decimal(_SCALE)))
