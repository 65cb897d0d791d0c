"""Which flows an answer lists: all of a few, and three of many."""

from collections.abc import Sequence
from typing import Final

from simnet.study.run.rows import FlowRates

# so many are listed one by one
_MOST: Final = 32


def telling(flows: Sequence[FlowRates]) -> tuple[Sequence[FlowRates], str]:
    """Return the flows to list, and which of how many they are; nothing where they are all."""
    if len(flows) <= _MOST:
        return flows, ""
    ranked = sorted(flows, key=lambda flow: flow.transactions_per_s or flow.goodput_bps)
    shown = (ranked[0], ranked[len(ranked) // 2], ranked[-1])
    return shown, f"the slowest of {len(flows):,} flows, the middle one and the fastest"
