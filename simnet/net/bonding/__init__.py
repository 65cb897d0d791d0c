"""Linux bonding: ports that are one interface."""
