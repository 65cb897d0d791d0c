"""Idle states that take long to leave, off."""

from collections.abc import Iterator

from simnet.host.release import release
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.subject import Proposal
from simnet.scenario.parts.idle_states.build import make_idle_states
from simnet.scenario.parts.idle_states.knobs import LIMIT
from simnet.time_units import PS_PER_US


def proposals(effective: Effective) -> Iterator[Proposal]:
    """Of a host whose CPUs use a deeper state, what leaves them the one that is left soonest."""
    host = effective.host
    states = make_idle_states(host.seen[1], host.kernel)
    known = release(host.kernel.version) >= release(LIMIT.since)
    if states is None or not states.deep_exit_ps or not known:
        return
    above_us = states.shallow_exit_ps // PS_PER_US + 1
    yield Proposal(
        "no-deep-idle",
        "CPUs halt, and never sleep deeper: they wake up sooner, and take more power",
        ((LIMIT.name, str(above_us)),),
    )
