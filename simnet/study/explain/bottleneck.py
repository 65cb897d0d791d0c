"""Which resource holds a flow back, and which would be next: operational analysis.

The utilisation law: with the same work for each unit of throughput, utilisations of all resources
grow in proportion to throughput. So a resource that is used to a share u lets a closed loop have at
most 1/u times its present throughput, and the one with the largest u is the bottleneck when it is
full (Denning and Buzen, "The operational analysis of queueing network models", Computing Surveys 10
(1978) 225). It is a bound at the present work for each byte. A CPU's often shrinks as load grows,
since more packets share an interrupt and a poll, and then more is gained; it grows where SMT
siblings slow each other.

Where nothing is full, what is outstanding is limited, and throughput is that over the time of a
round trip (Little's law).
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from simnet.rows import Row
from simnet.scenario.system.resource import FULL

_MOSTLY: Final = 0.5
_AT_WORK: Final = ("application", "computing", "pauses")
"""What flows wait for where it is the program's own doing."""
_DELIVERED: Final = 0.99
_PER_US: Final = 10**6
_ALIKE: Final = 0.01
# kinds of resources of which one waits for the other at work
_CPU: Final = "cpu"
_LOCK: Final = "lock"

Share = Annotated[float, Field(ge=0.0)]


class ResourceUse(Row):
    """How much of a resource was used while measured."""

    name: str
    kind: str
    unit: str = Field(description="s (of busy time), bit, B or request")
    used_per_s: Share
    capacity_per_s: float = Field(gt=0.0)
    utilisation: Share = Field(description="used over capacity; 1 is full")
    headroom: float | None = Field(
        description="how much more load it would allow by itself, relative; null: it is not used"
    )
    drops: int = Field(ge=0, description="packets or requests that it turned away")
    split: dict[str, Share] = Field(description="shares of the time by context, of a CPU")
    flows: tuple[str, ...] | None = Field(description="whose work passes it; null: all")
    group: str = Field(description="what is replaced together with it")
    simulated: bool = Field(description="false: no mechanism waits for it, a data sheet says it")


class WaitShare(Row):
    """How often flows were seen to wait for one thing."""

    reason: str
    share: Share
    bound: bool = Field(description="it limits what may be outstanding")
    limit: float = Field(description="how much may be outstanding, mean; 0: no limit")
    unit: str


class Limit(Row):
    """What holds flows back. `first` is None where nothing is full."""

    flows: tuple[str, ...]
    goodput_bps: Share
    verdict: Literal["resource", "window", "latency", "load", "application", "mixed"]
    first: str | None = Field(description="the resource that is full")
    first_utilisation: Share | None
    next: str | None = Field(description="the fullest resource that is not replaced with it")
    next_utilisation: Share | None
    at_most: float | None = Field(
        description="times the present throughput, once what holds it back is lifted, at the"
        " present work for each byte"
    )
    waits: tuple[WaitShare, ...]
    round_trip_us: float | None = Field(
        description="what is outstanding over the throughput of a flow (Little's law)"
    )
    sentence: str

    @property
    def held_by(self) -> str:
        """The resource, or what limits where none is full."""
        if self.first is not None:
            return self.first
        if self.verdict == "load":
            return "the load"
        if not self.waits:
            return "nothing"
        most = self.waits[0]
        short = self.verdict == "mixed" and most.share < _MOSTLY
        return "nothing for long" if short else most.reason


def limit_of(
    flow: str | None,
    goodput_bps: float,
    resources: Iterable[ResourceUse],
    waits: Sequence[WaitShare],
    *,
    delivered: float | None = None,
) -> Limit:
    """What holds one flow back.

    Args:
        flow: its name; None for all that a system does.
        goodput_bps: what it carries, bit/s.
        resources: all; those that the flow does not pass are left out.
        waits: shares of the flow, the largest first.
        delivered: of an open-loop load, what was delivered relative to what was offered.
    """
    passed = sorted(
        (one for one in resources if one.simulated and _passes(flow, one)),
        key=lambda one: (-one.utilisation, one.name),
    )
    first = _own(passed[0], passed) if passed and passed[0].utilisation >= FULL else None
    bound = [one for one in waits if one.bound]
    share = sum(one.share for one in bound)
    verdict: Literal["resource", "window", "latency", "load", "application", "mixed"] = "mixed"
    if delivered is not None and delivered >= _DELIVERED:
        verdict = "load"
    elif first is not None:
        verdict = "resource"
    elif share >= _MOSTLY and bound:
        verdict = "latency" if bound[0].unit == "request" else "window"
    elif sum(one.share for one in waits if one.reason in _AT_WORK) >= _MOSTLY:
        verdict = "application"
    others = [one for one in passed if first is None or _apart(one, first)]
    following = _own(others[0], others) if others else None
    at_most = None
    if following is not None and following.utilisation > 0:
        at_most = (first.utilisation if first else 1.0) / following.utilisation
    shown = tuple(bound) if verdict in {"window", "latency"} else tuple(waits)
    found = Limit(
        flows=() if flow is None else (flow,),
        goodput_bps=goodput_bps,
        verdict=verdict,
        first=None if first is None else first.name,
        first_utilisation=None if first is None else first.utilisation,
        next=None if following is None else following.name,
        next_utilisation=None if following is None else following.utilisation,
        at_most=at_most,
        waits=shown,
        round_trip_us=_round_trip_us(bound, goodput_bps) if verdict == "window" else None,
        sentence="",
    )
    return found.model_copy(update={"sentence": _sentence(found)})


