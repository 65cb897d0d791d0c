"""Many simulations: described by data, drawn, done by workers, kept."""
