"""A host: machine, ports, sockets."""
