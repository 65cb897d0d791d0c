"""Which CPU and which queue a packet goes to: RPS, RFS, XPS and the backlog between CPUs."""
