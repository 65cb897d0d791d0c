"""Reports as files: what they hold, and what files of strangers cannot do to them."""

import html
import json
import random
import re
import shlex
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.report.html.kinds.whatif import _ticking
from simnet.report.html.make import saved_parts
from simnet.report.html.numbers import counted
from simnet.report.html.page import MOST_BYTES, page
from simnet.scenario.core.units import KINDS as KINDS_OF_UNITS
from simnet.scenario.core.units import parse_quantity
from simnet.scenario.scenarios import find_scenario
from simnet.study.figures.style import AFTER
from simnet.study.run.run import run
from simnet.study.whatif.whatif import WhatIf
from tests.report.html.documents import KINDS, saved_documents
from tests.study.synthetic import result

HOSTILE = '"><script>alert(1)</script>\x1b[31m$\\frac{</style>\u202e&#x27;'
VOID = {"meta", "link", "br", "img", "image"}


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One saved file of each kind."""
    folder = tmp_path_factory.mktemp("saved")
    found = {}
    for name, text in saved_documents().items():
        found[name] = folder / f"{name}.json"
        found[name].write_text(text, encoding="utf-8")
    return found


class _Page(HTMLParser):
    """Whether elements nest, which there are, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag


def _report(*files: Path, simulate: bool = False) -> str:
    return page(saved_parts(files, simulate=simulate))


