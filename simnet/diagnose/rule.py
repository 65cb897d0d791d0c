"""What a rule is, and what it finds."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from simnet.announced import modules_below
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact

PLACES: Final = (
    *("cable", "PCIe", "IOMMU", "card", "ring", "interrupt", "softirq", "qdisc", "protocol"),
    *("socket", "application", "hypervisor", "cloud", "cgroup", "disk", "CPU"),
)
"""Where something may be lost, in the order of the path; then what is around it."""


@dataclass(frozen=True)
class Action:
    """Something to type.

    Attributes:
        do: the command.
        undo: what takes it back; empty if it changes nothing.
        whatif: the same as `simnet whatif` takes it; empty where simnet does not model it.
    """

    do: str
    undo: str = ""
    whatif: str = ""


@dataclass(frozen=True)
class Hit:
    """A place where a rule fires.

    Attributes:
        subject: port, CPU or device.
        facts: what shows it, the strongest first.
        said: the evidence in words.
        weight: how much it matters, 0 to 100.
        sure: `certain`, `likely` or `possible`.
        actions: what to type.
    """

    subject: str
    facts: tuple[Fact, ...]
    said: str
    weight: float
    sure: str
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class Clear:
    """Evidence that nothing is lost in a place."""

    fact: Fact
    said: str


Found = Hit | Clear


@dataclass(frozen=True)
class Rule:
    """What some facts mean.

    Attributes:
        name: of the rule.
        place: on the path, of `PLACES`.
        title: where something is lost, with `{subject}`.
        needs: the outputs or counters that it looks at.
        threshold: from when on it matters, and why.
        means: what happens there.
        cure: what usually helps.
        source: where that is written.
        find: looks for it.
        outside: no setting of this host cures it.
        hides: rules that say less about the same.
    """

    name: str
    place: str
    title: str
    needs: str
    threshold: str
    means: str
    cure: str
    source: str
    find: Callable[[Evidence], Iterable[Found]] = field(repr=False)
    outside: bool = False
    hides: tuple[str, ...] = ()


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of the path."""
    from simnet.diagnose import rules as folder

    found = [rule for module in modules_below(folder) for rule in module.RULES]
    return tuple(sorted(found, key=lambda rule: (PLACES.index(rule.place), rule.name)))
