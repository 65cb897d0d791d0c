"""Studies: run a scenario, validate it against measurements, calibrate it."""
