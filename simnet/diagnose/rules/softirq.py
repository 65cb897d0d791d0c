"""Softirqs: the backlog, the budget, and which CPUs receive (RPS, RFS)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from simnet.diagnose.actions import look, named, sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import counted, percent, weight_of
from simnet.diagnose.queues import every_cpu
from simnet.diagnose.routers import by_flow_table
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.diagnose.vectors import alone, busiest, cpus, handed_on, loads, ports, spread
from simnet.printable import typed

_SYSCTL: Final = "Linux Documentation/admin-guide/sysctl/net.rst"
_SCALING: Final = "Linux Documentation/networking/scaling.rst"
# packets that a CPU of today takes from a ring in a microsecond, at the most
_PACKETS_A_US: Final = 1.5
_FULL: Final = 90.0
_HALF: Final = 50.0
_BUSY: Final = 75.0
# CPUs of a mask of one word
_WORD: Final = 32
# of a mask: CPUs of a digit; older kernels print whole words of 32 bits
_DIGIT_CPUS: Final = 4
_WORD_DIGITS: Final = 8
_NEARLY: Final = 0.9
# the host's ends of pairs: of docker and containerd, of Calico, of LXC and Cilium
_VETH: Final = re.compile(r"veth\w*|cali\w+|lxc\w+")
_VETH_DROPPED: Final = counted("tx_dropped", side="tx", kinds=("link",))


def _backlog(evidence: Evidence) -> Iterator[Found]:
    yield from _counter(evidence, "dropped", 1e-5, 10, 1.0)


def _squeezed(evidence: Evidence) -> Iterator[Found]:
    yield from _counter(evidence, "squeezed", 1e-3, 100, 0.6)


def _flow_limit(evidence: Evidence) -> Iterator[Found]:
    yield from _counter(evidence, "flow_limit", 1e-4, 100, 0.8)


def _veth(evidence: Evidence) -> Iterator[Found]:
    """Say what an end of a pair could not hand to the other one."""
    backlog = any(one.value for one in evidence.series("softnet", "dropped"))
    for one in _VETH_DROPPED(evidence):
        subject = one.subject if isinstance(one, Hit) else one.fact.subject
        if not _VETH.fullmatch(subject):
            continue
        if isinstance(one, Hit):
            longer = sysctl(evidence, "net.core.netdev_max_backlog", "10000", modelled=True)
            act = longer if backlog else look("ethtool", "-S", named(subject))
            yield replace(one, actions=(act,))
        else:
            yield one


def _counter(
    evidence: Evidence, name: str, least: float, fewest: float, scale: float
) -> Iterator[Found]:
    """Look at a column of softnet_stat, on all CPUs together; the worst CPU is shown."""
    series = evidence.series("softnet", name)
    if not series:
        return
    every = evidence.series("softnet", "processed")
    grown = [one.grew for one in series]
    total = sum(one.value for one in series)
    packets = sum(one.value for one in every)
    worst = max(series, key=lambda one: one.value)
    own = evidence.value("softnet", "processed", worst.last.subject) or packets
    share = max(total / packets if packets else 0.0, worst.value / own if own else 0.0)
    still = any(one is None or one > 0 for one in grown)
    said = f"{name} {worst.last.shown} on {worst.last.subject}"
    if own:
        said += f" of {own:,.0f} packets there, {percent(worst.value / own)}"
    if total >= fewest and share >= least and still:
        action = {
            "dropped": sysctl(evidence, "net.core.netdev_max_backlog", "10000", modelled=True),
            "squeezed": sysctl(evidence, "net.core.netdev_budget_usecs", "8000", modelled=True),
            "flow_limit": sysctl(evidence, "net.core.netdev_max_backlog", "10000", modelled=True),
        }[name]
        sure = "certain" if name == "dropped" and share >= 1e-4 else "likely"  # noqa: PLR2004 - losses count from there
        if name == "squeezed":
            sure = "possible"
        heavy = weight_of(share) * scale
        yield Hit(worst.last.subject, (worst.last,), said, heavy, sure, (action,))
    else:
        yield Clear(worst.last, said if total else f"{name} 0 on all CPUs")


def _everywhere(evidence: Evidence) -> Iterator[Found]:
    """Say that all CPUs are full: there is nothing to spread to."""
    shares = {fact.subject: fact for fact in evidence.of("cpu", "soft") if fact.subject != "all"}
    least = min(shares.values(), key=lambda fact: fact.value, default=None)
    if least is not None and len(shares) > 1 and least.value >= _BUSY:
        said = f"%soft at least {least.shown} on each of {len(shares)} CPUs"
        yield Hit("", (least,), said, 69, "likely", by_flow_table(evidence))


def _full(evidence: Evidence) -> Iterator[Found]:
    if any(_everywhere(evidence)):
        return
    every = evidence.of("cpu", "soft")
    # the mean of all CPUs counts where it is of one, or of nothing else is told
    cpus = [fact for fact in every if fact.subject != "all"] or every
    rest = [fact.value for fact in cpus]
    for fact in sorted(cpus, key=lambda one: -one.value)[:1]:
        idle = evidence.value("cpu", "idle", fact.subject)
        if fact.value >= 75 or (fact.value >= 50 and idle is not None and idle < 3):  # noqa: PLR2004 - hardly anything else
            one = fact.subject == "all"
            others = (sum(rest) - fact.value) / max(len(rest) - 1, 1)
            said = f"%soft {fact.shown} of all CPUs"
            if not one:
                said = f"%soft {fact.shown} on {fact.subject}, {others:.0f} % on the others"
            heavy = 68 if others < fact.value / 2 and not one else 55
            yield Hit(fact.subject, (fact,), said, heavy, "likely", _relief(evidence, fact.subject))
        elif fact.subject != "all":
            yield Clear(fact, f"%soft at most {fact.shown} ({fact.subject})")
        else:
            yield from _of_one(evidence, fact)
    for fact in (one for one in evidence.of("process") if one.subject.startswith("ksoftirqd/")):
        if fact.value >= 75:  # noqa: PLR2004 - hardly anything else
            cpu = f"CPU {fact.subject.rpartition('/')[2]}"
            said = f"{fact.subject} takes {fact.shown}"
            yield Hit(cpu, (fact,), said, 66, "likely", _relief(evidence, cpu))


def _of_one(evidence: Evidence, mean: Fact) -> Iterator[Found]:
    """Say whether the mean of all CPUs is what one alone can do: interrupts show which one."""
    count = cpus(evidence)
    whole = mean.value * count
    if not count:
        return
    if whole < _HALF:
        yield Clear(mean, f"%soft {mean.shown} of {count} CPUs: less than half of one")
        return
    by_cpu = loads({f"{p} {v}": f for p, vs in ports(evidence).items() for v, f in vs.items()})
    first = max(by_cpu, key=lambda cpu: by_cpu[cpu], default="")
    if whole >= _FULL and first and by_cpu[first] >= _NEARLY * sum(by_cpu.values()):
        cpu = f"CPU {first.removeprefix('CPU')}"
        said = f"%soft {mean.shown} of {count} CPUs is {whole:.0f} % of one, and {first} takes"
        said += f" {percent(by_cpu[first] / sum(by_cpu.values()))} of the interrupts of ports"
        yield Hit(cpu, (mean,), said, 62, "likely", _relief(evidence, cpu))


def _relief(evidence: Evidence, subject: str) -> tuple[Action, ...]:
    """Return what takes work from a CPU: less of it, its interrupts spread, packets handed on."""
    if evidence.of("router", "openwrt"):
        return _of_router(evidence, subject)
    return (*_spread(evidence, subject), *by_flow_table(evidence))


def _of_router(evidence: Evidence, subject: str) -> tuple[Action, ...]:
    """Return what relieves the CPU of a router, whose port to its switch has one queue.

    What comes from the local network is received by the bridge again, where RPS spreads it.
    """
    found = by_flow_table(evidence)
    others = _spread(evidence, subject)
    if not any("/eth0/" in one.do for one in others):
        return (*found, *others)
    mask = others[0].do.split()[1]
    file = "/sys/class/net/br-lan/queues/rx-0/rps_cpus"
    asked = f"{file}={mask}" if evidence.of("router", "simulated") else ""
    return (*found, Action(f"echo {mask} > {file}", f"echo 0 > {file}", asked))


def _spread(evidence: Evidence, subject: str) -> tuple[Action, ...]:
    """Return what spreads a CPU's interrupts over others, or hands on their packets."""
    cpu = subject.replace(" ", "")
    for port, vectors in ports(evidence).items():
        by_cpu = loads(vectors)
        own = {
            name: facts
            for name, facts in vectors.items()
            if busiest(facts).name == cpu and busiest(facts).value > sum(by_cpu.values()) / 20
        }
        if by_cpu[cpu] < sum(by_cpu.values()) / 2 or not own:
            continue
        if len(own) > 1:
            return spread(own, cpus(evidence))
        return handed_on(port, next(iter(own)), cpu, cpus(evidence))
    return ()


