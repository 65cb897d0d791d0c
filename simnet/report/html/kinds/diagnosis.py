"""The report of a diagnosis: where it hurts, by which evidence, what cures it, what was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Final

from pydantic import model_validator

from simnet.diagnose.document import SCHEMA, Command, Document, Finding
from simnet.diagnose.evidence import outputs
from simnet.diagnose.prediction import Prediction
from simnet.diagnose.rule import PLACES
from simnet.printable import few, typed
from simnet.report.html.blocks import Block, Facts, Notes, Part, Section, Table, Typed, Verdict
from simnet.report.html.kinds import Kind, has_schema
from simnet.report.html.repeat import repeat_section
from simnet.study.run.measures import METRICS

# findings of a rule each that are shown in full, and lines of evidence that stand open
_MOST: Final = 12
_FEW: Final = 8
# of the heaviest finding: lines of evidence and blocks of commands on the first screen
_CARD: Final = 4
_CARD_TYPED: Final = 2
_HERE: Final = "in this host"
_OUTSIDE: Final = "outside of what this host can set"


def _parts(found: Sequence[tuple[str, Document]], simulate: bool) -> list[Part]:  # noqa: ARG001, FBT001
    return [_part(file, one) for file, one in found]


def _part(file: str, found: Document) -> Part:
    named = few([PurePath(one).name or one for one in found.sources]) if found.sources else ""
    question = f"Where does it hurt, by {named}?" if named else "Where does this machine hurt?"
    groups = _groups(found.findings)
    sections = [
        _section(number, group, found.sources) for number, group in enumerate(groups[:_MOST], 1)
    ]
    if rest := groups[_MOST:]:
        rows = tuple((one.title, one.sure, one.place, one.said) for (one, *_) in rest)
        heading = ("what", "sure", "place", "evidence")
        sections.append(Section("What else was found", [Table("Less heavy", heading, rows, 4)]))
    sections += [_path(found), _read(found)]
    words = list(found.sources) or ["--live"]
    words += ["--predict"] if any(one.prediction for one in found.findings) else []
    sections.append(repeat_section("diagnose", found, words, file=file))
    predicts = any(one.prediction and one.prediction.verdict for one in found.findings)
    nature = "what files say" + (", and a prediction by simulation" if predicts else "")
    return Part(
        question,
        list(_verdicts(found, groups)),
        sections,
        nature,
        first=list(_first(groups, found.sources)),
        foot=f"simnet {found.version}: {few([one.name for one in found.files])}",
    )


def _first(groups: Sequence[Sequence[Finding]], sources: Sequence[str]) -> Iterator[Block]:
    """What stands on the card of the heaviest finding: why, the cure, and what to type."""
    if not groups:
        return
    (first, *_) = group = groups[0]
    rows = tuple(
        (fact.name or fact.kind, _value(fact.value, fact.text)) for fact in first.evidence[:_CARD]
    )
    if rows:
        yield Table("By", ("counter", "value"), rows)
    yield Notes((first.means, f"Cure: {first.cure}"), caption="What happens, and what cures it")
    commands = [one for finding in group for one in finding.commands]
    yield from list(_commands("", commands, sources))[:_CARD_TYPED]


def _groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings of one rule together, the heaviest first."""
    by_rule: dict[str, list[Finding]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one)
    return list(by_rule.values())


def _verdicts(found: Document, groups: Sequence[Sequence[Finding]]) -> Iterator[Verdict]:
    asks = " and ".join(found.ask)
    would = f" Outputs that would tell most: {asks}, twice, some seconds apart." if asks else ""
    if found.verdict == "nothing wrong":
        yield Verdict("Nothing is wrong", "in what these files count.", "good")
    elif not groups:
        yield Verdict("Cannot tell from these files.", would.strip(), "open")
    else:
        (first, *others), *more = groups
        also = f" and {len(others)} more like it" if others else ""
        where = _OUTSIDE if first.outside else _HERE
        reason = f"This is {first.sure}: {first.said}{_places(first)}."
        reason += f" The place: {first.place}, {where}."
        tone = "open" if first.sure == "possible" else "bad"
        told = f" {_plainly(first.prediction)}" if first.prediction else ""
        weak = would if first.sure == "possible" else ""
        yield Verdict(f"{first.title}{also}", f"{reason}{told}{weak}", tone)
        if more:
            titles = few([one.title for (one, *_) in more])
            yield Verdict(f"{len(more)} more", f"less heavy: {titles}")


def _plainly(told: Prediction) -> str:
    if told.verdict:
        return f"The cure is predicted: {told.verdict}. {told.said}."
    return f"No prediction: {told.why}."


def _places(one: Finding) -> str:
    places = list(dict.fromkeys(f"{fact.file}:{fact.line}" for fact in one.evidence[:2]))
    return f" ({', '.join(places)})" if places else ""


