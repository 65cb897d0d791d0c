"""The report of the record: what was predicted before a number was known, beside the number."""

from typing import Any, Final

from pydantic import TypeAdapter

from simnet.report.html.blocks import Facts, Part, Section, Table, Verdict
from simnet.report.html.kinds import Kind, each
from simnet.report.html.repeat import repeat_section
from simnet.report.html.svg import picture
from simnet.study.figures.record import ratios
from simnet.study.validate.record import Record, Score

_MOST_DRAWN: Final = 80


_SCORES: Final = TypeAdapter(tuple[Score, ...])


def _part(name: str, file: str, found: Record) -> Part:
    newest = found.last()
    inside = sum(score.covered for score in newest)
    said = f"{inside} of {len(newest)} numbers lie inside the 95 % interval"
    drawn = [score for score in newest if score.measured][:_MOST_DRAWN]
    pictures = [
        picture(
            f"{name}-rows", lambda: ratios(drawn, ""), "Predicted over measured; 1 is right", said
        )
    ]
    heading = ("id", "key", "frozen in", "predicted", "95 %", "measured", "interval")
    cells = tuple(
        (
            score.id, score.key, score.file, f"{score.predicted:.6g}",
            f"{score.low:.6g} to {score.high:.6g}", f"{score.measured:.6g}",
            "inside" if score.covered else "outside",
        )
        for score in found.scores
    )  # fmt: skip
    stages = {score.file: score.stage for score in found.scores}
    ids = list(dict.fromkeys(score.id for score in found.scores))
    return Part(
        "How far off were predictions of numbers that nobody knew?",
        [Verdict(said, "of each number the newest prediction; those before stay on record")],
        [
            Section(
                "Every prediction",
                [*(pictures if drawn else []), Table("Scores", heading, cells, 3)],
            ),
            Section("What the model had been fitted to", [Facts(tuple(stages.items()))]),
            repeat_section("validate", None, ["--frozen", *ids], file=file),
        ],
    )


def _matches(tree: Any) -> bool:
    return isinstance(tree, list) and any(isinstance(one, dict) and "stage" in one for one in tree)


def _read(data: bytes) -> Record:
    return Record(_SCORES.validate_json(data))


KIND: Final = Kind("validate --frozen", _matches, _read, each("record", _part))
