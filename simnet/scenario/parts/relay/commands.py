"""What the relay's own configuration has to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.commands.together import Together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.relay.schema import Relay


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield how the relay is to be set up, if a tuning changes it."""
    if base.relay and tuned.relay and base.relay != tuned.relay:
        yield Together(last=_workers(tuned.relay), last_undo=_workers(base.relay))


def _workers(relay: Relay) -> tuple[str, ...]:
    """Return what the relay's own configuration has to say, which no command can."""
    where = (
        "worker k on CPU k" if relay.placement == "pinned" else "workers where the kernel puts them"
    )
    how = f"connections handed out {relay.balance.replace('_', '-')}"
    return (f"# the relay: {relay.workers} workers, {where}, {how}",)
