"""Drives that are hot or worn out."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_HOT_BIT: Final = 2
_WORN: Final = 100
_TIMES: Final = 10


def _hot(evidence: Evidence) -> Iterator[Found]:
    for drive in evidence.subjects("drive"):
        warned = evidence.last("drive", "critical_warning", drive)
        counts = evidence.of("drive", ".*temperature_time|thermal_.*count", drive)
        many = [fact for fact in counts if fact.value >= _TIMES]
        now = warned is not None and int(warned.value) & _HOT_BIT
        facts = [fact for fact in (warned,) if fact and now] + many
        if facts:
            said = ", ".join(f"{fact.name} {fact.shown}" for fact in facts[:2])
            yield Hit(
                drive, tuple(facts), said, 62 if now else 40, "certain" if now else "possible"
            )
        elif counts:
            yield Clear(counts[0], f"{counts[0].name} {counts[0].shown}")


def _worn(evidence: Evidence) -> Iterator[Found]:
    for drive in evidence.subjects("drive"):
        used = evidence.last("drive", "percentage_used", drive)
        errors = evidence.last("drive", "media_errors|media_and_data_integrity_errors", drive)
        warned = evidence.last("drive", "critical_warning", drive)
        facts = [used] if used and used.value >= _WORN else []
        facts += [errors] if errors and errors.value else []
        facts += [warned] if warned and int(warned.value) & ~_HOT_BIT else []
        if facts:
            said = ", ".join(f"{fact.name} {fact.shown}" for fact in facts)
            yield Hit(drive, tuple(facts), said, 58, "likely")
        elif used:
            yield Clear(used, f"percentage_used {used.shown}")


RULES: Final = (
    Rule(
        "drive-hot",
        "disk",
        "{subject} slows down as it is too hot",
        "nvme smart-log",
        "the warning of heat is on, or it was throttled 10 times or for 10 minutes",
        "Above its temperature a drive lowers its own speed until it is cooler: requests take"
        " longer, at any setting of the host.",
        "A heat sink, more air; fewer drives side by side.",
        "man nvme-smart-log; NVM Express Base Specification, SMART / Health Information",
        _hot,
        outside=True,
    ),
    Rule(
        "drive-worn",
        "disk",
        "{subject} is worn out or loses data",
        "nvme smart-log",
        "100 % of its life used, errors of its media, or a warning",
        "The drive has written what it was made for, or cannot read what it holds: requests are"
        " repeated inside of it.",
        "Save its data and replace it.",
        "man nvme-smart-log; NVM Express Base Specification, SMART / Health Information",
        _worn,
        outside=True,
    ),
)
