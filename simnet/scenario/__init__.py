"""Models and scenarios: schema, units, knobs, and the effective configuration they add up to."""
