"""A screening for reading: what matters most first, then what changed nothing."""

from typing import Final

from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.study.run.measures import METRICS, SCREENED
from simnet.study.screen.document import Effect, Screen, Screened, in_percent
from simnet.study.whatif.verdict import end_text
from simnet.terminal import folded

SHARES_TITLE: Final = "share of the variance in percent, alone, and also with others (95 %)"
MEANING: Final = (
    "change in percent from off to on, or to a larger value: mean size (least to most, as the other"
    " settings are)"
)


def metric_label(found: Screen, metric: str) -> str:
    """What a metric is called, of what its latencies are."""
    return METRICS[metric].said.format(latency=found.latency_kind or "latency")


def screen(found: Screen) -> str:
    """The whole answer."""
    title = titled(found.scenario, found.tunings, found.settings.items())
    heading = f"{title}: {found.runs} runs of {found.simulated_s:g} s"
    chance = ", ".join(
        f"{metric_label(found, name)} {in_percent(found.chance[name]):.1f} %"
        for name in SCREENED
        if name in found.chance
    )
    unknown = "not known, as nothing came in one of the runs"
    parts = [
        f"{heading}\n",
        f"{MEANING}\n",
        f"equal runs but for their random numbers differ by: {chance or unknown}\n\n",
        columns(screen_heading(found), screen_rows(found), left=1),
    ]
    if found.shares or found.unshared:
        parts += ["\n", *_shares(found)]
    idle = [(one.name, one.why) for one in found.factors if one.turns and one.idle]
    if idle:
        parts += ["\n", columns(("changed nothing", "why"), idle, left=2)]
    parts += _line(
        "not turned, since no values of the others go with it",
        [o.name for o in found.factors if not o.turns],
    )
    return folded("".join(parts))


def _shares(found: Screen) -> list[str]:
    return [
        f"{SHARES_TITLE}\n",
        columns(share_heading(found), share_rows(found), left=1),
        *_line("matters, but not varied together with these", list(found.unshared)),
    ]


def share_heading(found: Screen) -> tuple[str, ...]:
    """What stands above `share_rows`."""
    return ("varied together", *(metric_label(found, name) for name in _shared_metrics(found)))


def share_rows(found: Screen) -> list[tuple[str, ...]]:
    """A row a factor: its shares of the variance of each metric."""
    rows: dict[str, dict[str, str]] = {}
    for one in found.shares:
        alone, total = f"{100 * one.first:.0f}", f"{100 * one.total:.0f}"
        within = f"{100 * one.first_within:.0f}", f"{100 * one.total_within:.0f}"
        text = f"{alone} +- {within[0]}, {total} +- {within[1]}"
        rows.setdefault(printable(one.name), {})[one.metric] = text
    metrics = _shared_metrics(found)
    return [(name, *(texts.get(one, "") for one in metrics)) for name, texts in rows.items()]


def _shared_metrics(found: Screen) -> list[str]:
    return [name for name in SCREENED if any(one.metric == name for one in found.shares)]


def screen_heading(found: Screen) -> tuple[str, ...]:
    """What stands above `screen_rows`."""
    labels = {name: metric_label(found, name) for name in SCREENED}
    return ("turned", *labels.values(), f"matters for {labels[found.metric]}")


def screen_rows(found: Screen) -> list[tuple[str, ...]]:
    """What changed something: its effects, and whether they are more than chance."""
    some = [one for one in found.factors if one.turns and not one.idle]
    otherwise = "within chance" if found.tells else "cannot tell"
    return [(*_row(one), "yes" if found.matters(one) else otherwise) for one in some]


def _row(one: Screened) -> tuple[str, ...]:
    return (printable(one.name), *(_text(one.effect(name)) for name in SCREENED))


def _text(effect: Effect) -> str:
    low, high = (end_text(in_percent(end)) for end in (effect.low, effect.high))
    falls = effect.high <= 0 > effect.low
    size = -in_percent(-effect.size) if falls else in_percent(effect.size)
    return f"{end_text(size).lstrip('+')} ({low} to {high})"


def _line(what: str, names: list[str]) -> list[str]:
    return [f"\n{what}: {printable(', '.join(names))}\n"] if names else []
