"""Network interfaces: the port, its queues, and one module a driver."""
