"""``simnet list``: scenarios, models and knobs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from simnet.cli.options import json_option
from simnet.cli.output import answer, table


@click.command("list")
@click.argument(
    "what",
    required=False,
    type=click.Choice(["scenarios", "models", "knobs", "attributes"]),
    default=None,
)
@json_option()
def list_command(what: str | None, *, as_json: bool) -> None:
    """List scenarios with their tunings and models, or knobs.

    Or the attributes that --apply knows: those of lsattr -El, no -a and mmlsconfig.
    """
    parts = {
        "scenarios": (_scenarios, ("name", "description")),
        "models": (_models, ("kind", "name", "description")),
        "knobs": (_knobs, ("name", "unit", "modelled", "description")),
        "attributes": (_attributes, ("command", "name", "unit", "modelled", "description")),
    }
    chosen = (what,) if what else ("scenarios", "models")
    found = {name: parts[name][0]() for name in chosen}
    if as_json:
        answer(json.dumps(found, indent=2))
        return
    for name in chosen:
        heading = parts[name][1]
        rows = [tuple(_cell(row[column]) for column in heading) for row in found[name]]
        table(name, heading, rows)
        if name == "scenarios":
            tunings = [
                (row["name"], tuning["name"], tuning["description"])
                for row in found[name]
                for tuning in row["tunings"]
            ]
            table("tunings", ("scenario", "name", "description"), tunings)


def _cell(value: Any) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else value


def _scenarios() -> list[dict[str, Any]]:
    from simnet.scenario.headings import scenario_headings

    return [asdict(one) for one in scenario_headings()]


def _models() -> list[dict[str, Any]]:
    from simnet.scenario.headings import model_headings

    return [asdict(one) for one in model_headings()]


def _knobs() -> list[dict[str, Any]]:
    from simnet.scenario.core.knobs import KNOBS

    return [
        {
            "name": knob.name,
            "description": knob.doc,
            "unit": knob.unit,
            "modelled": knob.modelled,
            "compile_time": knob.compile_time,
            "since": knob.since,
            "command": knob.command,
            "note": knob.note,
        }
        for knob in KNOBS
    ]


def _attributes() -> list[dict[str, Any]]:
    from simnet.scenario.commands.captured import attributes

    return [
        {
            "command": command,
            "name": name,
            "unit": unit,
            "modelled": knob is not None and knob.modelled,
            "knob": knob.name if knob else None,
            "description": meaning,
        }
        for command, name, unit, meaning, knob in attributes()
    ]