def merged(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Flows that the same thing holds back as one, in the order of the first of each.

    That is the same full resource; where none is full, the same kind of wait and the same resource
    that would be next. Of those behind a full resource, the fullest of all is next.
    """
    groups: dict[tuple[object, ...], list[Limit]] = {}
    for one in limits:
        reason = one.waits[0].reason if one.waits else ""
        key = (one.verdict, one.first) if one.first else (one.verdict, one.next, reason)
        groups.setdefault(key, []).append(one)
    return tuple(_merge(group) for group in groups.values())


def _merge(group: Sequence[Limit]) -> Limit:
    head = group[0]
    if len(group) == 1:
        return head
    trips = [one.round_trip_us for one in group if one.round_trip_us is not None]
    fullest = max(group, key=lambda one: one.next_utilisation or 0.0)
    found = head.model_copy(
        update={
            "next": fullest.next,
            "next_utilisation": fullest.next_utilisation,
            "at_most": fullest.at_most,
            "flows": tuple(flow for one in group for flow in one.flows),
            "goodput_bps": sum(one.goodput_bps for one in group),
            "waits": _mean_waits(group),
            "round_trip_us": sum(trips) / len(trips) if trips else None,
        }
    )
    return found.model_copy(update={"sentence": _sentence(found)})


def _mean_waits(group: Sequence[Limit]) -> tuple[WaitShare, ...]:
    reasons = dict.fromkeys(wait.reason for one in group for wait in one.waits)
    found = []
    for reason in reasons:
        same = [wait for one in group for wait in one.waits if wait.reason == reason]
        share = sum(wait.share for wait in same)
        limit = sum(wait.limit * wait.share for wait in same) / share if share else 0.0
        change = {"share": share / len(group), "limit": limit}
        found.append(same[0].model_copy(update=change))
    return tuple(sorted(found, key=lambda wait: -wait.share))


def _passes(flow: str | None, one: ResourceUse) -> bool:
    return flow is None or one.flows is None or flow in one.flows


def _own(fullest: ResourceUse, among: Sequence[ResourceUse]) -> ResourceUse:
    """What stands behind the fullest one, as full as it but for what is under way.

    That is the lock for which CPUs spin, and the system's end of a link with a full far end.
    """
    if fullest.kind == _CPU:
        for one in among:
            if one.kind == _LOCK and fullest.utilisation - one.utilisation < _ALIKE:
                return one
    if not fullest.group or not fullest.kind.startswith("peer"):
        return fullest
    for one in among:
        near = fullest.utilisation - one.utilisation < _ALIKE
        if near and one.group == fullest.group and not one.kind.startswith("peer"):
            return one
    return fullest


def _apart(one: ResourceUse, first: ResourceUse) -> bool:
    """Whether it stays as it is when `first` is replaced; CPUs that spin for a lock do not."""
    if first.kind == _LOCK and one.kind == _CPU:
        return False
    return one.name != first.name and not (first.group and one.group == first.group)


def _round_trip_us(bound: Sequence[WaitShare], goodput_bps: float) -> float | None:
    if not bound or not bound[0].limit or not goodput_bps:
        return None
    return _PER_US * 8 * bound[0].limit / goodput_bps


def _sentence(limit: Limit) -> str:
    """``first cpu0 at 97 %, next eth0 receive at 71 % (then at most 1.37 times ...)``."""
    rest = _next(limit)
    if limit.verdict == "load" and limit.first is None:
        return f"nothing is full: all that is offered is delivered; {rest}"
    wait = limit.waits[0] if limit.waits else None
    if limit.first is not None and limit.first_utilisation is not None:
        first = f"first {limit.first} at {_percent(limit.first_utilisation)}, {rest}"
        return f"all that is offered is delivered; {first}" if limit.verdict == "load" else first
    if limit.verdict == "latency" and wait is not None:
        return f"nothing is full: {wait.limit:.0f} outstanding at a time, latency decides; {rest}"
    if limit.verdict == "window" and wait is not None:
        trip = limit.round_trip_us
        time = f", {wait.limit / 1000:,.1f} kB in {trip:,.0f} us" if trip else ""
        share = _percent(wait.share)
        waited = f"flows wait for the {wait.reason} {share} of the time{time}"
        return f"nothing is full: {waited}; {rest}"
    if limit.verdict == "application" and limit.held_by == "application":
        return f"nothing is full: the application has nothing under way most of the time; {rest}"
    shares = ", ".join(f"{one.reason} {_percent(one.share)}" for one in limit.waits)
    spent = f": its time goes to {shares}" if shares else ""
    return f"nothing is full{spent}; {rest}"


def _next(limit: Limit) -> str:
    if limit.next is None or limit.next_utilisation is None:
        return "no other resource is known"
    times = ""
    if limit.at_most:
        most = f"then at most {limit.at_most:.2f} times the throughput"
        times = f" ({most}, if a byte costs as much as now)"
    return f"next {limit.next} at {_percent(limit.next_utilisation)}{times}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
