"""Commands that search the tunings and knobs of a scenario."""
