"""Wireless links: how strong their signal is, and whether they sleep."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.printable import typed

# the least signal of 54 Mbit/s (64-QAM) in 20 MHz is -65 dBm, of 6 Mbit/s -82 dBm
_WEAK_DBM: Final = -72
_NEARLY_LOST_DBM: Final = -80


def _weak(evidence: Evidence) -> Iterator[Found]:
    for signal in {one.subject: one for one in evidence.of("wifi", "signal")}.values():
        rates = evidence.of("wifi", "rx|tx", signal.subject)
        said = f"signal {signal.text}"
        if rates:
            said += ", " + ", ".join(f"{one.name} {one.text}" for one in rates[:2])
        if signal.value <= _WEAK_DBM:
            sure = "certain" if signal.value <= _NEARLY_LOST_DBM else "likely"
            yield Hit(signal.subject, (signal, *rates[:2]), said, 60, sure)
        else:
            yield Clear(signal, said)


def _sleeps(evidence: Evidence) -> Iterator[Found]:
    for fact in {one.subject: one for one in evidence.of("wifi", "sleeps")}.values():
        if fact.text == "on":
            command = ("iw", "dev", named(fact.subject), "set", "power_save")
            actions = (Action(typed(*command, "off"), typed(*command, "on")),)
            yield Hit(fact.subject, (fact,), "power save: on", 42, "likely", actions)
        else:
            yield Clear(fact, "power save: off")


RULES: Final = (
    Rule(
        "wifi-sleeps",
        "card",
        "The wireless card of {subject} sleeps between packets",
        "iw dev PORT get power_save; Power Management of iwconfig",
        "always: what comes while it sleeps waits for the next beacon",
        "The access point keeps packets until the card asks for them, after 100 ms (a beacon) or"
        " several: pings that come alone take up to 300 ms. Under load it does not sleep.",
        "Switch power saving off.",
        "IEEE 802.11, 11.2.3: power management; man iw",
        _sleeps,
    ),
    Rule(
        "weak-signal",
        "cable",
        "The wireless signal of {subject} is weak",
        "signal of iw dev PORT link",
        "-72 dBm; certain from -80 dBm on",
        "With a weak signal both ends send slowly, and often send again. At most half of the rate"
        " that is shown is left for data.",
        "Move closer, another channel or band, another antenna, or a cable. No setting of the host"
        " helps.",
        "IEEE 802.11, 17.3.10.2: least signal by rate; man iw",
        _weak,
        outside=True,
    ),
)
