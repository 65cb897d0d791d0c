"""Verdicts on traces and scripts, one line a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simnet.printable import printable

if TYPE_CHECKING:
    from simnet.study.conform.conform import Conformance, Verdict


def conformance(found: Conformance) -> str:
    """The verdicts as text, and how many there are of each."""
    agree = sum(verdict.agrees for verdict in found.verdicts)
    total = len(found.verdicts)
    segments = sum(len(verdict.expected) for verdict in found.verdicts)
    windows = sum(verdict.windows for verdict in found.verdicts)
    blocks = sum(verdict.blocks for verdict in found.verdicts)
    counts = (
        f"{agree} of {total} scenarios agree; of {segments} segments {windows} have the same"
        f" window field, {blocks} the same SACK blocks"
    )
    lines = [*(printable(_line(one)) for one in found.verdicts), counts]
    return "".join(f"{line}\n" for line in lines)


def _line(verdict: Verdict) -> str:
    where = f"{verdict.file}:{verdict.line}: {verdict.name}"
    if verdict.difference is not None:
        return f"differs  {where}: {verdict.difference}"
    return (
        f"agrees   {where}: {len(verdict.sent)} segments,"
        f" times within {verdict.worst_ms:.2f} ms, Linux {verdict.kernel}"
    )


def as_json(found: Conformance) -> str:
    """The same with all segments, as JSON."""
    return json.dumps({"agrees": found.agrees, "scenarios": found.rows()}, indent=1)
