"""What a key-value server's CPUs and queues did: counters, and what a result says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from simnet.rows import Percent, Rate, Row, Shown
from simnet.scenario.core.subject import Column
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot

_MODES: Final = ("user", "system", "softirq", "idle")


@dataclass(frozen=True)
class KeyValueCounts:
    """Cumulative counters."""

    interrupts: int  # of the port's queues
    # of all NAPI instances, also of the machine's other devices, by softirqs and by processes
    polls: int
    poll_packets: int
    polls_empty: int
    # of the workers in epoll_wait
    waits: int
    events: int
    sleeps: int
    # time of the workers' CPUs as this kernel's tick counts it, see `KeyValueUse`
    user_ps: int
    system_ps: int
    softirq_ps: int
    idle_ps: int


class KeyValueUse(Row):
    """Rates of a key-value server's port, and CPU time of its workers' CPUs as `sar -u` says it.

    On a kernel that does not account interrupts apart, a tick that falls into a hard interrupt is
    seen in the softirq that follows. Idle time is exact, the way into and out of idle included;
    the switch to a process that ends it is in no column, so columns are shares of their sum.
    """

    interrupts_per_s: Annotated[Rate, Shown("irq/s")]
    polls_per_s: Annotated[Rate, Shown("polls/s")]
    packets_per_poll: Annotated[Rate, Shown("pkt/poll", 2)]
    empty_polls_per_s: Rate
    events_per_wait: Annotated[Rate, Shown("events/wait", 2)]
    sleeps_per_s: Annotated[Rate, Shown("sleeps/s")]
    user: Annotated[Percent, Shown("%usr", 2)]
    system: Annotated[Percent, Shown("%sys", 2)]
    softirq: Annotated[Percent, Shown("%soft", 2)]
    idle: Annotated[Percent, Shown("%idle", 2)]


def _use(start: Snapshot, end: Snapshot) -> KeyValueUse | None:
    """Rates and shares between two snapshots; None for another system."""
    more = end.grown(start, "key_value")
    if more is None:
        return None
    elapsed_ps = end.time_ps - start.time_ps

    def per_s(name: str) -> float:
        return more[name] * PS_PER_S / elapsed_ps

    # A tick counts as a whole one: over less than that, idle time would have to give some back.
    times = {mode: max(more[f"{mode}_ps"], 0) for mode in _MODES}
    total = max(sum(times.values()), 1)
    return KeyValueUse(
        interrupts_per_s=per_s("interrupts"),
        polls_per_s=per_s("polls"),
        packets_per_poll=more["poll_packets"] / max(more["polls"], 1),
        empty_polls_per_s=per_s("polls_empty"),
        events_per_wait=more["events"] / max(more["waits"], 1),
        sleeps_per_s=per_s("sleeps"),
        **{mode: 100 * time / total for mode, time in times.items()},
    )


COLUMNS: Final = (
    Column("key_value", KeyValueUse | None, "of a key-value server", _use, default=None, order=60),
)
