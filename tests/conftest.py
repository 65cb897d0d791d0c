"""What all tests share: reproducible property tests, and plots without a display."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# The same examples on every machine and every run: a failure is never a matter of luck. Time
# limits would be one: the interpreted engine on a busy machine is slow.
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# HYPOTHESIS_PROFILE=search looks for new counterexamples.
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
