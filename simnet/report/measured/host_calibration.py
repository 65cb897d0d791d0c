"""What a host's captures say of its costs, and which would say most, for reading and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from simnet.printable import printable
from simnet.report import calibration
from simnet.report.columns import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.calibrate.host import HostFit
    from simnet.study.calibrate.plan import Advice


def host(found: HostFit) -> str:
    """The few that were fitted, the numbers, then what is not known."""
    fit = found.calibration.fit
    share = {one.name: one.share for one in found.moved.known}
    rows = [
        (
            one.name,
            str(found.calibration.base[one.name].value),
            f"{one.value:.6g}",
            f"{one.low:.6g} to {one.high:.6g}",
            f"{share[one.name]:.0%}",
        )
        for one in fit.estimates
        if one.identified
    ]
    fitted = {row[0] for row in rows}
    told = [one for one in found.moved.known if one.told and one.name not in fitted]
    parts = [
        columns(("fitted", "before", "after", "95 % interval", "of its spread"), rows),
        calibration.numbers(found.calibration),
    ]
    if told:
        parts.append(
            "narrowed, too, and left as they are\n"
            + columns(
                ("parameter", "95 % interval", "of its spread"),
                [(k.name, f"{k.low:.6g} to {k.high:.6g}", f"{k.share:.0%}") for k in told],
            )
        )
    return "\n".join([*parts, _untold(found)])


def _untold(found: HostFit) -> str:
    names = ", ".join(printable(one.name) for one in found.untold)
    count = len(found.untold)
    return f"these captures cannot tell {count} others from each other: {names}\n"


def as_json(found: HostFit) -> str:
    """The document `simnet.calibration/1` of one fit, with all parameters of the host."""
    document = json.loads(calibration.as_json(str(found.scenario), {"": found.calibration}))
    document["known"] = [{**asdict(one), "told": one.told} for one in found.moved.known]
    document["untold"] = [one.name for one in found.untold]
    return json.dumps(document, indent=2)


def plan(found: Sequence[Advice]) -> str:
    """The loads, the most telling first, with what to type on the host."""
    rows = [
        (
            str(number),
            one.load.name,
            f"{one.nats / found[0].nats:.0%}" if found[0].nats else "-",
            ", ".join(f"{name} to {left:.0%}" for name, left in one.narrowed) or "-",
        )
        for number, one in enumerate(found, start=1)
    ]
    parts = [
        columns(("", "load", "adds, of the first", "narrows, with those before"), rows, left=4)
    ]
    for one in found:
        commands = "".join(f"{printable(line)}\n" for line in one.commands)
        parts.append(f"# {one.load.name}\n{commands}")
    return "\n".join(parts)


def plan_json(found: Sequence[Advice]) -> str:
    """The document `simnet.plan/1`."""
    rows = [
        {
            "load": one.load.name,
            "settings": dict(one.load.settings),
            "nats": one.nats,
            "narrowed": dict(one.narrowed),
            "commands": list(one.commands),
        }
        for one in found
    ]
    return json.dumps({"schema": "simnet.plan/1", "loads": rows}, indent=2)
