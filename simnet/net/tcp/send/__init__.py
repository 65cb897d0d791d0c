"""The sending half of a connection: what goes out, and when."""
