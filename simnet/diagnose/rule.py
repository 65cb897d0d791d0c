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
    """Something to type."""

    do: str  # the command
    undo: str = ""  # what takes it back; empty if it changes nothing
    whatif: str = ""  # the same as `simnet whatif` takes it; empty where simnet does not model it


@dataclass(frozen=True)
class Hit:
    """A place where a rule fires."""

    subject: str  # port, CPU or device
    facts: tuple[Fact, ...]  # what shows it, the strongest first
    said: str  # the evidence in words
    weight: float  # how much it matters, 0 to 100
    sure: str  # `certain`, `likely` or `possible`
    actions: tuple[Action, ...] = ()  # what to type


@dataclass(frozen=True)
class Clear:
    """Evidence that nothing is lost in a place."""

    fact: Fact
    said: str


Found = Hit | Clear


@dataclass(frozen=True)
class Rule:
    """What some facts mean."""

    name: str  # of the rule
    place: str  # on the path, of `PLACES`
    title: str  # where something is lost, with `{subject}`
    needs: str  # the outputs or counters that it looks at
    threshold: str  # from when on it matters, and why
    means: str  # what happens there
    cure: str  # what usually helps
    source: str  # where that is written
    find: Callable[[Evidence], Iterable[Found]] = field(repr=False)  # looks for it
    outside: bool = False  # no setting of this host cures it
    hides: tuple[str, ...] = ()  # rules that say less about the same


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of the path."""
    from simnet.diagnose import rules as folder

    found = [rule for module in modules_below(folder) for rule in module.RULES]
    return tuple(sorted(found, key=lambda rule: (PLACES.index(rule.place), rule.name)))
