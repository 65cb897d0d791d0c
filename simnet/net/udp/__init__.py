"""UDP: what a datagram socket does with what has come, and who reads it."""