def _section(number: int, group: Sequence[Finding], sources: Sequence[str]) -> Section:
    first = group[0]
    rows = tuple(
        (
            f"{fact.file}:{fact.line}",
            _of(one, fact.name or fact.kind),
            _value(fact.value, fact.text),
        )
        for one in group
        for fact in one.evidence
    )
    blocks: list[Block] = [
        Facts(
            (
                ("how sure", f"{first.sure}: {first.said}"),
                ("place", f"{first.place}, {_OUTSIDE if first.outside else _HERE}"),
                ("what happens", first.means),
                ("cure", first.cure),
            )
        ),
        Table("Evidence", ("where", "what", "value"), rows, 3, folded=len(rows) > _FEW),
    ]
    commands = [one for finding in group for one in finding.commands]
    blocks += _commands(f" ({number})", commands, sources)
    for told in dict.fromkeys(one.prediction for one in group if one.prediction):
        blocks += _predicted(told)
    if not first.outside and not any(one.whatif for one in commands):
        blocks.append(Notes(("simnet does not model this cure: nothing is predicted.",)))
    blocks.append(Facts((("counts from", first.threshold), ("source", first.source))))
    more = f", and {len(group) - 1} more" if len(group) > 1 else ""
    return Section(f"{number}. {first.title}{more}", blocks)


def _of(one: Finding, name: str) -> str:
    return f"{one.subject}: {name}" if one.subject and one.subject not in name else name


def _value(value: float, text: str) -> str:
    if text:
        return text
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _commands(which: str, commands: Sequence[Command], sources: Sequence[str]) -> Iterator[Block]:
    do = list(dict.fromkeys(one.do for one in commands))
    undo = list(dict.fromkeys(one.undo for one in reversed(commands) if one.undo))
    whatif = list(dict.fromkeys(one.whatif for one in commands if one.whatif))
    if do:
        yield Typed(f"To cure it{which}", "\n".join(do))
    if undo:
        yield Typed(f"To take that back{which}", "\n".join(undo))
    if whatif:
        ask = typed("simnet", "whatif", "host/scenario.toml", ",".join(whatif))
        first = typed("simnet", "import", *sources or ["--live"], "--out", "host")
        yield Typed(f"To ask simnet what that would change{which}", f"{first}\n{ask}")


def _predicted(told: Prediction) -> Iterator[Block]:
    yield Notes((f"{_plainly(told)}{f' Load: {told.load}.' if told.load else ''}",))
    if told.changes:
        rows = tuple(
            (
                METRICS[one.metric].label if one.metric in METRICS else one.metric,
                _measure(one.metric, one.before),
                "-" if one.after is None else _measure(one.metric, one.after),
                one.change,
                one.range or "-",
            )
            for one in told.changes
        )
        heading = ("predicted", "before", "with the cure", "expected change", "possible, %")
        yield Table(f"What {told.whatif} would change", heading, rows)


def _measure(metric: str, value: float) -> str:
    return METRICS[metric].shown(value) if metric in METRICS else f"{value:,.4g}"


def _path(found: Document) -> Section:
    """Every place of the path, in its order: what is lost there, what is not, what no file says."""
    lost = {one.place: one for one in reversed(found.findings)}
    clear = {one.place: one for one in found.ruled_out}
    rows = []
    for place in PLACES:
        if place in lost:
            one = lost[place]
            rows.append((place, f"found, {one.sure}", one.title, _places(one).strip(" ()")))
        elif place in clear:
            ruled = clear[place]
            rows.append((place, "ruled out", ruled.said, f"{ruled.file}:{ruled.line}"))
        else:
            rows.append((place, "no file tells", "", ""))
    heading = ("place", "state", "by", "where")
    table = Table("Each place, in the order of the path", heading, tuple(rows), 4)
    blocks: list[Block] = [table]
    if found.ask:
        blocks.append(Notes((f"What else would tell most: {' and '.join(found.ask)}",)))
    return Section("The path: what is ruled out, and what is not known", blocks)


def _read(found: Document) -> Section:
    rows = tuple(
        (
            one.name,
            ", ".join(f"{outputs().get(kind, kind)} {n}" for kind, n in one.kinds.items())
            or "nothing that is known",
            f"{one.lines:,}",
            f"{one.facts:,}",
        )
        for one in found.files
    )
    heading = ("file", "values of", "lines", "values read")
    blocks: list[Block] = [Table("Files", heading, rows, 2, folded=len(rows) > _FEW)]
    unread = tuple(
        (f"{file.name}:{one.line}", one.typed) for file in found.files for one in file.unread
    )
    if unread:
        caption = "Commands of whose outputs nothing was understood"
        blocks.append(Table(caption, ("where", "command"), unread, 2))
    return Section("What was read, and what was not understood", blocks)


class _Whole(Document):
    """A diagnosis whose verdict agrees with its findings, as those that simnet wrote do."""

    @model_validator(mode="after")
    def _agree(self) -> _Whole:
        if (self.verdict == "found") != bool(self.findings):
            raise ValueError("expected findings where the verdict is found, and only there")
        return self


KIND: Final = Kind("diagnose", has_schema(SCHEMA), _Whole.model_validate_json, _parts)
