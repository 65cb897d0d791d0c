"""Ways to look that many rules share: counters against packets, shares, and lines of a log."""

import math
from collections.abc import Callable, Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact, Series
from simnet.diagnose.rule import Action, Clear, Found, Hit

Act = Callable[[Evidence, str], tuple[Action, ...]]
Find = Callable[[Evidence], Iterator[Found]]

# shares of packets: from where one is hardly to be seen to where nothing else matters
_POSSIBLE: Final = 1e-4
_LIKELY: Final = 1e-3
_CERTAIN: Final = 1e-2
_FEWEST: Final = 50
# a count without anything to compare it with
_MANY: Final = 1000


def percent(share: float) -> str:
    """Return a share for reading, with two digits that count."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 else f"{value:.2g} %"  # noqa: PLR2004 - digits


def weight_of(share: float) -> float:
    """Return how much a lost share matters: 100 for all, 20 less for a tenth of it."""
    return max(1.0, 100 + 20 * math.log10(max(min(share, 1.0), 1e-6)))


def _nobody(_evidence: Evidence, _subject: str) -> tuple[Action, ...]:
    return ()


def counted(
    names: str,
    *,
    side: str = "rx",
    kinds: tuple[str, ...] = ("stat",),
    fewest: float = _MANY,
    possible: float = _POSSIBLE,
    act: Act = _nobody,
    scale: float = 1.0,
) -> Find:
    """Look at counters of ports against the packets of the port.

    Args:
        names: pattern of the counters.
        side: packets to compare with, `rx` or `tx`.
        kinds: of facts.
        fewest: a count that matters where the packets are not known.
        possible: the smallest share that matters.
        act: makes the commands.
        scale: of a weight, where an event is more or less than a lost packet.
    """

    def find(evidence: Evidence) -> Iterator[Found]:
        clear: dict[str, Series] = {}
        for series in (one for kind in kinds for one in evidence.series(kind, names)):
            fact = series.last
            packets = evidence.packets(fact.subject, side)
            silent = not packets and fact.kind == "link"
            share = series.value / packets if packets else 0.0
            much = share >= possible and series.value >= _FEWEST if packets else 0
            enough = much or (not packets and not silent and series.value >= fewest)
            if not enough or not series.growing:
                before = clear.get(fact.subject)
                if before is None or series.value > before.value:
                    clear[fact.subject] = series
                continue
            said = f"{fact.name} {fact.shown}"
            if packets:
                said += f" of {packets:,.0f} {side} packets, {percent(share)}"
                certain = "certain" if share >= _CERTAIN else "likely"
                sure = certain if share >= _LIKELY else "possible"
                weight = weight_of(share)
            else:
                sure, weight = "likely", 35 + 3 * math.log10(max(series.value, 1))
            if series.grew:
                said += f" (+{series.grew:,.0f} between the samples)"
            actions = act(evidence, fact.subject)
            yield Hit(fact.subject, (fact,), said, min(weight * scale, 100), sure, actions)
        for series in clear.values():
            packets = evidence.packets(series.last.subject, side)
            yield Clear(series.last, _little(series, packets))

    return find


def _little(series: Series, packets: float = 0.0) -> str:
    fact = series.last
    if not fact.value:
        return f"{fact.name} 0"
    if not series.growing:
        return f"{fact.name} {fact.shown}: does not grow"
    share = f" of {packets:,.0f}, {percent(series.value / packets)}" if packets else ""
    return f"{fact.name} {fact.shown}{share}: negligible"


def ratio(  # noqa: PLR0913 - what a rule says of a counter
    name: str,
    of: str = "",
    *,
    at_least: float = _LIKELY,
    fewest: float = _FEWEST,
    kind: str = "snmp",
    weight: float = 0.0,
    sure: str = "likely",
    act: Act = _nobody,
    beside: bool = False,
) -> Find:
    """Look at a counter of a host against another, or alone.

    Args:
        name: pattern of the counters.
        of: pattern of what they are a share of; without it the count alone matters.
        at_least: the smallest share that matters.
        fewest: the smallest count that matters.
        kind: of facts.
        weight: of the finding; by the share where it is 0.
        sure: how sure it is; certain from a hundredth on.
        act: makes the commands.
        beside: what `of` counts is without what `name` does.
    """

    def find(evidence: Evidence) -> Iterator[Found]:
        for series in evidence.series(kind, name):
            fact, subject = series.last, series.last.subject
            whole = max((one.value for one in evidence.series(kind, of, subject)), default=0.0)
            whole += series.value if beside and whole else 0.0
            share = series.value / whole if of and whole else 0.0
            enough = series.value >= fewest and (share >= at_least or not (of and whole))
            if not enough or not series.growing:
                yield Clear(fact, _little(series))
                continue
            said = f"{fact.name} {fact.shown}"
            if share:
                said += f" of {whole:,.0f}, {percent(share)}"
            if series.grew:
                said += f" (+{series.grew:,.0f} between the samples)"
            certain = "certain" if share >= _CERTAIN and sure != "possible" else sure
            heavy = weight or (weight_of(share) if share else 30.0)
            yield Hit(subject, (fact,), said, heavy, certain, act(evidence, subject))

    return find


def logged(
    pattern: str,
    *,
    at_least: int = 1,
    weight: float = 60.0,
    sure: str = "certain",
    act: Act = _nobody,
) -> Find:
    """Look for lines of a kernel's log; the group `subject` of the pattern names what they mean."""

    def find(evidence: Evidence) -> Iterator[Found]:
        groups: dict[str, list[Fact]] = {}
        for fact in evidence.logged(pattern):
            groups.setdefault(fact.subject, []).append(fact)
        for subject, facts in groups.items():
            if len(facts) >= at_least:
                times = "once" if len(facts) == 1 else f"{len(facts):,} times"
                said = f"logged {times}: {_short(facts[0].text)}"
                actions = act(evidence, subject)
                yield Hit(subject, (facts[0], *facts[1:4]), said, weight, sure, actions)

    return find


def _short(text: str, longest: int = 110) -> str:
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."