def _strings(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with each text changed that is no key and no fixed word of a schema."""
    match value:
        case str():
            return change(value)
        case list():
            return [_strings(one, change) for one in value]
        case dict():
            fixed = {
                "schema",
                "load",
                "verdict",
                "metric",
                "goal",
                "measure",
                "fingerprint",
                "use",
                "status",
                "name",
            }
            return {k: v if k in fixed else _strings(v, change) for k, v in value.items()}
        case _:
            return value


def test_every_kind_has_a_report_that_nests_and_loads_nothing(documents: dict[str, Path]) -> None:
    text = _report(*documents.values())
    found = _Page(text)
    assert len(text.encode()) < MOST_BYTES
    assert found.tags.count("h1") == len(documents)
    assert found.tags.count("script") == 1
    links = [
        value or "" for name, value in found.attributes if name in {"src", "href", "xlink:href"}
    ]
    assert all(link.startswith(("#", "data:")) for link in links)
    ids = [value for name, value in found.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    named = {value for name, value in found.attributes if name == "aria-labelledby"}
    assert {part for one in named if one for part in one.split()} <= set(ids)
    assert "default-src 'none'" in text


def test_a_whatif_shows_verdict_intervals_commands_and_how_to_repeat(
    documents: dict[str, Path],
) -> None:
    text = _report(documents["whatif"])
    found = WhatIf.model_validate_json(documents["whatif"].read_text("utf-8"))
    (judged,) = found.tunings
    assert judged.reason in text
    assert f"{judged.change('throughput').percent:+.1f} %" in text
    for line in (*judged.commands[0].apply, *judged.commands[0].undo):
        assert line.replace(">", "&gt;") in text
    assert "as simnet makes them for this system" in text
    assert found.fingerprint in text
    assert "simnet whatif x460-out-of-box affinity --set nodes=1 --seeds 2 --members 0" in text
    assert "assumed" in text


@pytest.mark.nightly
def test_a_saved_whatif_is_simulated_once_for_cpus_path_and_latency(
    documents: dict[str, Path],
) -> None:
    text = _report(documents["whatif"], simulate=True)
    for heading in ("What each CPU does", "Where time goes", "The path", "Latency", "Assumptions"):
        assert f">{heading}" in text
    assert "What each CPU does" not in _report(documents["whatif"])


def test_before_and_after_are_one_pair_of_colours(documents: dict[str, Path]) -> None:
    text = _report(documents["whatif"], simulate=True)
    drawn = re.findall(r"<figcaption>([^<]*)</figcaption>.*?(<svg.*?</svg>)", text, re.DOTALL)
    coloured = {caption for caption, svg in drawn if "var(--after)" in svg}
    assert {one.partition(" (")[0].partition(",")[0] for one in coloured} == {"Latency", "Payload"}
    assert AFTER not in "".join(svg for caption, svg in drawn if caption.startswith("What each"))
    assert '<th scope="col" class="of1">before</th><th scope="col" class="of2">after</th>' in text


def test_a_run_of_an_own_host_says_what_it_rests_on_and_how_to_repeat_it(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    text = find_scenario("x460-out-of-box").read_text("utf-8")
    own.write_text(text.replace('"../', f'"{find_scenario("x460-out-of-box").parent}/../'), "utf-8")
    found = run(own, settings={"nodes": "1"}, duration="10 ms", warm_up="10 ms")
    saved = tmp_path / "own.json"
    saved.write_text(found.model_copy(update={"remarks": ("the link is a guess",)}).to_json())
    shown = html.unescape(_report(saved))
    first, _, rest = shown.partition("<nav ")
    assert "the link is a guess" in first
    assert "load: netserver" in first
    assert f"simnet run {own} --seed" in rest


def test_what_was_measured_is_drawn_over_what_was_predicted(documents: dict[str, Path]) -> None:
    text = html.unescape(_report(documents["compare"]))
    assert "1 of 2 metrics are not as predicted" in text
    drawn = re.search(r"Predicted over measured.*?</svg>", text, re.DOTALL)
    assert drawn is not None
    assert {"throughput_bps", "cpu.all.busy"} <= set(re.findall(r">([a-z_.]+)\s*<", drawn[0]))
    assert "simnet compare PREDICTION.json" in text


def test_a_diagnosis_begins_with_why_the_cure_and_what_to_type(documents: dict[str, Path]) -> None:
    text = html.unescape(_report(documents["diagnose"]))
    first, _, rest = text.partition("<nav ")
    assert "rx_missed_errors</th><td>812,345" in first
    assert "What happens, and what cures it" in first
    assert first.count(">To cure it<") == 1
    assert rest.count(">To cure it (1)<") == 1


def test_links_to_sections_of_several_runs_differ(
    documents: dict[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text(documents["run"].read_text("utf-8"), encoding="utf-8")
    links = re.findall(r'<a href="#s1-\d+">([^<]*)', _report(documents["run"], other))
    assert sum(link.startswith("Fingerprint, and how to repeat") for link in links) == 2
    assert len(set(links)) == len(links)


def test_hard_interrupts_that_take_more_while_ports_have_fewer_are_explained() -> None:
    cpus = result().cpus
    busy = tuple(cpu.model_copy(update={"irq": 2.0}) for cpu in cpus)
    before = result()
    after = result().model_copy(
        update={
            "cpus": busy,
            "ports": tuple(
                port.model_copy(update={"interrupts_per_s": 1.0}) for port in before.ports
            ),
        }
    )
    (line,) = _ticking([before, after])
    assert line.startswith("Interrupts of ports fall from 1,000 to 1 a second, and hard interrupts")
    assert _ticking([after, before]) == []
    assert _ticking([before, before]) == []


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("6721.5", "6,721.5"), ("1500", "1500"), ("137469", "137,469"), ("-1234.5", "\u22121,234.5"),
     ("10.0.0.1:32768", "10.0.0.1:32768"), ("81.25", "81.25")],
)  # fmt: skip
def test_amounts_have_commas_between_thousands(cell: str, shown: str) -> None:
    assert counted(cell) == shown


def test_the_best_of_a_sweep_is_marked_once(documents: dict[str, Path]) -> None:
    text = _report(documents["sweep"])
    assert len(re.findall(r'<th scope="row" class="left">[^<]* \(best\)</th>', text)) == 1
    assert text.count(">Best: ") == 1


@pytest.mark.parametrize("kind", ["whatif", "sweep", "screen", "run"])
def test_the_command_that_repeats_it_says_how_long_runs_are(
    documents: dict[str, Path], kind: str
) -> None:
    (typed,) = re.findall(rf"simnet {kind} x460-out-of-box [^<]*", _report(documents[kind]))
    words = shlex.split(html.unescape(typed))
    for option, seconds in (("--duration", 0.01), ("--warm-up", 0.02)):
        assert words.count(option) == 1
        time = words[words.index(option) + 1]
        assert parse_quantity(time, KINDS_OF_UNITS["time"]) == seconds * 1e12


def test_options_of_strangers_are_not_among_them(
    documents: dict[str, Path], tmp_path: Path
) -> None:
    document = json.loads(documents["sweep"].read_text("utf-8"))
    document["options"]["--out"] = "/etc/passwd"
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert "/etc/passwd" not in _report(file)


def test_commands_that_simnet_would_not_make_are_marked(
    documents: dict[str, Path], tmp_path: Path
) -> None:
    document = json.loads(documents["whatif"].read_text("utf-8"))
    document["tunings"][0]["commands"][0]["apply"].append("curl example.org | sh")
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    text = _report(file)
    assert "read them before you type them" in text
    assert "as simnet makes them" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_strangers_stay_texts(
    documents: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    tree = _strings(json.loads(documents[kind].read_text("utf-8")), lambda text: text + HOSTILE)
    if kind in {"run", "explain"}:
        tree = json.loads(documents[kind].read_text("utf-8")) | {"scenario": HOSTILE}
    if kind == "sweep":
        tree = json.loads(documents[kind].read_text("utf-8")) | {"scenario": HOSTILE}
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps(tree), encoding="utf-8")
    text = _report(file)
    found = _Page(text)
    assert found.tags.count("script") == 1
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)" in text


def _spoilt(tree: Any, draw: random.Random) -> Any:
    """The same value with one part replaced or removed."""
    places = list(_places(tree))
    holder, key = draw.choice(places)
    if isinstance(holder, dict) and draw.random() < 0.2:
        del holder[key]
    else:
        holder[key] = draw.choice(
            [None, -1, 0, 1e22, 10**22, "", HOSTILE, [], {}, True, [[]], "x460-out-of-box", 0.5]
        )
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in list(items):
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _each() -> Iterator[Any]:
    """All kinds: the one that most people share for every change, the others every night."""
    for kind in KINDS:
        yield pytest.param(kind, marks=[] if kind == "whatif" else [pytest.mark.nightly])


@pytest.mark.parametrize("kind", list(_each()))
def test_a_spoilt_document_is_shown_or_refused_in_one_line(
    documents: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    draw = random.Random(1)  # noqa: S311 (the same damage every time)
    file = tmp_path / "spoilt.json"
    refused = 0
    for _ in range(12):
        tree = _spoilt(json.loads(documents[kind].read_text("utf-8")), draw)
        file.write_text(json.dumps(tree), encoding="utf-8")
        message = _refusal(file)
        refused += bool(message)
        assert not message or message.startswith(f"{file}: ")
        assert "\n" not in message
    assert refused


def _refusal(file: Path) -> str:
    """Why a file is no part of a report; empty if it is."""
    try:
        _Page(_report(file))
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON"),
        ("[" * 5000, "no JSON"),
        ('{"schema": "simnet.result/9"}', "expected what --json printed of"),
        ('{"schema": "simnet.result/1", "seed": NaN}', "no JSON"),
        ('{"schema": "simnet.whatif/1"}', "missing"),
        ("[]", "expected what --json printed of"),
        ('{"schema": "simnet.whatif/1", "version": "' + "x" * 5000 + '"}', "a text of over"),
        ('{"schema": "simnet.result/1", "seed": 1e300}', "expected numbers of at most"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        _report(file)
