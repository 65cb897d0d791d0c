"""What a report knows of a system beyond its file: the configuration, and a run of it.

Only systems that simnet has itself are loaded: a file of a stranger names no file of this machine.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from simnet.errors import InputError
from simnet.report.html.blocks import Facts, Section, Table
from simnet.report.progress import watching
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.parameter import State
from simnet.scenario.scenarios import scenario_names
from simnet.study.explain.explain import Observed, observed
from simnet.study.run.validity import lengthened
from simnet.study.whatif.plan import DISK_TIMES
from simnet.study.work.cases import Case, Member

_APPLY: Final = "--apply"
# of a run to look at: enough for pictures, too short for a verdict
_DURATION: Final = "150 ms"
_WARM_UP: Final = "150 ms"
_MEANING: Final[dict[State, str]] = {
    "measured": "measured on such a system",
    "datasheet": "from a data sheet or the kernel's source",
    "calibrated": "fitted to measurements",
    "assumed": "nobody measured it; intervals allow for its range",
    "chosen": "set by the scenario or by you",
}


def known_case(scenario: str, tunings: Sequence[str], settings: Mapping[str, str]) -> Case | None:
    """What a saved result is of; None where that cannot be known here."""
    if scenario not in scenario_names() or _APPLY in settings:
        return None
    return Case(scenario, tuple(settings.items()), tuple(tunings))


def known_configuration(
    scenario: str, tunings: Sequence[str], settings: Mapping[str, str]
) -> Effective | None:
    """The configuration that a saved result is of; None where that cannot be known here."""
    case = known_case(scenario, tunings, settings)
    try:
        return None if case is None else Member(case).effective()
    except InputError:  # of another version, or made up
        return None


def seen(cases: Mapping[str, Case]) -> dict[str, Observed]:
    """One short run of each case, all with the same seed, looked at closely."""
    plain = [Member(case).effective() for case in cases.values()]
    duration, warm_up = _DURATION, lengthened(_WARM_UP, plain)[0]
    if any(one.ffsb for one in plain):
        duration, warm_up = DISK_TIMES.drawn_duration, DISK_TIMES.drawn_warm_up
    found = {}
    for name, case in cases.items():
        effective = Member(case, duration=duration, warm_up=warm_up).effective()
        with watching(effective):
            found[name] = observed(effective, over_time=True)
    return found


def assumptions(effective: Effective) -> Section:
    """Every value that is not known for certain, and how many there are of each state."""
    counts = Counter(one.state for one in effective.provenance.values())
    facts = Facts(
        tuple(
            (state, f"{counts[state]} values: {meaning}")
            for state, meaning in _MEANING.items()
            if state in counts
        )
    )
    rows: dict[tuple[str, ...], None] = {}
    for place, one in effective.provenance.items():
        if one.state in {"assumed", "calibrated"}:
            name = place.removesuffix(one.suffix)
            rows[_without_number(name), one.text, one.range or "-", one.state, one.source] = None
    ordered = sorted(rows, key=lambda row: (row[3], not row[0].startswith("host"), row[0]))
    heading = ("value", "is taken as", "may be", "state", "source")
    caption = "Values that are assumed or calibrated"
    return Section("Assumptions", [facts, Table(caption, heading, tuple(ordered), 5, folded=True)])


def _without_number(place: str) -> str:
    """Ports and peers that are alike have one row."""
    return "".join(
        part if number == 0 else part.partition("]")[2]
        for number, part in enumerate(place.split("["))
    )
