"""A sentence about what was lost: where, how much, and what counts it."""

from collections.abc import Iterable


def lost_text(noun: str, percent: float, places: Iterable[tuple[str, int, str]]) -> str:
    """Return what was lost, the place with most first.

    Args:
        noun: one of what was lost.
        percent: share of all.
        places: name, number lost there, and the counter that shows it.
    """
    lost = sorted(places, key=lambda place: -place[1])
    said = [f"{count:,} in {place} ({counter})" for place, count, counter in lost if count]
    if not said:
        return f"no {noun} is lost"
    return f"{percent:.3f} % of the {noun}s are lost: {', '.join(said)}"
