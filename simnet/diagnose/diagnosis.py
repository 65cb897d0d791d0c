"""The answer: findings by weight, what is ruled out, and what else would tell."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.diagnose.evidence import gathered
from simnet.diagnose.rule import PLACES, Clear, Hit, Rule, rules
from simnet.importing.bounded import bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simnet.diagnose.evidence import Evidence
    from simnet.diagnose.page import Page
    from simnet.diagnose.prediction import Prediction

__all__ = ["SCHEMA", "Diagnosis", "Finding", "diagnose", "diagnose_live"]

SCHEMA: Final = "simnet.diagnose/1"
_MOST_CPU_S: Final = 60
_MOST_FINDINGS: Final = 200
# kinds of facts that would show a loss if there was one
_COUNTS: Final = frozenset(
    {"stat", "link", "softnet", "snmp", "qdisc", "socket", "conntrack", "cgroup", "cpu", "rate"}
)
_ASKS: Final = (
    ("stat", "ethtool -S PORT"),
    ("snmp", "nstat -az"),
    ("softnet", "cat /proc/net/softnet_stat"),
    ("irq", "cat /proc/interrupts"),
    ("cpu", "mpstat -P ALL 1 5"),
    ("pci", "lspci -vv"),
    ("log", "dmesg"),
)
_PREPOSITION: Final = re.compile(r"\b(?:of|at|by|from|to|on) \{subject\}$")
_NAMELESS: Final = {"cgroup": "a control group", "PCIe": "a device", "IOMMU": "a device"}
_OF_DISKS: Final = (("disk", "iostat -x 1 5"), ("idle", "cpupower idle-info"))


@dataclass(frozen=True)
class Finding:
    """A rule that fired, and where.

    Attributes:
        rule: the rule.
        hit: the place, with its evidence.
        prediction: what the cure would change; None where nobody asked.
    """

    rule: Rule
    hit: Hit
    prediction: Prediction | None = None

    @property
    def title(self) -> str:
        """What is wrong, and where, as a sentence without its full stop."""
        subject = "all CPUs" if self.hit.subject == "all" else self.hit.subject
        text = self.rule.title
        if not subject and not _PREPOSITION.search(text):
            text = text.removesuffix(" {subject}")
        text = text.replace("{subject}", subject or _NAMELESS.get(self.rule.place, "the port"))
        return text.rstrip(":") if subject else text[:1].upper() + text[1:].rstrip(":")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        return {
            "rule": self.rule.name,
            "title": self.title,
            "place": self.rule.place,
            "subject": self.hit.subject,
            "outside": self.rule.outside,
            "sure": self.hit.sure,
            "weight": round(self.hit.weight, 1),
            "said": self.hit.said,
            "evidence": [
                {
                    "file": fact.file,
                    "line": fact.line,
                    "kind": fact.kind,
                    "name": fact.name,
                    "value": fact.value,
                    "text": fact.text,
                }
                for fact in self.hit.facts
            ],
            "means": self.rule.means,
            "cure": self.rule.cure,
            "commands": [
                {"do": one.do, "undo": one.undo, "whatif": one.whatif} for one in self.hit.actions
            ],
            "modelled": any(one.whatif for one in self.hit.actions),
            "prediction": self.prediction.to_dict() if self.prediction else None,
            "threshold": self.rule.threshold,
            "source": self.rule.source,
        }


@dataclass(frozen=True)
class Diagnosis:
    """What the files say of a host.

    Attributes:
        findings: what is wrong, the heaviest first.
        clear: places where the files show that nothing is lost, each with its evidence.
        files: names, and how many facts each has told.
        asks: commands whose outputs would tell most of what is missing.
    """

    findings: tuple[Finding, ...]
    clear: tuple[tuple[str, Clear], ...]
    files: dict[str, int]
    asks: tuple[str, ...]

    @property
    def counted(self) -> bool:
        """Whether something was read that would show a loss."""
        return any(clear.fact.kind in _COUNTS for _, clear in self.clear)

    @property
    def exit_status(self) -> int:
        """0 nothing is wrong, 1 something is, 3 the files do not tell."""
        if self.findings:
            return 1
        return 0 if self.counted else 3

    @property
    def verdict(self) -> str:
        """The answer in a word or two."""
        return {0: "nothing wrong", 1: "found", 3: "cannot tell"}[self.exit_status]

    def to_json(self) -> str:
        """Return the document."""
        document = {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "outside": bool(self.findings) and self.findings[0].rule.outside,
            "findings": [one.to_dict() for one in self.findings],
            "ruled_out": [
                {"place": place, "said": one.said, "file": one.fact.file, "line": one.fact.line}
                for place, one in self.clear
            ],
            "ask": list(self.asks),
            "files": [{"name": name, "facts": count} for name, count in self.files.items()],
        }
        return json.dumps(document, indent=2)


def diagnose(sources: Sequence[str]) -> Diagnosis:
    """Read files, folders, archives or standard input (`-`), and say where it hurts.

    Raises:
        InputError: a source cannot be read, or takes too long.
    """
    from simnet.diagnose.sources import pages_of

    with bounded(sources[0], _MOST_CPU_S):
        return _diagnosed(pages_of(sources))


def diagnose_live() -> Diagnosis:
    """Look at this machine, for at most five seconds."""
    from simnet.diagnose.live import live_pages

    return _diagnosed(live_pages())


def _diagnosed(pages: Sequence[Page]) -> Diagnosis:
    evidence = gathered(pages)
    found: list[Finding] = []
    clear: list[tuple[str, Clear]] = []
    for rule in rules():
        for one in rule.find(evidence):
            if isinstance(one, Hit):
                found.append(Finding(rule, one))
            else:
                clear.append((rule.place, one))
    read = Counter(fact.file for fact in evidence.facts)
    read.update(fact.file for one in found for fact in one.hit.facts if fact.kind == "log")
    return Diagnosis(
        tuple(_ordered(found)[:_MOST_FINDINGS]),
        tuple(_ruled_out(found, clear)),
        {page.name: read[page.name] for page in pages},
        _asks(evidence),
    )


def _ordered(found: Iterable[Finding]) -> list[Finding]:
    """Return each finding once, the heaviest first, without those that others say better."""
    best: dict[tuple[str, str], Finding] = {}
    for one in found:
        key = one.rule.name, one.hit.subject
        if key not in best or best[key].hit.weight < one.hit.weight:
            best[key] = one
    kept = [one for one in best.values() if not any(_hides(by, one) for by in best.values())]
    return sorted(kept, key=lambda one: (-one.hit.weight, one.rule.name, one.hit.subject))


def _hides(by: Finding, one: Finding) -> bool:
    """Return whether a finding says the same better: of the same port, or of the whole host."""
    if one.rule.name not in by.rule.hides:
        return False
    return by.hit.subject in {"", one.hit.subject} or " " in by.hit.subject


def _ruled_out(
    found: Iterable[Finding], clear: Iterable[tuple[str, Clear]]
) -> list[tuple[str, Clear]]:
    """Return one line a place, of the largest count there; none where something was found."""
    lost = {one.rule.place for one in found}
    worst: dict[str, Clear] = {}
    for place, one in clear:
        if place not in lost and (place not in worst or worst[place].fact.value < one.fact.value):
            worst[place] = one
    return sorted(worst.items(), key=lambda item: PLACES.index(item[0]))


def _asks(evidence: Evidence) -> tuple[str, ...]:
    """Return the two outputs that would tell most of what these files do not tell."""
    kinds = {fact.kind for fact in evidence.facts}
    wanted = [*_OF_DISKS, *_ASKS] if {"fio", "disk"} & kinds else list(_ASKS)
    if {"sysfs", "rss", "channels"} & kinds:
        wanted.sort(key=lambda one: one[0] not in {"stat", "irq"})
    ports = [
        fact.subject
        for fact in evidence.facts
        if fact.kind in {"driver", "rss", "ring", "coalesce", "sysfs"}
        and fact.subject.isalnum()
        and fact.subject != "lo"
    ]
    port = ports[0] if ports else "PORT"
    return tuple(do.replace("PORT", port) for kind, do in wanted if kind not in kinds)[:2]
