"""What waits for a transmit ring: queueing disciplines and byte queue limits."""
