"""Intel's cards from 1 to 100 Gbit/s."""
