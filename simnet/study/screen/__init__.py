"""Which knobs matter in a scenario."""
