"""TCP sockets: who executes the protocol, when, and at what cost."""
