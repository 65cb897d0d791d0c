"""What Linux changed in softirqs and in receiving under them, and with which version.

Each rule is a constant of a machine; `softirq_rules` looks up those of a kernel. Source:
net/core/dev.c `net_rx_action` and kernel/softirq.c `__do_softirq`, `invoke_softirq` of 2.6.18,
2.6.32 (RHEL 6.1) and 6.x, and the commits' messages for the versions between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simnet.host.release import release

_MS_PS: Final = 10**9


@dataclass(frozen=True)
class SoftirqRules:
    """Which rules hold; the defaults are those of 2.6.18."""

    # a poll may take the device's weight whatever is left of the round's budget
    # (`napi_struct`); else what is left of quota and budget
    weight_each_poll: bool = False
    # `MAX_SOFTIRQ_TIME`, after which ksoftirqd takes over even if rounds are left; 0 for no
    # limit
    restart_time_ps: int = 0
    # a process that should run has ksoftirqd take over after the round
    stops_for_processes: bool = False
    polls_once: bool = False  # a device is polled at most once a round
    # `netdev_budget_usecs`, the length of a round, instead of a number of jiffies; 0 for the
    # number
    budget_time_ps: int = 0
    thread_first: bool = False  # while ksoftirqd is runnable, interrupts leave softirqs to it


def softirq_rules(version: str) -> SoftirqRules:
    """Rules of a version of Linux.

    Args:
        version: upstream version, as in 2.6.32.

    Raises:
        InputError: `version` is no version.
    """
    number = release(version)
    limited = number >= (3, 9)
    return SoftirqRules(
        weight_each_poll=number >= (2, 6, 24),
        restart_time_ps=2 * _MS_PS if limited else 0,
        stops_for_processes=limited,
        polls_once=number >= (3, 19),
        budget_time_ps=2 * _MS_PS if number >= (4, 12) else 0,
        # from "softirq: Let ksoftirqd do its job" to its revert
        thread_first=(4, 9) <= number < (6, 5),
    )
