"""The pages to look things up: each is made of what it describes, as it is declared.

Knobs of what subjects announce, measures of what results have, scenarios and models of their own
headings, exit statuses of what the command ends with, messages of where they are raised, fields of
results of their schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from click.testing import CliRunner
from markupsafe import Markup
from messages import OPEN
from messages import messages as raised

import simnet
from simnet.cli import _simnet
from simnet.cli.status import Status
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.knobs import MODELS, knobs_of
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.specs import ANY, Choice, Quantity
from simnet.scenario.core.subject import Measure, columns, subjects
from simnet.scenario.headings import model_headings, scenario_headings
from simnet.scenario.parts.nic.drivers import drivers
from simnet.study.run.measures import MEASURES
from simnet.study.run.result import schema

_FILTER = '<p><input class="filter" type="search" aria-label="filter"></p>'


def commands() -> str:
    """Every command's help."""
    text = ["# Commands", "", "Every call, as `--help` explains it."]
    for arguments in ([], *([name] for name in _simnet.commands)):
        command = " ".join(["simnet", *arguments])
        text += ["", f"## `{command}`", "", f"```text\n{_help(*arguments)}```"]
    return "\n".join(text)


def python() -> str:
    """What the package offers."""
    text = ["# Python", "", "The names that `import simnet` has.", ""]
    for name in simnet.__all__:
        text += [f"::: simnet.{name}", ""]
    return "\n".join(text)


def knobs() -> str:
    """All knobs, those of a subject together."""
    text = [
        "# Knobs",
        "",
        "Each knob has the name that an administrator types: in `--set`, in a tuning and",
        "in place of one, as in `simnet whatif web-25g 'ethtool -C eth0 rx-usecs=40'`. `{port}`,",
        "`{irq}` and the like stand for a port, an interrupt, and so on; `*` is all queues.",
        "`simnet show SCENARIO` says which values a host has.",
        "",
        _FILTER,
    ]
    found = [("models", MODELS), *((one.name, tuple(knobs_of(one))) for one in subjects())]
    for title, several in found:
        if several:
            text += ["", f"## {title}"]
        for knob in several:
            text += ["", *_knob(knob)]
    return "\n".join(text)


def _knob(knob: Knob) -> Iterator[str]:
    yield f"### `{knob.name}` {{#{_anchor(knob.name)}}}"
    yield ""
    yield f"{_sentence(knob.doc)} Takes {_legal(knob.spec)}."
    if not knob.modelled:
        yield "**No simulation depends on it.**"
    if knob.drivers:
        yield f"Only of the drivers {', '.join(knob.drivers)}."
    if knob.compile_time:
        yield "A constant: the kernel has to be rebuilt."
    if knob.system != "linux":
        yield "On AIX."
    elif knob.since != "2.6.0":
        yield f"Since Linux {knob.since}."
    if knob.note:
        yield _sentence(knob.note)
    yield ""
    yield f"```sh\n{knob.command}\n```"


def _legal(spec: Spec) -> str:
    if isinstance(spec, Choice):
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    if not isinstance(spec, Quantity):
        said = (type(spec).__doc__ or "").partition("\n")[0]
        return f"{said[:1].lower()}{said[1:]}".partition(";")[0].rstrip(".")
    several = {0: "", ANY: "one or more of "}.get(spec.length, f"{spec.length} of ")
    return f"{several}{spec.low} to {spec.high}"


def measures() -> str:
    """The numbers of a result that runs are compared by."""
    text = [
        "# Measures",
        "",
        "Numbers of a run, by the name that `sweep --best` and columns of tables have for them.",
        "A *goal* can be given to `--goal`; a what-if shows the *change* of some.",
        "",
        _FILTER,
        "",
        "## Of every run",
        "",
        *_measures(MEASURES),
    ]
    for column in columns():
        if column.measures:
            text += [
                "",
                f"## {column.name}",
                "",
                _sentence(column.doc),
                "",
                *_measures(column.measures),
            ]
    return "\n".join(text)


def _measures(several: Mapping[str, Measure]) -> Iterator[str]:
    yield "| name | what it is | better | goal | change |"
    yield "| --- | --- | --- | --- | --- |"
    for name, one in several.items():
        better = "more" if one.largest else "less"
        goal = f"`{one.goal}`" if one.goal else ""
        label = one.label.format(latency="latency")
        yield f"| {_cell(name)} | {label} | {better} | {goal} | {'yes' if one.changes else ''} |"


