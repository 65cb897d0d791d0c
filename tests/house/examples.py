"""How many examples a property is tried with that has a number of its own."""

from hypothesis import settings


def examples(at_night: int) -> int:
    """Return that number, of which a day tries a quarter, as of all others."""
    by_day = settings.get_current_profile_name() == "day"
    return max(1, at_night // 4) if by_day else at_night
