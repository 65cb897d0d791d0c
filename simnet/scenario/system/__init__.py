"""From an effective configuration to a system that runs, and its counters."""
