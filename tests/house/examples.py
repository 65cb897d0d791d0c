"""How many examples a property is tried with that is cheap, or dear, or seldom met."""

from __future__ import annotations

from hypothesis import settings

_AT_NIGHT = 100


def examples(at_night: int) -> int:
    """Return how many of a property's own number of examples this run's profile tries."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return max(1, at_night * profile.max_examples // _AT_NIGHT)