def library() -> str:
    """Scenarios with their tunings, and models by kind."""
    text = ["# Scenarios and models", "", _FILTER, "", "## Scenarios"]
    for one in scenario_headings():
        text += ["", f"### `{one.name}` {{#{one.name}}}", "", _sentence(one.description)]
        if one.tunings:
            rows = [(f"`{each.name}`", _text(each.description)) for each in one.tunings]
            text += ["", *_table(("tuning", "what it does"), rows)]
    for kind, models in groupby(model_headings(), lambda one: one.kind):
        rows = [(f"`{each.name}`", _text(each.description)) for each in models]
        text += ["", f"## Models: {kind}", "", *_table((kind, "what it is"), rows)]
    return "\n".join(text)


def cards() -> str:
    """Drivers of network interfaces with rules of their own, and the knobs that they have."""
    rows = []
    for one in drivers():
        what = (one.__doc__ or "").partition("\n")[0]
        own = ", ".join(f"[`{each.name}`](knobs.md#{_anchor(each.name)})" for each in one.knobs())
        rows.append((f"`{one.name()}`", _text(what), own))
    heading = ("driver", "what it is", "its knobs")
    return "\n".join(
        ["# Drivers", "", "[Cards](../cards.md) tells more of each.", "", *_table(heading, rows)]
    )


def statuses() -> str:
    """Exit statuses: those of every command, and what each command says of its own."""
    rows = [(str(int(one)), one.meaning) for one in Status]
    text = ["# Exit statuses", "", *_table(("status", "what it means"), rows), "", "## Of commands"]
    for name in _simnet.commands:
        said = re.search(r"The exit\s+status\s+is\s.*?\.(?=\s)", _help(name), re.DOTALL)
        if said:
            text += ["", f"- `simnet {name}`: {_text(' '.join(said[0].split()))}"]
    return "\n".join(text)


def messages() -> str:
    """What simnet says where something is wrong, by the exit status and by what is wrong."""
    text = [
        "# Messages",
        "",
        f"Each message where something is wrong, with `{OPEN}` for what differs from case to case.",
        "In front of it stand the file with its line, or the option, and the key at fault.",
        "A message says what was expected: that is what to write instead.",
        "",
        _FILTER,
    ]
    for status, several in sorted(raised().items()):
        text += ["", f"## Exit status {int(status)}", "", _sentence(status.meaning)]
        for name, said in sorted(several.items()):
            if said:
                text += ["", f"### `{name}`", "", *(f"- {_text(one)}" for one in sorted(said))]
    return "\n".join(text)


def results() -> str:
    """Fields of what `simnet run --json` prints."""
    found = schema()
    text = [
        "# Fields of a result",
        "",
        "`simnet run --json` prints and `--out FILE.json` keeps these,",
        f"as `{found['properties']['schema']['const']}`.",
        "",
        _FILTER,
        "",
        "## The result",
        "",
        *_fields(found),
    ]
    for name, part in sorted(found.get("$defs", {}).items()):
        if "properties" in part:
            said = _text((part.get("description") or "").partition("\n")[0])
            text += ["", f"## {name}", "", said, "", *_fields(part)]
    return "\n".join(text)


def _fields(part: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (f"`{name}`", _form(one), _text(one.get("description", "")))
        for name, one in part["properties"].items()
    ]
    return _table(("field", "form", "what it is"), rows)


def _form(one: Mapping[str, Any]) -> str:
    """What a field holds, with a link where that is described, too."""
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "allOf"):
        if several in one:
            return " or ".join(_form(each) for each in one[several])
    if one.get("type") == "array" and isinstance(one.get("items"), Mapping):
        return f"list of {_form(one['items'])}"
    return str(one.get("const") or one.get("type") or "anything")


def _help(*arguments: str) -> str:
    return CliRunner().invoke(_simnet, [*arguments, "--help"], prog_name="simnet").stdout


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heading)} |"
    yield f"| {' | '.join('---' for _ in heading)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _cell(name: str) -> str:
    """A name that can be linked to, as a cell of a table."""
    return f'<a id="{_anchor(name)}"></a>`{name}`'


def _text(plain: str) -> str:
    """A text as the cell of a table."""
    return str(Markup.escape(plain)).replace("|", "&#124;").replace("*", "&#42;")


def _sentence(plain: str) -> str:
    text = _text(plain)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


REFERENCES = (commands, python, knobs, measures, library, cards, statuses, messages, results)
"""The pages, called as these functions are."""
