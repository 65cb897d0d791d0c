"""The answer: findings by weight, what is ruled out, and what else would tell."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import simnet
from simnet.diagnose import document
from simnet.diagnose.evidence import Evidence, gathered
from simnet.diagnose.page import Page
from simnet.diagnose.prediction import Prediction
from simnet.diagnose.reading import Reading, readings
from simnet.diagnose.rule import PLACES, Clear, Hit, Rule, rules
from simnet.importing.bounded import bounded
from simnet.importing.source import Named, Sources
from simnet.printable import capital

_MOST_CPU_S: Final = 60
_MOST_FINDINGS: Final = 200
# of a line of a log, in the document
_LONGEST: Final = 400
COUNTS: Final = frozenset(
    {"stat", "link", "softnet", "snmp", "qdisc", "socket", "conntrack", "cgroup", "cpu", "rate"}
)
"""Kinds of facts that would show a loss if there was one."""
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
    """A rule that fired, and where."""

    rule: Rule
    hit: Hit  # the place, with its evidence
    prediction: Prediction | None = None  # what the cure would change; None where nobody asked

    @property
    def title(self) -> str:
        """What is wrong, and where, as a sentence without its full stop."""
        subject = "all CPUs" if self.hit.subject == "all" else self.hit.subject
        text = self.rule.title
        if not subject and not _PREPOSITION.search(text):
            text = text.removesuffix(" {subject}")
        text = text.replace("{subject}", subject or _NAMELESS.get(self.rule.place, "the port"))
        return text.rstrip(":") if subject else capital(text.rstrip(":"))

    def row(self) -> document.Finding:
        """Return the finding as the document has it."""
        rule, hit = self.rule, self.hit
        return document.Finding(
            rule=rule.name,
            title=_cut(self.title),
            place=rule.place,
            subject=_cut(hit.subject),
            outside=rule.outside,
            sure=hit.sure,
            weight=round(hit.weight, 1),
            said=_cut(hit.said),
            evidence=tuple(
                document.Evidence(
                    file=fact.file,
                    line=fact.line,
                    kind=fact.kind,
                    name=_cut(fact.name),
                    value=fact.value,
                    text=_cut(fact.text),
                )
                for fact in hit.facts
            ),
            means=rule.means,
            cure=rule.cure,
            commands=tuple(
                document.Command(do=one.do, undo=one.undo, whatif=one.whatif) for one in hit.actions
            ),
            modelled=any(one.whatif for one in hit.actions),
            prediction=self.prediction,
            threshold=rule.threshold,
            source=rule.source,
        )


@dataclass(frozen=True)
class Diagnosis:
    """What the files say of a host."""

    findings: tuple[Finding, ...]  # what is wrong, the heaviest first
    # places where the files show that nothing is lost, each with its evidence
    clear: tuple[tuple[str, Clear], ...]
    files: tuple[Reading, ...]  # what was read of each
    asks: tuple[str, ...]  # commands whose outputs would tell most of what is missing
    sources: tuple[str, ...] = ()  # what the user called the files; empty for this machine
    # other than Linux that files are of: nothing else is read of these
    systems: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether something was read that would show a loss."""
        return any(clear.fact.kind in COUNTS for _, clear in self.clear)

    @property
    def exit_status(self) -> int:
        """0 nothing is wrong, 1 something is, 3 the files do not tell."""
        return {"nothing wrong": 0, "found": 1, "cannot tell": 3}[self.verdict]

    @property
    def verdict(self) -> Literal["nothing wrong", "found", "cannot tell"]:
        """The answer in a word or two."""
        if self.findings:
            return "found"
        return "nothing wrong" if self.counted else "cannot tell"

    def document(self) -> document.Document:
        """Return the answer as a document."""
        return document.Document(
            version=simnet.__version__,
            sources=self.sources,
            verdict=self.verdict,
            outside=bool(self.findings) and self.findings[0].rule.outside,
            findings=tuple(one.row() for one in self.findings),
            ruled_out=tuple(
                document.Place(
                    place=place, said=_cut(one.said), file=one.fact.file, line=one.fact.line
                )
                for place, one in self.clear
            ),
            ask=self.asks,
            systems=self.systems,
            files=tuple(
                document.File(
                    name=one.name,
                    lines=one.lines,
                    facts=one.facts,
                    kinds=one.kinds,
                    unread=tuple(document.Unread(line=at, typed=it) for at, it in one.unread),
                    broken=one.broken,
                )
                for one in self.files
            ),
        )

    def to_json(self) -> str:
        """Return the document as the command prints it."""
        return self.document().to_json()


def diagnose(named: Named) -> Diagnosis:
    """Read files, folders, archives or standard input (`-`), and say where it hurts.

    Raises:
        InputError: a source cannot be read, or takes too long.
    """
    from simnet.diagnose.sources import pages_of

    sources = Sources.of(named)
    with bounded(sources.names[0], _MOST_CPU_S):
        return _diagnosed(pages_of(sources), sources.names)


def diagnose_live() -> Diagnosis:
    """Look at this machine, for at most five seconds."""
    from simnet.diagnose.live import live_pages

    return _diagnosed(live_pages())


def _diagnosed(pages: Sequence[Page], sources: tuple[str, ...] = ()) -> Diagnosis:
    evidence = gathered(pages)
    found: list[Finding] = []
    clear: list[tuple[str, Clear]] = []
    for rule in rules():
        for one in rule.find(evidence):
            if isinstance(one, Hit):
                found.append(Finding(rule, one))
            else:
                clear.append((rule.place, one))
    logged = [fact for one in found for fact in one.hit.facts if fact.kind == "log"]
    return Diagnosis(
        tuple(_ordered(found)[:_MOST_FINDINGS]),
        tuple(_ruled_out(found, clear)),
        readings(pages, [*evidence.facts, *logged]),
        _asks(evidence),
        sources,
        tuple(dict.fromkeys(fact.text for fact in evidence.of("system"))),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


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
