"""CPUs that sleep deeply or run slowly."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import logged
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

_DEEP_US: Final = 80
_CAPPED: Final = 0.9
# percent of the time, and of the nominal clock
_BUSY: Final = 50
_HELD: Final = 0.8


def _deep(evidence: Evidence) -> Iterator[Found]:
    states = evidence.of("idle", "latency")
    worst = max(states, key=lambda fact: fact.value, default=None)
    if worst is None:
        yield from _slept(evidence)
        return
    said = f"{worst.subject} takes {worst.text} to leave"
    limited = evidence.said("cmdline", r"(intel_idle|processor)\.max_cstate|idle")
    if worst.value >= _DEEP_US and not limited and not worst.file.startswith("/"):
        action = Action(
            "cpupower idle-set -D 20", "cpupower idle-set -E", "cpupower idle-set -D=20"
        )
        yield Hit("", (worst,), said, 33, "possible", (action,))
    else:
        yield Clear(worst, said)


def _slept(evidence: Evidence) -> Iterator[Found]:
    """Look at names where no latency is told: from C6 on a core is switched off."""
    deep = evidence.of("turbo", r"CPU%c([6-9]|10)|C([6-9]|10)\w*%")
    most = max(deep, key=lambda fact: fact.value, default=None)
    if most is None:
        return
    said = f"{most.subject} spends {most.text} of its time in {most.name.strip('%')}"
    if most.value >= _BUSY:
        action = Action("cpupower idle-set -D 20", "cpupower idle-set -E")
        yield Hit("", (most,), said, 31, "possible", (action,))
    else:
        yield Clear(most, said)


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


def _source(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("sysfs", r".*/current_clocksource"):
        if fact.text == "xen":
            said = "current_clocksource xen: without the help of the vDSO on many instances"
            yield Hit("", (fact,), said, 36, "possible")
        elif fact.text in {"hpet", "acpi_pm", "jiffies", "refined-jiffies"}:
            yield Hit("", (fact,), f"current_clocksource {fact.text}", 46, "likely")
        else:
            yield Clear(fact, f"current_clocksource {fact.text}")
    pattern = (
        r"clocksource: Switched to clocksource (?:hpet|acpi_pm)"
        r"|Marking clocksource '?tsc'? (?:as )?unstable"
        r"|Marking TSC unstable"
    )
    yield from logged(pattern, weight=46, sure="likely")(evidence)


def _busy_slow(evidence: Evidence) -> Iterator[Found]:
    """A CPU that is busy and has less than its nominal clock is held down."""
    rows = [fact for fact in evidence.of("turbo", "Bzy_MHz") if fact.value]
    told = {(fact.line, fact.name): fact for fact in evidence.of("turbo", "TSC_MHz|Busy%")}
    slow = []
    for fact in rows:
        base, busy = (told.get((fact.line, name)) for name in ("TSC_MHz", "Busy%"))
        held = base is not None and fact.value < _HELD * base.value
        if base and busy and busy.value >= _BUSY and held:
            slow.append((fact, base))
    if slow:
        fact, base = min(slow, key=lambda one: one[0].value / one[1].value)
        said = f"{fact.subject} is busy at {fact.text} of {base.text}"
        yield Hit("", (fact, base), said, 56, "likely")
    elif rows:
        yield Clear(rows[0], f"busy at {rows[0].text}")


def _capped(evidence: Evidence) -> Iterator[Found]:
    policy = evidence.last("clock", "policy")
    most = evidence.last("clock", "hardware")
    if policy and most and policy.value < _CAPPED * most.value:
        said = f"the clock is limited to {policy.text} of {most.text}"
        yield Hit("", (policy, most), said, 52, "likely")
    elif policy and most:
        yield Clear(policy, f"the clock may be {policy.text}")
    yield from _busy_slow(evidence)


RULES: Final = (
    Rule(
        "deep-idle",
        "CPU",
        "CPUs sleep deeply and wake up late {subject}",
        "cpupower idle-info, cpuidle/state*/latency; turbostat",
        "80 us, or half of the time in C6 and beyond: at 10 Gbit/s some 70 full or 1,200 small"
        " packets arrive in that time",
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
        "clock-source",
        "CPU",
        "Asking for the time is slow {subject}",
        "current_clocksource; the kernel's log",
        "always: hpet or acpi_pm in place of tsc, kvm-clock or arch_sys_counter; possible: xen",
        "The kernel does not trust the CPU's counter, so each time stamp reads a register of the"
        " chipset: a microsecond and a lock, several times for a packet.",
        "Look why the TSC was given up (firmware, a guest that moved); tsc=reliable if it is known"
        " to be good.",
        "Linux Documentation/virt/kvm/x86/timekeeping.rst; kernel/time/clocksource.c",
        _source,
    ),
    Rule(
        "clock-capped",
        "CPU",
        "The clock of CPUs is limited {subject}",
        "cpupower frequency-info, scaling_max_freq and cpuinfo_max_freq; turbostat",
        "less than 90 % of what the CPU can; or busy at less than 80 % of the nominal clock",
        "A policy of the system or its firmware keeps CPUs slow: all work takes longer.",
        "Raise the limit (cpupower frequency-set -u), look at the firmware's power profile.",
        "Linux Documentation/admin-guide/pm/cpufreq.rst, scaling_max_freq",
        _capped,
    ),
)
