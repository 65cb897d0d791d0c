"""CPUs that sleep deeply or run slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.diagnose.rule import Action, Clear, Hit, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.rule import Found

__all__ = ["RULES"]

_DEEP_US: Final = 80
_CAPPED: Final = 0.9


def _deep(evidence: Evidence) -> Iterator[Found]:
    states = evidence.of("idle", "latency")
    worst = max(states, key=lambda fact: fact.value, default=None)
    if worst is None:
        return
    said = f"{worst.subject} takes {worst.text} to leave"
    limited = evidence.said("cmdline", r"(intel_idle|processor)\.max_cstate")
    if worst.value >= _DEEP_US and not limited and not worst.file.startswith("/"):
        action = Action("cpupower idle-set -D 20", "cpupower idle-set -E")
        yield Hit("", (worst,), said, 33, "possible", (action,))
    else:
        yield Clear(worst, said)


def _governor(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("clock", "governor")[:1]:
        if fact.text in {"powersave", "conservative", "ondemand"}:
            action = Action(
                "cpupower frequency-set -g performance", f"cpupower frequency-set -g {fact.text}"
            )
            said = f"governor {fact.text}"
            yield Hit("", (fact,), said, 24, "possible", (action,))
        else:
            yield Clear(fact, f"governor {fact.text}")


def _capped(evidence: Evidence) -> Iterator[Found]:
    policy = evidence.last("clock", "policy")
    most = evidence.last("clock", "hardware")
    if policy and most and policy.value < _CAPPED * most.value:
        said = f"the clock is limited to {policy.text} of {most.text}"
        yield Hit("", (policy, most), said, 52, "likely")
    elif policy and most:
        yield Clear(policy, f"the clock may be {policy.text}")


RULES: Final = (
    Rule(
        "deep-idle",
        "CPU",
        "CPUs sleep deeply and wake up late {subject}",
        "cpupower idle-info, cpuidle/state*/latency",
        "80 us: at 10 Gbit/s some 70 full or 1,200 small packets arrive in that time",
        "A CPU that sleeps takes that long to serve an interrupt: a small ring overflows meanwhile,"
        " and each request that comes alone is late.",
        "Forbid deep states (cpupower, tuned's network-latency, /dev/cpu_dma_latency), or widen"
        " the ring.",
        "Linux Documentation/admin-guide/pm/cpuidle.rst",
        _deep,
    ),
    Rule(
        "slow-governor",
        "CPU",
        "The clock of CPUs rises late {subject}",
        "cpupower frequency-info, scaling_governor",
        "possible: any governor but performance",
        "The clock follows the load: after a pause the first packets are served slowly.",
        "Use the performance governor while latency matters.",
        "Linux Documentation/admin-guide/pm/cpufreq.rst",
        _governor,
    ),
    Rule(
        "clock-capped",
        "CPU",
        "The clock of CPUs is limited {subject}",
        "cpupower frequency-info, scaling_max_freq and cpuinfo_max_freq",
        "less than 90 % of what the CPU can",
        "A policy of the system or its firmware keeps CPUs slow: all work takes longer.",
        "Raise the limit (cpupower frequency-set -u), look at the firmware's power profile.",
        "Linux Documentation/admin-guide/pm/cpufreq.rst, scaling_max_freq",
        _capped,
    ),
)
