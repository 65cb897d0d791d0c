"""The largest load within limits."""
