"""Optics: too little light, too much heat; modules that the card refuses."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import logged
from simnet.diagnose.rule import Clear, Found, Hit, Rule

# 10GBASE-SR receives from -9.9 dBm on, LR from -14.4 dBm, ER from -15.8 dBm
_DIM_DBM: Final = -16.0


def _alarms(evidence: Evidence) -> Iterator[Found]:
    for port in evidence.subjects("optic"):
        alarms = [fact for fact in evidence.of("optic", ".*(alarm|warning).*", port) if fact.value]
        powers = evidence.of("optic", "Receiver.*|Rcvr.*|Laser rx power Channel.*", port)
        dimmest = min(powers, key=lambda fact: fact.value, default=None)
        dark = dimmest if dimmest and dimmest.value < _DIM_DBM else None
        if not alarms and dark is None:
            if dimmest:
                yield Clear(dimmest, f"received light {dimmest.text}")
            continue
        facts = [*alarms, *([dimmest] if dimmest else [])]
        said = ", ".join(f"{fact.name}: On" for fact in alarms[:2])
        said = "; ".join(
            part for part in (said, f"received light {dimmest.text}" if dimmest else "") if part
        )
        worst = any("alarm" in fact.name for fact in alarms)
        yield Hit(port, tuple(facts), said, 68 if worst else 48, "likely" if worst else "possible")


RULES: Final = (
    Rule(
        "optic",
        "cable",
        "The optic of {subject} reports trouble",
        "ethtool -m",
        "an alarm or a warning that is on; or less than -16 dBm, below what a receiver of"
        " 10GBASE-ER takes",
        "Too little light arrives (dirt, a bent or long fibre, a laser that ends), or the module is"
        " too hot: bits are lost, then frames, then the link.",
        "Clean fibre and optic, measure the light at the other end, replace the module.",
        "IEEE 802.3 clause 52, table 52-9 and others; SFF-8472, 9",
        _alarms,
        outside=True,
    ),
    Rule(
        "module-event",
        "cable",
        "The card reports a fault of the module or of its power at {subject}",
        "the kernel's log",
        "always",
        "The module or cable is too hot, of a kind that the card does not take, or draws more than"
        " the slot gives: the port is switched off, or loses frames.",
        "Replace the module by one that the card's maker lists; look at cooling and at the slot.",
        "Linux drivers/net/ethernet/mellanox/mlx5/core/events.c, port_module;"
        " drivers/net/ethernet/intel/ice/ice_main.c",
        logged(
            r"(?P<subject>[0-9a-f]{4}:[0-9a-f:.]{7}): (?:.*Port module event\[error\]"
            r"|.*[Dd]etected insufficient power|.*unsupported (?:SFP|module|QSFP)"
            r"|.*(?:SFP|QSFP|[Mm]odule).{0,30}(?:not supported|over ?heat|unqualified))",
            weight=66,
        ),
        outside=True,
    ),
)
