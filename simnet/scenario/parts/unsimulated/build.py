"""Refuses to build: what is asked for is not simulated."""

from typing import Any, NoReturn

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> NoReturn:  # noqa: ARG001 - as all builders
    """Raise what the load is, and why there is no simulation of it.

    Raises:
        InputError: always.
    """
    given = effective.unsimulated
    if given is None:
        message = "a configuration without a load that is not simulated"
        raise ValueError(message)
    raise InputError(
        f"this load cannot be simulated: {given.what}: {given.why}; simnet import --workload stream"
        " puts streams of TCP in its place",
        file=effective.provenance["workload.test"].source,
        key="workload",
    )