def _masks(evidence: Evidence) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in evidence.of("sysfs", r"queues/rx-\d+/rps_cpus"):
        found.setdefault(fact.subject, []).append(fact)
    return found


def _bits(mask: str) -> int:
    text = mask.replace(",", "")
    try:
        return int(text[:4096], 16)
    except ValueError:
        return 0


def _rps(port: str, facts: list[Fact], mask: str) -> tuple[Action, ...]:
    port = named(port)
    file = f"/sys/class/net/{port}/queues/rx-{'0' if len(facts) == 1 else '*'}/rps_cpus"
    set_to = f"echo {{}} > {file}"
    if len(facts) > 1:
        set_to = f"for f in {file}; do echo {{}} > $f; done"
    before = typed(facts[0].text)
    return (Action(set_to.format(mask), set_to.format(before), f"{file}={mask}"),)


def _mask(evidence: Evidence, now: str, without: int = 0) -> str:
    """Return a mask of all CPUs, or of as many as one that the kernel printed is wide."""
    digits = len(now) if "," not in now and len(now) < _WORD_DIGITS else 1
    every = every_cpu(evidence, unknown=(1 << _DIGIT_CPUS * digits) - 1)
    return f"{every & ~without or every:x}"


def _rps_one(evidence: Evidence) -> Iterator[Found]:
    for port, facts in _masks(evidence).items():
        masks = {_bits(fact.text) for fact in facts}
        if len(masks) == 1 and (mask := masks.pop()) and mask.bit_count() == 1:
            said = f"rps_cpus {facts[0].text} of {len(facts)} queue" + "s" * (len(facts) > 1)
            said += f": CPU {mask.bit_length() - 1} alone"
            yield Hit(
                port,
                (facts[0],),
                said,
                58,
                "likely",
                _rps(port, facts, _mask(evidence, facts[0].text, mask)),
            )


