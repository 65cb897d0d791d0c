"""CPUs: taken away by a hypervisor or a limit, asleep, too hot; and offloads that save them."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import tool
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import logged, percent
from simnet.diagnose.rule import Clear, Found, Hit, Rule
from simnet.diagnose.vectors import alone

# percent of a CPU that a test takes: all of it but its waits; no more than one thread can
_FILLED: Final = 90
_ONE_THREAD: Final = 105
# times that it was too hot, and a line of it
_EVENTS: Final = re.compile(r"\(total events = (\d{1,9})\)")
_FEWEST_HOT: Final = 3
_OFTEN_HOT: Final = 100
_LONGEST: Final = 110
# bits of get_throttled: the voltage is low, the clock is lowered
_LOW_NOW: Final = 1 << 0 | 1 << 2


def _steal(evidence: Evidence) -> Iterator[Found]:
    found = evidence.of("cpu", "steal")
    if not found:
        return
    mean = sum(fact.value for fact in found) / len(found)
    worst = max(found, key=lambda fact: fact.value)
    if mean >= 5 or worst.value >= 20:  # noqa: PLR2004 - a twentieth of the time, or a fifth at once
        said = f"%steal {worst.shown} on {worst.subject}, {mean:.1f} % on average"
        sure = "certain" if mean >= 10 else "likely"  # noqa: PLR2004 - a tenth
        yield Hit(worst.subject, (worst,), said, min(50 + mean, 85), sure)
    else:
        yield Clear(worst, f"%steal at most {worst.shown}")


def _throttled(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("cgroup", "nr_throttled"):
        fact = series.last
        periods = evidence.value("cgroup", "nr_periods", fact.subject) or 0.0
        share = fact.value / periods if periods else 0.0
        said = f"nr_throttled {fact.shown}"
        said += f" of {periods:,.0f} periods, {percent(share)}" if periods else ""
        if fact.value >= 10 and (share >= 0.05 or not periods):  # noqa: PLR2004 - a period is 100 ms: it is felt
            yield Hit(fact.subject, (fact,), said, 55 + 30 * min(share, 1), "certain")
        else:
            yield Clear(fact, said)


def _heated(evidence: Evidence) -> Iterator[Found]:
    """Look for clocks lowered by heat; each line says how often it was in all."""
    lines = evidence.logged(
        r"CPU\d+: .*(?:temperature|Core|Package).* above threshold, cpu clock (?:is )?throttled"
    )
    counts = [int(found[1]) for one in lines if (found := _EVENTS.search(one.text))]
    often = max([len(lines), *counts])
    if often < _FEWEST_HOT:
        return
    worst = max(lines, key=lambda one: int((_EVENTS.search(one.text) or ("", "0"))[1]))
    said = f"the clock was lowered {often:,} times: {worst.text[:_LONGEST]}"
    weight = 58 if often >= _OFTEN_HOT else 50
    yield Hit("", (worst, *[one for one in lines if one != worst][:2]), said, weight, "likely")


def _weak_supply(evidence: Evidence) -> Iterator[Found]:
    said_by = r"(?:hwmon\S*: |rpi_volt\S*: )?[Uu]nder-?voltage detected"
    yield from logged(said_by, at_least=_FEWEST_HOT, weight=62, sure="likely")(evidence)
    for fact in evidence.of("clock", "get_throttled"):
        if int(fact.value) & _LOW_NOW:
            yield Hit("", (fact,), f"get_throttled {fact.text}: now", 64, "certain")
        elif not int(fact.value):
            yield Clear(fact, "the voltage was never low")


def _pinned(evidence: Evidence) -> Iterator[Found]:
    """One CPU is full with a program, all others are idle."""
    busy = {}
    for fact in evidence.of("cpu", "idle"):
        if fact.subject != "all":
            busy[fact.subject] = fact
    full = [fact for fact in busy.values() if fact.value <= 3]  # noqa: PLR2004 - nothing left
    idle = [fact for fact in busy.values() if fact.value >= 50]  # noqa: PLR2004 - plenty left
    for fact in full[:1]:
        own = evidence.value("cpu", "usr", fact.subject) or 0.0
        system = evidence.value("cpu", "sys", fact.subject) or 0.0
        soft = evidence.value("cpu", "soft", fact.subject) or 0.0
        if own + system > max(soft, 50) and len(idle) * 2 >= len(busy) and len(busy) > 1:
            said = f"{fact.subject} is {100 - fact.value:.0f} % busy, {len(idle)} of {len(busy)}"
            said += " CPUs are mostly idle"
            yield Hit(fact.subject, (fact,), said, 50, "likely")


def _idle_states(evidence: Evidence) -> Iterator[Found]:
    """A job of one request at a time sleeps and wakes for each."""
    for depth in evidence.of("fio", "iodepth"):
        jobs = evidence.value("fio", "numjobs", depth.subject)
        if depth.value == 1 and (jobs or 1) == 1 and not evidence.of("fio", "hipri", depth.subject):
            device = evidence.said("fio", "filename", depth.subject)
            said = f"iodepth 1 and one job{' on ' + device if device else ''}: rate = 1 / latency"
            facts = [depth, *evidence.of("fio", "numa_cpu_nodes", depth.subject)[:1]]
            yield Hit(device, tuple(facts), said, 36, "possible")


def _test(evidence: Evidence) -> Iterator[Found]:
    """A test program of one thread cannot take more than one CPU."""
    for fact in evidence.of("test cpu", "here|there"):
        if fact.value >= _FILLED:
            where = "this" if fact.name == "here" else "the other"
            said = f"the test took {fact.text} of a CPU at {where} end"
            sure = "likely" if fact.value <= _ONE_THREAD else "possible"
            yield Hit("", (fact,), said, 54, sure)
        else:
            yield Clear(fact, f"the test took {fact.text} of a CPU")


def _gro(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("offload", "generic-receive-offload"):
        if fact.text.startswith("off") and "[fixed]" not in fact.text:
            action = tool("-K", fact.subject, "gro", "on", "off")
            said, busy = f"{fact.name}: {fact.text}", alone(evidence)
            if busy is None:
                yield Hit(fact.subject, (fact,), said, 32, "possible", (action,))
            else:
                said += f", and %soft {busy.shown} on {busy.subject}"
                yield Hit(fact.subject, (fact, busy), said, 73, "likely", (action,))


def _sending(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("offload", "tcp-segmentation-offload|scatter-gather|tx-checksumming"):
        if fact.text.startswith("off") and "[fixed]" not in fact.text:
            name = {"tcp": "tso", "sca": "sg", "tx-": "tx"}[fact.name[:3]]
            action = tool("-K", fact.subject, name, "on", "off")
            yield Hit(fact.subject, (fact,), f"{fact.name}: {fact.text}", 26, "possible", (action,))


def _lro(evidence: Evidence) -> Iterator[Found]:
    forward = evidence.last("sysctl", "net.ipv4.ip_forward")
    for fact in evidence.of("offload", "large-receive-offload"):
        if fact.text.startswith("on") and forward and forward.text == "1":
            said = "large-receive-offload: on with net.ipv4.ip_forward = 1"
            action = tool("-K", fact.subject, "lro", "off", "on")
            yield Hit(fact.subject, (fact, forward), said, 55, "likely", (action,))


RULES: Final = (
    Rule(
        "steal",
        "hypervisor",
        "The hypervisor gives the time of {subject} to others",
        "%steal of mpstat, sar, top, vmstat",
        "5 % on average, or 20 % of one CPU",
        "The guest was ready to run and was not let: everything is late, rings overflow.",
        "Fewer guests on the host, CPUs of its own, a larger or unlimited instance.",
        "Linux Documentation/filesystems/proc.rst, steal",
        _steal,
        outside=True,
    ),
    Rule(
        "ready",
        "hypervisor",
        "The hypervisor lets the guest wait for a CPU",
        "words of a description: %RDY of esxtop, in percent",
        "5 %: VMware's own advice",
        "The guest was ready to run and was not let, which it cannot see: answers take many"
        " milliseconds now and then, though its CPUs look idle.",
        "Fewer virtual CPUs than the host has cores, reservations, latency sensitivity high.",
        "VMware, Performance Best Practices for vSphere, CPU considerations",
        logged(
            r"(?i)%RDY\W{0,3}(?:(?:is|of|at|about) )?(?:[5-9]|[1-9]\d)", weight=62, sure="likely"
        ),
        outside=True,
    ),
    Rule(
        "throttled",
        "cgroup",
        "A CPU limit stops the processes of {subject}",
        "nr_throttled of cpu.stat",
        "5 % of the periods",
        "A group has used its quota and stands still until the next period, up to 100 ms.",
        "Raise or remove the limit (cpu.max, Kubernetes' limits.cpu), use fewer threads.",
        "Linux Documentation/scheduler/sched-bwc.rst",
        _throttled,
        outside=True,
    ),
    Rule(
        "one-cpu-full",
        "application",
        "{subject} is full with one program, the others are idle",
        "mpstat -P ALL, top",
        "one CPU 97 % busy, half of the others at most half busy",
        "One thread is the limit: neither card nor network.",
        "More threads or processes; see what it does (perf top).",
        "man mpstat",
        _pinned,
    ),
    Rule(
        "idle-states",
        "CPU",
        "Each request waits for a CPU to wake up {subject}",
        "job files of fio",
        "possible: depth 1, one job, no polling",
        "With one request at a time the CPU sleeps during each: leaving an idle state takes up to"
        " 100 us, more than the drive. A busier node is faster then; NUMA distance is 0.1 us.",
        "Compare with /dev/cpu_dma_latency held at 0 or idle states off (cpupower idle-set -D 2),"
        " and with the performance governor.",
        "Linux Documentation/admin-guide/pm/cpuidle.rst",
        _idle_states,
    ),
    Rule(
        "hot",
        "CPU",
        "The CPU slows down as it is too hot {subject}",
        "the kernel's log",
        "3 times, by lines or by the count in them",
        "The clock is lowered until it is cooler.",
        "Look at fans, dust and the power limit.",
        "Linux Documentation/admin-guide/thermal/; arch/x86/kernel/cpu/mce/therm_throt.c",
        _heated,
        outside=True,
    ),
    Rule(
        "low-voltage",
        "CPU",
        "The power supply is too weak, so clocks are lowered {subject}",
        "the kernel's log; vcgencmd get_throttled of a Raspberry Pi",
        "3 times in a log, or now (bits 0 and 2)",
        "The voltage falls under load: CPU, USB and network become slow together.",
        "A stronger supply and a shorter cable; fewer devices that take power from it.",
        "Linux drivers/hwmon/raspberrypi-hwmon.c; man vcgencmd, get_throttled",
        _weak_supply,
        outside=True,
    ),
    Rule(
        "lockup",
        "CPU",
        "A CPU was stuck in the kernel {subject}",
        "the kernel's log",
        "always",
        "No softirq and no process ran on it for seconds: a defect, or the hypervisor stopped it.",
        "Read what the log says it was doing; in a guest look at steal.",
        "Linux Documentation/admin-guide/lockup-watchdogs.rst",
        logged(
            r"soft lockup - CPU#\d+ stuck|rcu:? INFO: \S+ (?:self-)?detected stalls?|Hard LOCKUP",
            weight=70,
        ),
    ),
    Rule(
        "rt-throttled",
        "CPU",
        "Real-time processes are stopped {subject}",
        "the kernel's log",
        "always",
        "They used more than sched_rt_runtime_us of a second: 50 ms of each are taken from them.",
        "Leave time for others, or set sched_rt_runtime_us to -1 on CPUs of their own.",
        "Linux Documentation/scheduler/sched-rt-group.rst",
        logged(r"sched: RT throttling activated", weight=55),
    ),
    Rule(
        "out-of-memory",
        "cgroup",
        "The kernel kills processes for want of memory {subject}",
        "the kernel's log",
        "always",
        "The host or a group has no memory left.",
        "Raise the limit, or find what takes it.",
        "Linux Documentation/admin-guide/cgroup-v2.rst, memory.events",
        logged(r"Out of memory: Kill|Memory cgroup out of memory|oom-kill:constraint", weight=60),
    ),
    Rule(
        "test-cpu",
        "application",
        "The test itself fills a CPU {subject}",
        "cpu_utilization_percent of iperf3 -J, CPU Utilization of iperf3 -V",
        "90 % of a CPU",
        "iperf3 before 3.16 has one thread for all its streams, and the kernel copies for it on the"
        " same CPU: it measures that CPU, not the network.",
        "iperf3 3.16 or several processes; see that TSO and GRO are on, and that the CPU is on the"
        " card's node; jumbo frames cost less.",
        "man iperf3; https://software.es.net/iperf/ (release notes of 3.16). Linux man 7 tcp",
        _test,
    ),
    Rule(
        "gro-off",
        "CPU",
        "{subject} hands up each packet alone (GRO is off)",
        "ethtool -k",
        "off and not fixed",
        "Without GRO the stack works for each packet: two to four times the CPU time for bulk.",
        "Switch it on, unless it is a router that must not merge.",
        "Linux Documentation/networking/segmentation-offloads.rst",
        _gro,
    ),
    Rule(
        "send-offload-off",
        "CPU",
        "{subject} sends without the card's help",
        "ethtool -k",
        "TSO, scatter-gather or checksums are off and not fixed",
        "The CPU cuts segments or sums bytes, which the card could do.",
        "Switch it on, unless it was switched off for a defect.",
        "Linux Documentation/networking/segmentation-offloads.rst",
        _sending,
    ),
    Rule(
        "lro-router",
        "protocol",
        "{subject} merges packets that are to be forwarded (LRO)",
        "ethtool -k and ip_forward",
        "both on",
        "Merged packets are larger than the MTU of the other port: they are dropped there.",
        "Switch LRO off; GRO does the same and can be undone.",
        "Linux Documentation/networking/segmentation-offloads.rst; net/core/dev.c, dev_disable_lro",
        _lro,
    ),
)
