"""Values that models carry and that no mechanism reads.

They are facts of the hardware or the kernel, and defaults of knobs that an administrator knows. A
setting of one is accepted and reported as not modelled. Each subject names its own; a mechanism
that starts to read one takes it off there. A test compares them with what the builder reads.
"""

from __future__ import annotations

from itertools import chain
from typing import Final

from simnet.scenario.core.subject import subjects

__all__ = ["UNREAD"]

UNREAD: Final = frozenset(chain.from_iterable(one.unread for one in subjects()))