def _rps_off(evidence: Evidence) -> Iterator[Found]:
    for port, facts in _masks(evidence).items():
        if evidence.facts and all(not _bits(fact.text) for fact in facts):
            if not evidence.meant(facts[0]) or evidence.of("irq"):
                continue
            said = f"rps_cpus {facts[0].text} of "
            said += f"all {len(facts)} receive queues" if len(facts) > 1 else "the receive queue"
            full = alone(evidence)
            if full is None or len(facts) > 1:
                actions = _rps(port, facts, _mask(evidence, facts[0].text))
                yield Hit(port, (facts[0],), said, 28, "possible", actions)
                continue
            said += f", and %soft {full.shown} on {full.subject}"
            number = re.search(r"\d+", full.subject)
            own = 1 << int(number[0]) if number else 0
            count = len(set(evidence.subjects("cpu")) - {"all"})
            every = (1 << count) - 1 if count <= _WORD else (1 << _WORD) - 1
            actions = _rps(port, facts, f"{every & ~own or every:x}")
            yield Hit(port, (facts[0], full), said, 70, "likely", actions)


def _budget(evidence: Evidence) -> Iterator[Found]:
    budget = evidence.last("sysctl", "net.core.netdev_budget")
    usecs = evidence.last("sysctl", "net.core.netdev_budget_usecs")
    if budget is None or usecs is None:
        return
    most = usecs.value * _PACKETS_A_US
    if budget.value > most:
        said = f"netdev_budget {budget.text}, but netdev_budget_usecs {usecs.text} ends the round"
        said += f" after some {most:,.0f} packets at the most"
        action = sysctl(evidence, "net.core.netdev_budget_usecs", "8000", modelled=True)
        yield Hit("", (budget, usecs), said, 40, "certain", (action,))
    else:
        yield Clear(budget, f"netdev_budget {budget.text}")


def _rfs(evidence: Evidence) -> Iterator[Found]:
    table = evidence.last("sysctl", "net.core.rps_sock_flow_entries")
    counts = evidence.of("sysfs", r"queues/rx-\d+/rps_flow_cnt")
    if table is None or not counts:
        return
    some = any(fact.value for fact in counts)
    if bool(table.value) != some:
        what = "rps_flow_cnt 0 of all queues" if table.value else "rps_sock_flow_entries 0"
        said = f"{what}: RFS needs both"
        yield Hit(counts[0].subject, (table, counts[0]), said, 22, "possible")


