"""What a device's own reporters say of its health."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Clear, Found, Hit, Rule


def _ill(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("devlink", "errors"):
        fact = series.last
        said = f"{fact.subject.rpartition(' ')[2]}: {fact.value:,.0f} errors, {fact.text}"
        if fact.text != "healthy" or (fact.value >= 1 and series.growing):
            sure = "possible" if fact.text == "healthy" else "likely"
            yield Hit(fact.subject, (fact,), said, 65 if sure == "likely" else 45, sure)
        else:
            yield Clear(fact, said)


RULES: Final = (
    Rule(
        "devlink-errors",
        "card",
        "The card reports errors of its own: {subject}",
        "devlink health show",
        "a state other than healthy; errors that it got over are possible causes",
        "A reporter of the driver (tx: a queue that does not send on, rx: a queue without buffers,"
        " fw: firmware) has found an error and started that part anew: what was in it is lost.",
        "Update driver and firmware; see devlink health diagnose and dump; the kernel's log says"
        " when it was.",
        "Linux Documentation/networking/devlink/devlink-health.rst",
        _ill,
        outside=True,
    ),
)
