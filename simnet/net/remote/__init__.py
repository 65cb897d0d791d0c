"""Hosts at the other end of a link, of which only what a connection sees is simulated."""