RULES: Final = (
    Rule(
        "softirq-everywhere",
        "softirq",
        "Softirqs take all the time of all CPUs {subject}",
        "%soft of mpstat -P ALL",
        "75 % of each CPU",
        "The work is spread, and there is too much of it: packets wait, then rings overflow.",
        "Less work for each packet (a flow table for established connections, fewer rules, GRO,"
        " larger packets), or more CPUs. Masks do not help.",
        f"{_SCALING}, suggested configuration; Linux Documentation/networking/nf_flowtable.rst",
        _everywhere,
    ),
    Rule(
        "backlog-full",
        "softirq",
        "The backlog of {subject} is full and drops packets",
        "second column of /proc/net/softnet_stat",
        "1 packet in 100,000: one that reached the kernel is never lost on a host that is well",
        "More packets wait for this CPU (RPS, veth, loopback, tunnels) than netdev_max_backlog.",
        "Raise netdev_max_backlog, and spread the load over more CPUs.",
        f"{_SYSCTL}, netdev_max_backlog; {_SCALING}, RPS",
        _backlog,
    ),
    Rule(
        "veth-dropped",
        "softirq",
        "Packets to the container behind {subject} are dropped on their way",
        "tx_dropped of a veth pair in ip -s link, with /proc/net/softnet_stat",
        "1 packet in 10,000",
        "A pair has no ring of a card. The backlog of a CPU was full, which softnet_stat counts in"
        " its second column, too; or, with receive offload or XDP of the container's end, the 256"
        " packets of its own ring.",
        "Spread the load over more CPUs; raise netdev_max_backlog, or switch gro of the container's"
        " end off, by which of the two counts; or give the container the host's network.",
        f"{_SYSCTL}, netdev_max_backlog; Linux drivers/net/veth.c, veth_xmit",
        _veth,
        hides=("tx-dropped",),
    ),
    Rule(
        "squeezed",
        "softirq",
        "Softirqs of {subject} end before the rings are empty",
        "third column of /proc/net/softnet_stat",
        "1 packet in 1,000, and 100 times: a squeeze delays, and loses nothing by itself",
        "A round took netdev_budget packets or netdev_budget_usecs: the rest waits for the next.",
        "Raise netdev_budget_usecs (and netdev_budget) if a ring overflows too; spread the load.",
        f"{_SYSCTL}, netdev_budget_usecs",
        _squeezed,
    ),
    Rule(
        "flow-limit",
        "softirq",
        "The flow limit of {subject} drops packets of large flows",
        "eleventh column of /proc/net/softnet_stat",
        "1 packet in 10,000",
        "The backlog was half full, and one flow had most of it.",
        "Raise netdev_max_backlog; spread the load.",
        f"{_SCALING}, RPS flow limit",
        _flow_limit,
    ),
    Rule(
        "softirq-full",
        "softirq",
        "Softirqs take all the time of {subject}",
        "%soft of mpstat, si of top, ksoftirqd",
        "75 % of one CPU, or 50 % with none idle",
        "One CPU does all the work of receiving: packets wait, then rings overflow.",
        "Spread interrupts over CPUs (RSS, smp_affinity), or RPS where the card has one queue; on a"
        " router, a flow table for established connections.",
        f"{_SCALING}, suggested configuration; Linux Documentation/networking/nf_flowtable.rst",
        _full,
    ),
    Rule(
        "rps-one-cpu",
        "softirq",
        "RPS sends everything of {subject} to one CPU",
        "rps_cpus of /sys/class/net",
        "all masks name one CPU, the same",
        "RPS can spread packets over CPUs by their flows; a mask of one CPU spreads nothing.",
        "Name the other CPUs in the mask; the interrupt's own has enough to do.",
        f"{_SCALING}, RPS configuration",
        _rps_one,
    ),
    Rule(
        "rps-off",
        "softirq",
        "RPS is off on {subject}: the interrupt's CPU does everything",
        "rps_cpus of /sys/class/net, pasted alone",
        "possible: it limits where the interrupts are on one CPU",
        "Driver, IP, TCP and copying for all queues happen where the interrupts are served.",
        "If that is one CPU (see /proc/interrupts), let RPS hand packets to the others.",
        f"{_SCALING}, RPS",
        _rps_off,
    ),
    Rule(
        "budget-without-effect",
        "softirq",
        "The budget of softirqs (netdev_budget) is without effect",
        "netdev_budget and netdev_budget_usecs",
        "more packets than a CPU takes in that time, at 1.5 a microsecond",
        "Since Linux 4.12 the time ends a round, too, and here it always comes first. The squeezes"
        " that are counted then lose no packet.",
        "Raise netdev_budget_usecs if fewer squeezes are wanted; throughput will not change.",
        f"{_SYSCTL}, netdev_budget_usecs",
        _budget,
        hides=("squeezed",),
    ),
    Rule(
        "rfs-half",
        "softirq",
        "RFS is set up by half at {subject}",
        "rps_sock_flow_entries and rps_flow_cnt",
        "one of them is 0, the other is not",
        "Both tables are needed; with one alone packets are spread by their hash.",
        "Set both, or none.",
        f"{_SCALING}, RFS configuration",
        _rfs,
    ),
)
