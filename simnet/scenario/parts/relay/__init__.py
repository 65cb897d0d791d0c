"""A relay of small messages."""
