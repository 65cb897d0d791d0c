"""The receiving half of a connection: acknowledgements, window, segments out of order."""
