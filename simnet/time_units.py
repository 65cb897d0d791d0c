"""Times of people in times of the clock, whose unit is one picosecond."""

from typing import Final

PS_PER_US: Final = 10**6
PS_PER_MS: Final = 10**9
PS_PER_S: Final = 10**12
