"""CPUs, cores, packages and nodes, as each tool lists them."""
