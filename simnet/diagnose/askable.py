"""Which cures can be asked for on the host that an import makes of the same files.

A cure that a rule knows by name may be of a port, queue or interrupt that the files do not describe
well enough, or of a load that is not simulated: then nobody is told to ask.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from simnet.diagnose.described import Described, Host
from simnet.diagnose.diagnosis import Diagnosis, Finding
from simnet.diagnose.prediction import WOULD_TELL, Prediction
from simnet.errors import InputError
from simnet.study.whatif.tuning import read_tuning
from simnet.study.work.cases import Member, case_of

_NO_LOAD: Final = "unsimulated"
# what a host without a name is called
_SERVER: Final = "models/server.toml"


def askable(found: Diagnosis, described: Described) -> Diagnosis:
    """Return a diagnosis that offers to ask only what `simnet whatif` can answer.

    Args:
        found: the diagnosis.
        described: what it was made of.
    """
    asked = [action.whatif for one in found.findings for action in one.hit.actions if action.whatif]
    if not asked:
        return found
    load = ""
    try:
        refused = _refused(asked, described.host)
        if not described.host.imported.load:
            load = f"the load is not in the files, and an import assumes one; {WOULD_TELL}"
    except InputError as error:
        refused = dict.fromkeys(asked, error.message)
    findings = (_of_load(_without(one, refused), load) for one in found.findings)
    return replace(found, findings=tuple(findings))


def _of_load(one: Finding, load: str) -> Finding:
    """Return a finding that says of a cure that may be asked for why nobody knows its load."""
    if not load or one.prediction is not None or not any(a.whatif for a in one.hit.actions):
        return one
    return replace(one, prediction=Prediction(whatif="", why=load))


def _refused(asked: Iterable[str], host: Host) -> dict[str, str]:
    """Return why some of what may be asked cannot be, by what was asked."""
    base = case_of(host.scenario, None, (), ())
    if Member(base).effective().workload.test == _NO_LOAD:
        return dict.fromkeys(asked, f"{host.imported.role} is not simulated with its load")
    found = {}
    for text in dict.fromkeys(asked):
        try:
            Member(read_tuning(base.scenario, text).on(base)).effective()
        except InputError as error:
            found[text] = error.message.replace(_SERVER, "the host")
    return found


def _without(one: Finding, refused: dict[str, str]) -> Finding:
    actions = one.hit.actions
    kept = tuple(
        replace(action, whatif="") if action.whatif in refused else action for action in actions
    )
    if kept == actions:
        return one
    why = next(refused[action.whatif] for action in actions if action.whatif in refused)
    told = one.prediction
    if not any(action.whatif for action in kept):
        told = Prediction(whatif="", why=why)
    return replace(one, hit=replace(one.hit, actions=kept), prediction=told)
