"""AIX."""

from simnet.scenario.core.subject import Subject, late

SUBJECT = Subject(
    "aix",
    order=60,
    adds={"kernel": late("aix.schema:NetworkOptions")},
    knobs=late("aix.knobs:AIX"),
    check_host=late("aix.checks:check_aix"),
    listings=late("aix.listings:LISTINGS"),
)
