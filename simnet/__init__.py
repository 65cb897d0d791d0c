"""simnet predicts what a tuning will do to a host's data path.

Wire, NIC, interrupt, softirq, TCP and application on NUMA CPUs, as a deterministic
discrete-event simulation calibrated against published measurements.
"""

from __future__ import annotations

from simnet import _engine

__version__ = "0.1.0"

_engine.install()
