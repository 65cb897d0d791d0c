"""Parts of a report: of files that commands printed, and of scenarios that are simulated for it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simnet.printable import titled
from simnet.report.html.blocks import Part
from simnet.report.html.cases import machine_section, path_section, time_section
from simnet.report.html.first import resting
from simnet.report.html.kinds import Kind
from simnet.report.html.kinds.explanation import explanation_verdicts
from simnet.report.html.kinds.result import repeat_run, result_sections
from simnet.report.html.kinds.whatif import whatif_part
from simnet.report.html.saved import read_saved
from simnet.report.html.system import assumptions
from simnet.report.progress import watching
from simnet.scenario.core.load import load
from simnet.study.explain.explain import observed
from simnet.study.run.arguments import names_of, settings_of
from simnet.study.run.machine import machine
from simnet.study.run.run import recorded
from simnet.study.whatif.whatif import whatif
from simnet.study.work.cases import Case


def saved_parts(files: Sequence[Path], *, simulate: bool) -> list[Part]:
    """What files hold; those of one kind together, kinds in the order of their first file."""
    saved = [read_saved(file) for file in files]
    by_kind: dict[Kind, list[tuple[str, Any]]] = {}
    for one in saved:
        by_kind.setdefault(one.kind, []).append((one.file, one.document))
    return [part for kind, found in by_kind.items() for part in kind.parts(found, simulate)]


def whatif_parts(number: int, scenario: str, tunings: Sequence[str], **given: Any) -> list[Part]:
    """A what-if made for the report; `given` are arguments of `whatif`."""
    found = whatif(scenario, tunings, **given)
    settings = tuple(settings_of(given.get("settings")).items())
    base = Case(scenario, settings, (), names_of(given.get("apply", ()), "--apply"))
    return [whatif_part(f"scenario{number}", found, base, simulate=True)]


def scenario_part(number: int, scenario: str, **given: Any) -> Part:
    """What a scenario does, and what holds it back; `given` are arguments of `run`."""
    name = f"scenario{number}"
    effective = load(scenario, **given)
    settings = recorded(names_of(given.get("apply", ()), "--apply"), given.get("settings", {}))
    with watching(effective):
        found = observed(effective, settings=settings, over_time=True)
    result, case = found.result, "as it is"
    return Part(
        f"What does {titled(result.scenario, (), sorted(result.settings.items()))} do,"
        " and what holds it back?",
        explanation_verdicts(found.explanation),
        [
            *result_sections(name, {case: result}, {case: found.latencies}),
            path_section(name, {case: found.explanation}),
            *time_section(name, {case: found.timeline}),
            *machine_section(name, effective),
            assumptions(effective),
            repeat_run(result, scenario=scenario),
        ],
        of=machine(effective),
        first=resting(effective, effective.remarks),
        foot=f"simnet {result.version}: {result.simulated_s:g} s, seed {result.seed},"
        f" fingerprint {result.fingerprint}",
    )
